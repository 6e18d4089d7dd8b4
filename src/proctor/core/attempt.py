"""One try of a candidate at a case."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from proctor.core.suite import Json, Message
from proctor.records import dataclass

UNDECIDED = "JudgeUndecided"
"""Why a dialogue was stopped whose judges are divided, though each of them can be read."""
TRACEBACK = "traceback"
"""Where an attempt's notes keep where in its code a candidate broke."""
CONTEXT = "context"
"""Where an attempt keeps the passages that its candidate was given: one text, or a list."""
RETRIEVED = "retrieved"
"""Where an attempt keeps the ids of what its candidate retrieved, the best first."""
TURNS = "turns"
"""Where an attempt of several turns says what each took: seconds and tokens."""


class AttemptStatus(StrEnum):
    """How an attempt ended."""

    ANSWERED = "answered"
    UNANSWERED = "unanswered"
    """The candidate was reached and gave no answer: the case's null score counts."""
    ERROR = "error"
    """The candidate broke or could not be reached: nothing counts, the next run tries again."""
    STOPPED = "stopped"
    """A judge or simulated user failed in mid-dialogue: unscored, the next run tries again."""

    @property
    def is_final(self) -> bool:
        """Tell whether the next run keeps the attempt, instead of making it again."""
        return self not in (AttemptStatus.ERROR, AttemptStatus.STOPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of a candidate at a case: the messages after those of the case itself."""

    case_id: str
    index: int = 0
    messages: tuple[Message, ...] = ()
    status: AttemptStatus = AttemptStatus.ANSWERED
    error: str = ""
    seconds: float | None = None
    usage: Mapping[str, Json] = field(default_factory=dict)
    meta: Mapping[str, Json] = field(default_factory=dict)
    """What the answers file said besides the answer; of several turns, what each took."""
    notes: Mapping[str, Json] = field(default_factory=dict)
    """What the dialogue noted: rulings, coverage by turn, why it ended, which replies were cut."""

    @property
    def output(self) -> str:
        """Return the candidate's last words."""
        for message in reversed(self.messages):
            if message.role == "assistant":
                return message.content
        return ""

    @classmethod
    def of(cls, case_id: str, output: str | None, *, index: int = 0) -> "Attempt":
        """Make the attempt that answered with one text, or with none."""
        if output is None:
            return cls(case_id=case_id, index=index, status=AttemptStatus.UNANSWERED)
        reply = Message(role="assistant", content=output)
        return cls(case_id=case_id, index=index, messages=(reply,))


def used_by_candidate(attempt: Attempt) -> Mapping[str, Json]:
    """Return the tokens and the cost of the candidate, apart from those of judges and others.

    Answers on file say what they took without a role.
    """
    return candidate_usage(attempt.usage)


def candidate_usage(usage: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the candidate's share of an attempt's usage; all of it where no role is named."""
    own = usage.get("candidate")
    return own if isinstance(own, Mapping) else usage


def token_count(used: Mapping[str, Json]) -> int | None:
    """Return all tokens of a usage, of requests and replies; None where it names none."""
    counts = [used.get(name) for name in ("prompt_tokens", "completion_tokens")]
    numbers = [count for count in counts if type(count) is int]
    return sum(numbers) if numbers else None


def brought(attempt: Attempt) -> dict[str, Json]:
    """Return what an attempt itself says of its passages; nothing where it says nothing.

    What its dialogue noted goes before what the answers file says.
    """
    own: dict[str, Json] = {}
    for name in (CONTEXT, RETRIEVED):
        if value := attempt.notes.get(name) or attempt.meta.get(name):
            own[name] = value
    return own
