"""What a way of putting a case to a candidate must be able to do, and what it is given."""

from abc import ABC, abstractmethod
from collections.abc import (
    Awaitable,
    Callable,
    Iterable,
    Sequence,
)
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from proctor.contracts.judge import Judge
from proctor.contracts.model import Model
from proctor.core.attempt import Attempt
from proctor.core.case_value import Value
from proctor.core.exchange import Reply, Sampling
from proctor.core.prompt_fences import MARKS, Marks
from proctor.core.suite import Case, Message
from proctor.records import dataclass

if TYPE_CHECKING:
    from proctor.contracts.sandbox import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How often a dialogue may call each role for one attempt: at least, likely, at most."""

    candidate: tuple[int, int, int] = (1, 1, 1)
    judge: tuple[int, int, int] = (0, 0, 0)
    simulator: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueContext:
    """All that a dialogue may use; every call through it is stored before it is used."""

    case: Case
    index: int
    candidate: "Candidate"
    judge: Judge | None = None
    simulator: Model | None = None
    simulator_sampling: Sampling = field(default_factory=Sampling)
    language: str = "en"
    repeat_label: str = ""
    """Names the repetition that this is, where the same is asked anew."""
    marks: Marks = MARKS
    """Draws the marks around strangers' words in what judges and simulated users are asked."""
    sandbox: "Sandbox | None" = None
    """Where programs of the suite may be run, for dialogues that say that they need it."""
    grade: Callable[[Attempt, int], Awaitable[Value | None]] | None = None
    """Says what a turn of an attempt is worth so far, for dialogues that ``grades``."""

    @property
    def salt(self) -> str:
        """Return what tells the calls of this attempt apart from those of others."""
        return f"{self.case.id}#{self.index}" + (
            f"@{self.repeat_label}" if self.repeat_label else ""
        )


class Candidate(ABC):
    """The examined: it answers the messages of a dialogue."""

    @abstractmethod
    async def reply(self, ctx: DialogueContext, messages: Sequence[Message]) -> Reply:
        """Answer the whole conversation so far, or raise a ModelError."""


class Dialogue(ABC):
    """A way of putting a case to a candidate: a dataclass whose fields are its parameters.

    ``hold`` returns the attempt. It lets a ModelError of the candidate pass, and turns a failing
    judge or simulated user into an attempt with the status ``stopped``.
    """

    version: ClassVar[str] = "1"
    consults: ClassVar[frozenset[str]] = frozenset()
    """Which of ``judge`` and ``simulator`` it asks."""

    @property
    def grades(self) -> bool:
        """Whether it has turns scored while it goes on, so that marks decide what follows."""
        return False

    @property
    def needs_sandbox(self) -> bool:
        """Whether it runs programs that the suite brings along."""
        return False

    @abstractmethod
    async def hold(self, ctx: DialogueContext) -> Attempt:
        """Put the case to the candidate, to the end."""

    def turns(self, case: Case) -> Turns:
        """Return how many calls to expect, for the plan."""
        return Turns()

    def prompt_key(self, language: str) -> str:
        """Return the hash of the prompts used; it enters the attempt's key."""
        return ""

    def problems(self, case: Case) -> Iterable[str]:
        """Return what a case lacks to be put in this way."""
        return ()
