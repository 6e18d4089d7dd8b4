"""What a judge must be able to do, and what it rules."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeVar

from proctor.core.exchange import Reply, Sampling, Usage
from proctor.core.fingerprint import plain
from proctor.core.suite import Json, Message

Verdict = TypeVar("Verdict")

Tie = Literal["0", "half", "unscored"]
"""What an even split of a panel is worth: no points, half of what it is divided over, no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling(Generic[Verdict]):
    """What a judge (or a panel) decided, and how it was got out of it."""

    verdict: Verdict
    rung: str = ""
    """How the JSON was found: ``schema``, ``tool``, ``fence``, ``object``."""
    tries: int = 1
    raw: tuple[str, ...] = ()
    """All raw replies, the failed ones first."""
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None
    """How long the replies took together; none where nobody measured it."""
    panel: tuple["Ruling[Verdict]", ...] = ()
    """The single rulings, where several judges or repeats were asked."""
    logprobs: Mapping[str, float] = field(default_factory=dict)
    """The log-probabilities of the last reply's first token, where they were asked for."""
    tied: bool = False
    """Whether the single rulings are evenly divided over a truth or a choice."""

    def record(self) -> dict[str, Json]:
        """Return what is kept with a score: how, how often, at what cost."""
        recorded: dict[str, Json] = {"rung": self.rung, "tries": self.tries, "raw": list(self.raw)}
        recorded["usage"] = plain(self.usage)
        if self.seconds is not None:
            recorded["seconds"] = round(self.seconds, 3)
        if self.logprobs:
            recorded["logprobs"] = dict(self.logprobs)
        if self.panel:
            recorded["panel"] = [ruling.record() for ruling in self.panel]
        return recorded


def seconds_of(rulings: Sequence[Ruling[Any]]) -> float | None:
    """Return how long the replies of several rulings took; none where nobody measured any."""
    seconds = [ruling.seconds for ruling in rulings if ruling.seconds is not None]
    return sum(seconds) if seconds else None


class ReadingError(ValueError):
    """A reply that a reader cannot make a verdict of."""

    final: bool = False
    """Whether asking again cannot help."""


class SpokenVerdict:
    """A verdict, otherwise a pydantic model, that may also be given in plain words."""

    @classmethod
    def from_words(cls, text: str) -> Self | None:
        """Read a reply that has no JSON in it; none where it says nothing clear."""
        return None


class FoldedVerdict:
    """A verdict, otherwise a pydantic model, that knows how several of its kind become one."""

    @classmethod
    def folded(cls, verdicts: Sequence[Self]) -> Self:
        """Return what several verdicts come to."""
        raise NotImplementedError

    @classmethod
    def are_divided(cls, verdicts: Sequence[Self]) -> bool:
        """Tell whether they are evenly divided over something, so that nobody decides."""
        return False


class Voice(ABC):
    """The raw chat channel to one judge: messages in, the plain reply out."""

    @abstractmethod
    async def say(
        self, messages: Sequence[Message], *, max_tokens: int | None = None, top_logprobs: int = 0
    ) -> Reply:
        """Return the reply, with log-probabilities where they were asked for and are given."""


class Talk(ABC, Generic[Verdict]):
    """A way of its own to a judge's verdict: in several turns, by log-probabilities."""

    @abstractmethod
    async def hold(self, voice: Voice) -> Verdict | None:
        """Return the verdict; none where it is to be asked for in the usual way after all."""


class Judge(ABC):
    """One judge, or a panel, that is asked for verdicts of given types."""

    identity: Json
    """What tells this judge apart from others, its sampling included."""
    tie: Tie = "0"
    """What a score is worth on which a panel is evenly divided."""

    @abstractmethod
    async def ask(
        self,
        messages: Sequence[Message],
        verdict: type[Verdict],
        *,
        tries: int = 3,
        salt: str = "",
        sampling: Sampling | None = None,
        reader: Any = None,
    ) -> Ruling[Verdict]:
        """Return a verdict whose fields have the right types, or raise a JudgeError.

        ``verdict`` is a pydantic model. ``reader`` replaces how a reply is read: a function from
        the reply's text to a verdict that raises ValueError with what is wrong, a ReadingError
        where no other reply could help; a judge read in such a way is asked again in the same
        words, and no shape is asked for. It may also be a Talk, which goes before ``messages``:
        these are only sent where the talk gave no verdict.
        """
