"""The contracts of the doers: what a plugin of each kind must be able to do."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from proctor.core.attempt import Attempt
from proctor.core.marks import MARKS, Marks
from proctor.core.model import Judge, Model, ModelChoice, Reply, Sampling
from proctor.core.program import Sandbox
from proctor.core.run import CaseResult, Measured
from proctor.core.score import Score, Value
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.errors import Problem, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreContext:
    """Hold all that a scorer may look at; the only argument of every scorer."""

    case: Case
    attempt: Attempt
    sandbox: Sandbox | None = None
    """Where programs may be run; only ``async`` code (``score`` or ``finish``) is given one."""
    judge: Judge | None = None
    """Who may be asked for a verdict; only ``async`` code is given one."""
    language: str = "en"
    """The suite's language, in which judges are asked."""
    read_file: Callable[[str], bytes] | None = None
    """Returns a file that the candidate left, by its key; only ``async`` code is given it."""
    marks: Marks = MARKS
    """Draws the marks around strangers' words in what a judge is asked."""

    @property
    def output(self) -> str:
        """Return the candidate's last words."""
        return self.attempt.output

    @property
    def references(self) -> tuple[str, ...]:
        """Return the answers known to be right."""
        return self.case.references

    @property
    def context(self) -> tuple[str, ...]:
        """Return the passages that came with the question."""
        return self.case.context

    @property
    def prompt(self) -> str:
        """Return the question."""
        return self.case.prompt

    @property
    def transcript(self) -> tuple[Message, ...]:
        """Return the whole conversation, from the case's messages to the last reply."""
        return self.case.messages + self.attempt.messages

    @classmethod
    def of(
        cls,
        output: str,
        *,
        prompt: str = "",
        references: Sequence[str] = (),
        context: Sequence[str] = (),
    ) -> "ScoreContext":
        """Make a context of plain texts, for trying a scorer by hand."""
        case = Case(
            id="try",
            messages=(Message(role="user", content=prompt),),
            criteria=(),
            references=tuple(references),
            context=tuple(context),
        )
        return cls(case=case, attempt=Attempt.of("try", output))


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Hold an answer made up to test a criterion: what it is, and what it should be worth."""

    kind: str
    """``stuffing`` (all that the criterion looks for, pasted together) or ``reference``."""
    answer: str


class Scorer(ABC):
    """Judge one attempt by one criterion; a dataclass whose fields are its parameters.

    ``score`` may return a bool or a number (of at most ``out_of``) or a whole Score, and may be
    ``async``. It must not depend on anything but its fields and the context.
    """

    version: ClassVar[str] = "1"
    """Change it whenever the same input may get another score: stored scores are then redone."""
    out_of: ClassVar[float | None] = 1.0
    """The most points a bare number can be; none for a number that is only shown, never added."""
    time_limit: ClassVar[float] = 10.0
    """Seconds after which a score is given up as failed."""
    instant: ClassVar[bool] = False
    """Whether ``score`` is quick and sure to end, so that it needs no process of its own."""
    reads_notes: ClassVar[bool] = False
    """Whether ``score`` looks at what the dialogue noted, and not only at what was said."""

    @abstractmethod
    def score(self, ctx: ScoreContext) -> Any:
        """Judge one attempt."""

    @property
    def batches(self) -> bool:
        """Tell whether ``score_batch`` judges many attempts more cheaply than one at a time."""
        return False

    def score_batch(self, contexts: Sequence[ScoreContext]) -> Sequence[Any]:
        """Judge many attempts at once, where ``batches`` says so; one result for each, in order.

        It runs in a thread of the run's own process, so it must not run what a suite brings along.
        """
        return [self.score(ctx) for ctx in contexts]

    @property
    def finishes(self) -> bool:
        """Tell whether ``finish`` has something to do after ``score``."""
        return False

    async def finish(self, ctx: ScoreContext, score: Score) -> Any:
        """Complete what ``score`` gave in a grading process, where a sandbox is needed for that.

        Only a score that did not fail is finished, and only the finished one is stored.
        """
        return score

    @property
    def needs_sandbox(self) -> bool:
        """Tell whether programs must be run to judge by this."""
        return self.finishes

    @property
    def needs_judge(self) -> bool:
        """Tell whether a judge must be asked, by an ``async`` ``score`` or by ``finish``."""
        return False

    @property
    def per_attempt(self) -> bool:
        """Tell whether equal answers in two attempts must be judged apart."""
        return False

    def prompt_key(self, language: str) -> str:
        """Return the hash of the prompts that a judge is asked with; it enters keys."""
        return ""

    def missing(self) -> Iterable[str]:
        """Return what this machine lacks to judge by this, with how to get it."""
        return ()

    def open(self) -> None:  # noqa: B027 - most scorers have nothing to load
        """Load what all scores need, or raise a ProctorError that says why it is not there."""

    def doubts(self, case: Case) -> Iterable[str]:
        """Return what makes scores of a case say less than they seem to, with what to do."""
        return ()

    def toolchain(self) -> str:
        """Return what scores depend on besides the fields: a compiler, an encoder, its version."""
        return ""

    def probes(self, case: Case) -> Iterable[Probe]:
        """Return answers that ``proctor check --deep`` tries on this criterion."""
        return ()

    def problems(self) -> Iterable[str]:
        """Return what is wrong with the parameters beyond their types."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableRole:
    """A model that a settings file names and that cannot be asked, as when its address is none.

    It matters only where somebody must play the role and the person names nobody else.
    """

    choice: ModelChoice
    """How it would be asked; a model that the person names in its stead is asked like this."""
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Hold a suite as a dialect read it, with what the reader should be warned of."""

    suite: Suite
    warnings: tuple[Problem, ...] = ()
    roles: Mapping[str, ModelChoice] = field(default_factory=dict)
    """The models that the person's own settings file names: candidate, judge, simulator."""
    attempts: int | None = None
    """How many attempts a case the format asks for, where it does."""
    problems: tuple[Problem, ...] = ()
    """What keeps this suite from being used, where it is one of several that may be used."""
    unusable_roles: Mapping[str, UnusableRole] = field(default_factory=dict)
    """The roles that the file gives to a model that cannot be asked."""
    role_notes: Mapping[str, str] = field(default_factory=dict)
    """By role, what a person should know of an address that cannot be reached."""


class Dialect(ABC):
    """Read suites and answers written in one format."""

    name: ClassVar[str]

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Tell from the path and a first look at its content whether this is the format."""

    @abstractmethod
    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        """Read a suite, or raise a SuiteError with every problem.

        Files that the suite names must lie inside root, by default the folder of the suite.
        """

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        """Read all suites of a path; most formats have one.

        What is wrong with any of them is raised.

        Options are what a person set beside the file, such as ``max_turns``; a dialect that knows
        none refuses them.
        """
        if options:
            known = ", ".join(sorted(options))
            raise UsageError(f"the dialect {self.name!r} has no option {known}")
        return (self.read(path, compat=compat, root=root),)

    def read_each(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        """Read all suites of a path, those that cannot be used with their problems.

        What concerns them all is raised.
        """
        return self.read_all(path, compat=compat, root=root, options=options)

    @abstractmethod
    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        """Read answers on file, case by case in the order of the file, attempts in their order.

        Raises a DialectError when the path is not an answers file of this format.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Say how often a dialogue may call each role for one attempt: at least, likely, at most."""

    candidate: tuple[int, int, int] = (1, 1, 1)
    judge: tuple[int, int, int] = (0, 0, 0)
    simulator: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueContext:
    """Hold all that a dialogue may use; every call through it is stored before it is used."""

    case: Case
    index: int
    candidate: "Candidate"
    judge: Judge | None = None
    simulator: Model | None = None
    simulator_sampling: Sampling = field(default_factory=Sampling)
    language: str = "en"
    again: str = ""
    """Names the repetition that this is, where the same is asked anew."""
    marks: Marks = MARKS
    """Draws the marks around strangers' words in what judges and simulated users are asked."""
    grade: Callable[[Attempt, int], Awaitable[Value | None]] | None = None
    """Says what a turn of an attempt is worth so far, for dialogues that ``grades``."""

    @property
    def salt(self) -> str:
        """Return what tells the calls of this attempt apart from those of others."""
        return f"{self.case.id}#{self.index}" + (f"@{self.again}" if self.again else "")


class Candidate(ABC):
    """Be examined: answer the messages of a dialogue."""

    @abstractmethod
    async def reply(self, ctx: DialogueContext, messages: Sequence[Message]) -> Reply:
        """Answer the whole conversation so far, or raise a ModelError."""


class Dialogue(ABC):
    """Put a case to a candidate; a dataclass whose fields are its parameters.

    ``hold`` returns the attempt. It lets a ModelError of the candidate pass, and turns a failing
    judge or simulated user into an attempt with the status ``stopped``.
    """

    version: ClassVar[str] = "1"
    consults: ClassVar[frozenset[str]] = frozenset()
    """Which of ``judge`` and ``simulator`` it asks."""

    @property
    def grades(self) -> bool:
        """Tell whether it has turns judged while it goes on, so that marks decide what follows."""
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


class Measure(ABC):
    """Make one number of many case results; a dataclass whose fields are its parameters."""

    version: ClassVar[str] = "1"

    @property
    def label(self) -> str:
        """Return the name in reports; empty means the name it is registered under."""
        return ""

    @abstractmethod
    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Compute the number over all cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeTask:
    """Hold some attempts at one case, to be judged by one criterion."""

    case: Case
    criterion: Criterion
    attempts: tuple[Attempt, ...]
    keys: tuple[str, ...]
    """The score key of each attempt, by which the result is told apart."""
    time_limit: float
    out_of: float | None = None
    """The most points, where an answer that passes a limit is to be a miss."""


class Executor(ABC):
    """Run grading where there are cores for it."""

    async def warm(self, cases: int) -> None:  # noqa: B027 - most executors have nothing to do here
        """Start what takes time to start for so many cases, while the caller does other things."""

    @abstractmethod
    def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        """Judge all tasks, yielding each score with its key as soon as it is there."""

    async def judge_batch(
        self, scorer: Scorer, spec: Spec, contexts: Sequence[ScoreContext]
    ) -> Sequence[Score]:
        """Let a scorer judge many attempts at once; it is also given as the spec it was built of.

        It runs in a thread of this process, unless an executor has a better place for it.
        """
        from proctor.core.judging import judge_batch

        return await asyncio.to_thread(judge_batch, scorer, contexts)

    def sandbox(self, spec: Spec) -> Sandbox | None:
        """Return the sandbox of a spec, where programs are not to run on this machine."""
        return None

    def model(self, model: Model) -> Model:
        """Return a model that answers as the given one does, from where this executor has room."""
        return model

    async def width(self) -> int | None:
        """Return how many programs may run at once; none means: one a core of this machine."""
        return None

    @abstractmethod
    async def close(self) -> None:
        """Leave no process behind."""
