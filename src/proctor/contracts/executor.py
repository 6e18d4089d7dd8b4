"""What a place where scoring runs must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    Iterable,
    Sequence,
)
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import run_scorer_batch
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.io.concurrency import in_thread

if TYPE_CHECKING:
    from proctor.contracts.model import Model
    from proctor.contracts.sandbox import Sandbox
    from proctor.io.message_process import ServingModule


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeTask:
    """Some attempts at one case, to be scored by one criterion."""

    case: Case
    criterion: Criterion
    attempts: tuple[Attempt, ...]
    keys: tuple[str, ...]
    """The score key of each attempt, by which the result is told apart."""
    time_limit: float
    out_of: float | None = None
    """The most points, where an answer that passes a limit is to be a miss."""


class Executor(ABC):
    """A place with cores where scorers run."""

    serves: ClassVar[bool] = False
    """Whether modules of ours can be run on its machines, by ``exchange``."""

    async def warm(self, cases: int) -> None:  # noqa: B027 - most executors have nothing to do here
        """Start what takes time to start for so many cases, while the caller does other things."""

    @abstractmethod
    def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        """Score all tasks, yielding each score with its key as soon as it is there."""

    async def score_batch(
        self, scorer: Scorer, spec: Spec, contexts: Sequence[ScoreContext]
    ) -> Sequence[Score]:
        """Score many attempts at once; the scorer is also given as the spec it was built of.

        It runs in a thread of this process, unless an executor has a better place for it.
        """
        return await self.judge_batch(scorer, spec, contexts)

    async def judge_batch(
        self, scorer: Scorer, spec: Spec, contexts: Sequence[ScoreContext]
    ) -> Sequence[Score]:
        """Score many attempts at once: the earlier name of ``score_batch``."""
        return await in_thread(lambda: run_scorer_batch(scorer, contexts))

    def sandbox(self, spec: Spec) -> "Sandbox | None":
        """Return the sandbox of a spec, where programs are not to run on this machine."""
        return None

    def model(self, model: "Model") -> "Model":
        """Return a model that answers as the given one does, from where this executor has room."""
        return model

    async def width(self) -> int | None:
        """Return how many programs may run at once; none means: one a core of this machine."""
        return None

    async def exchange(self, module: "ServingModule", message: bytes) -> bytes | None:
        """Let a process that runs a module of ours, on some machine, reply to a message.

        None where it ended over that: itself, or one machine after the other.
        """
        raise NotImplementedError

    @abstractmethod
    async def close(self) -> None:
        """Leave no process behind."""
