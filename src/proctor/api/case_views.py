"""Cases and attempts of a run, as people look at them."""

from collections.abc import Mapping
from dataclasses import dataclass

from proctor.core.attempt import TRACEBACK, Attempt
from proctor.core.cause import cause_of
from proctor.core.rounds import rounds_of
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Json, Message
from proctor.reports.reasons import reasons


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt: what the candidate said, and what that is worth."""

    case: Case
    result: AttemptResult

    @property
    def attempt(self) -> Attempt:
        """Return the attempt itself, with its transcript."""
        return self.result.attempt

    @property
    def index(self) -> int:
        """Return its number among the attempts at the case, from 0."""
        return self.attempt.index

    @property
    def output(self) -> str:
        """Return the candidate's last words."""
        return self.attempt.output

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the whole conversation."""
        return self.case.messages + self.attempt.messages

    @property
    def value(self) -> float | None:
        """Return what it is worth; none where it could not be scored."""
        return self.result.value.value

    @property
    def status(self) -> str:
        """Return ``scored``, ``unanswered``, ``unscored``, ``error`` or ``shown``."""
        return self.result.value.status.value

    @property
    def scores(self) -> Mapping[str, Score]:
        """Return the score of each criterion by its id, in the order of the criteria."""
        scores = self.result.scores
        ids = [one.id for one in self.case.criteria if one.id in scores]
        return {key: scores[key] for key in dict.fromkeys((*ids, *scores))}

    @property
    def cause(self) -> str:
        """Return whose fault it is that it did not end well; empty where it did."""
        return cause_of(self.attempt, self.scores.values()) or ""

    @property
    def error(self) -> str:
        """Return why there is no answer; empty where there is one."""
        return self.attempt.error

    @property
    def traceback(self) -> str:
        """Return where a function raised; empty where none did."""
        return str(self.attempt.notes.get(TRACEBACK, ""))

    @property
    def seconds(self) -> float | None:
        """Return how long the candidate took."""
        return self.attempt.seconds

    @property
    def usage(self) -> Mapping[str, Json]:
        """Return what was used, by role."""
        return self.attempt.usage

    @property
    def steps(self) -> list[Json]:
        """Return what an agent did, post by post; nothing for a plain answer."""
        return [post for one in rounds_of(self.attempt) for post in one.get("post_list", ())]

    def __repr__(self) -> str:
        return f"<attempt {self.index}: {_shown(self.value)}, {self.output!r:.60}>"


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case of a run: its value, why it has it, and the attempts at it."""

    result: CaseResult

    @property
    def case(self) -> Case:
        """Return the case itself."""
        return self.result.case

    @property
    def id(self) -> str:
        """Return the case's id."""
        return self.case.id

    @property
    def question(self) -> str:
        """Return what was asked."""
        return self.case.prompt

    @property
    def references(self) -> tuple[str, ...]:
        """Return the answers known to be right."""
        return self.case.references

    @property
    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of the case."""
        return self.case.tags

    @property
    def value(self) -> float | None:
        """Return what the case is worth over all attempts; none where it could not be scored."""
        return self.result.folded.value

    @property
    def full(self) -> float:
        """Return what full marks are worth."""
        return self.case.full_score

    @property
    def status(self) -> str:
        """Return ``scored``, ``unanswered``, ``unscored``, ``error`` or ``shown``."""
        return self.result.folded.status.value

    @property
    def why(self) -> str:
        """Return in words why the case has its value."""
        if lines := reasons(self.result):
            return "; ".join(lines)
        told = {
            f"{name}: {score.reason}"
            for one in self.result.attempts
            for name, score in one.scores.items()
            if score.reason
        }
        return "; ".join(sorted(told)) or "full marks"

    @property
    def attempts(self) -> tuple[AttemptView, ...]:
        """Return all attempts at the case."""
        return tuple(AttemptView(self.case, one) for one in self.result.attempts)

    @property
    def output(self) -> str:
        """Return the candidate's last words in its first attempt."""
        return self.result.attempts[0].attempt.output if self.result.attempts else ""

    @property
    def scores(self) -> Mapping[str, Score]:
        """Return the scores of the first attempt, by criterion."""
        return self.attempts[0].scores if self.result.attempts else {}

    @property
    def error(self) -> str:
        """Return the first error of an attempt; empty where there is none."""
        return next((one.attempt.error for one in self.result.attempts if one.attempt.error), "")

    def __repr__(self) -> str:
        return f"<case {self.id!r}: {_shown(self.value)} of {self.full:g}, {self.status}>"


def _shown(value: float | None) -> str:
    return "no value" if value is None else f"{value:g}"
