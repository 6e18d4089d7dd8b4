"""What a scorer must be able to do, and what it is given."""

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from proctor.core.attempt import Attempt
from proctor.core.prompt_fences import MARKS, Marks
from proctor.core.score import Score
from proctor.core.suite import Case, Json, Message
from proctor.errors import UsageError
from proctor.records import dataclass

if TYPE_CHECKING:
    from proctor.contracts.judge import Judge
    from proctor.contracts.model import Model, ModelChoice
    from proctor.contracts.sandbox import Sandbox
    from proctor.contracts.score_columns import ScoreColumn, ScoreRows

    AJudge = str | Model | ModelChoice | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreContext:
    """All that a scorer may look at: the only argument of every scorer."""

    case: Case
    attempt: Attempt
    sandbox: "Sandbox | None" = None
    """Where programs may be run; only ``async`` code (``score`` or ``finish``) is given one."""
    judge: "Judge | None" = None
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
    def said_and_called(self) -> str:
        """Return the candidate's last words with the tools that it called, as judges see them."""
        last = next((m for m in reversed(self.attempt.messages) if m.role == "assistant"), None)
        if last is None:
            return ""
        from proctor.core.tool_calls import said_and_called

        return said_and_called(last)

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
    """An answer made up to test a criterion, and what it should be worth."""

    kind: str
    """``stuffing`` (all that the criterion looks for, pasted together) or ``reference``."""
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSupport:
    """What this machine has for a programming language."""

    name: str
    aliases: tuple[str, ...]
    available: bool
    version: str
    install: str
    tested: bool


class Scorer(ABC):
    """The scoring of one attempt by one criterion: a dataclass whose fields are its parameters.

    Most scorers define ``score`` and nothing else. A score must depend on nothing but the fields
    and the context.
    """

    @abstractmethod
    def score(self, ctx: ScoreContext) -> Any:
        """Return a bool, a number of points (of ``out_of``), or a Score; may be ``async``."""

    def score_text(  # noqa: PLR0913 - each is a part of what a scorer may look at
        self,
        output: str | None,
        *,
        reference: str | Sequence[str] | None = None,
        references: Sequence[str] = (),
        prompt: str = "",
        context: str | Sequence[str] = (),
        judge: "Judge | AJudge | Sequence[AJudge] | None" = None,
        sandbox: "str | Sandbox" = "bubblewrap",
    ) -> Score:
        """Score one text here and now, without a suite, a run or a store.

        ``reference`` is the right answer, ``references`` are several; ``prompt`` is what was asked,
        ``context`` the passages that came with it. A scorer that asks a judge needs ``judge``: the
        name of a model such as ``openai:NAME``, a Model, or a function of a text; a list is a
        panel. Programs run in ``sandbox``. It works in threads and under a running loop. A text
        that cannot be scored gets a Score that says so; a missing judge, or whatever else this
        machine lacks, is raised. For many texts, a ``Grader`` keeps everything warm.
        """
        if not isinstance(output, str | None):
            kind = type(output).__name__
            raise UsageError(f"score_text() takes a text, or None, not {kind} (fix: str(…))")
        # By its name: what a plugin must be able to do knows nothing of who calls it.
        alone = importlib.import_module("proctor.api.scoring_alone")
        right = (reference,) if isinstance(reference, str) else tuple(reference or ())
        passages = (context,) if isinstance(context, str) else tuple(context)
        ctx = ScoreContext.of(
            output or "", prompt=prompt, references=(*right, *references), context=passages
        )
        if output is None:
            ctx = replace(ctx, attempt=Attempt.of(ctx.case.id, None))
        score: Score = alone.score_alone(self, ctx, judge, sandbox)
        return score

    version: ClassVar[str] = "1"
    """Change it whenever the same input may get another score: stored scores are then redone."""
    out_of: ClassVar[float | None] = 1.0
    """The most points a bare number can be; none for a number that is only shown, never added."""

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        """Return the least and the most points there can be; none for an end that is open.

        The interval of a mean of these points stays between them.
        """
        return (None, None) if self.out_of is None else (0.0, self.out_of)

    time_limit: ClassVar[float] = 10.0
    """Seconds after which a score is given up as failed."""

    def problems(self) -> Iterable[str]:
        """Return what is wrong with the parameters beyond their types."""
        return ()

    @classmethod
    def meant_by(cls, params: Mapping[str, Json]) -> str:
        """Return how to write parameters that it does not take so; empty: nobody knows."""
        return ""

    def probes(self, case: Case) -> Iterable[Probe]:
        """Return answers that ``proctor check --deep`` tries on this criterion."""
        return ()

    # What scoring needs.

    needs_judge: ClassVar[bool] = False
    """Whether a judge is asked, by an ``async`` ``score`` or by ``finish``."""
    tries: int = 3
    """How often a judge is asked for one verdict at most; a parameter of many scorers."""
    verdicts: ClassVar[int] = 1
    """How many verdicts one score takes of a judge."""

    @property
    def needs_sandbox(self) -> bool:
        """Whether programs are run, by an ``async`` ``score`` or by ``finish``."""
        return self.finishes

    def missing(self) -> Iterable[str]:
        """Return what this machine lacks for scoring, with how to get it."""
        return ()

    @staticmethod
    def languages() -> Sequence[LanguageSupport]:
        """Return the programming languages it knows, with what this machine has for each."""
        return ()

    def open(self) -> None:  # noqa: B027 - most scorers have nothing to load
        """Load what all scores need, or raise a ProctorError that says why it is not there."""

    def doubts(self, case: Case) -> Iterable[str]:
        """Return what makes scores of a case say less than they seem to, with what to do."""
        return ()

    # What a stored score depends on, besides the fields and what the context shows.

    reads_notes: ClassVar[bool] = False
    """Whether ``score`` looks at what the dialogue noted, and not only at what was said."""

    @property
    def reads_files(self) -> bool:
        """Whether points depend on nothing but the files that an agent left."""
        return False

    reads_usage: ClassVar[bool] = False
    """Whether ``score`` looks at how long the attempt took and what it used."""

    reads_context: ClassVar[bool] = False
    """Whether ``score`` looks at the passages, or their ids, that an attempt brought itself."""

    @property
    def per_attempt(self) -> bool:
        """Whether equal answers in two attempts are scored apart."""
        return False

    def prompt_key(self, language: str) -> str:
        """Return the hash of the prompts that a judge is asked with."""
        return ""

    def context_prompt_key(self, language: str) -> str:
        """Return the hash of the prompts that a judge is asked with where there are passages."""
        return self.prompt_key(language)

    def toolchain(self) -> str:
        """Return the name and version of a compiler, an encoder or a service that is used."""
        return ""

    # How points are counted, where the parameters decide it.

    fixed_marks: ClassVar[bool] = False
    """Whether every score is out of ``full_marks``, so that a suite's sums can be checked."""

    @property
    def full_marks(self) -> float | None:
        """The most points of this criterion: what a failed or unanswered attempt is out of."""
        return self.out_of

    rates: ClassVar[bool] = False
    """Whether points are a rating on a scale, and more than right or wrong."""

    # Where and how scoring runs.

    instant: ClassVar[bool] = False
    """Whether ``score`` is quick and sure to end, so that it needs no process of its own."""

    @property
    def is_instant(self) -> bool:
        """Whether ``score`` is instant with these parameters: a pattern of a suite may run away.

        A class that overrides ``score`` has to declare anew that it is instant.
        """
        return self.instant and _declared_with_score(type(self), "instant")

    instant_length: ClassVar[int] = 1_000_000
    """The most characters of answer and references on which an instant scorer is instant."""

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        """Tell whether an instant scorer is not so on this answer: it then runs in a process."""
        return len(output) + sum(map(len, references)) > self.instant_length

    batches: ClassVar[bool] = False
    """Whether ``score_batch`` scores many attempts more cheaply than one at a time."""

    def score_batch(self, contexts: Sequence[ScoreContext]) -> Sequence[Any]:
        """Score many attempts at once, where ``batches`` says so; one result for each, in order.

        It runs in a thread of the run's own process, so it must not run what a suite brings along.
        """
        return [self.score(ctx) for ctx in contexts]

    columnar: ClassVar[bool] = False
    """Whether ``score_column`` scores many attempts more cheaply than ``score`` does.

    It holds for the class that declares it: a subclass may score otherwise, so it declares it anew.
    """

    @classmethod
    def score_column(cls, scorers: "Sequence[Self]", rows: "ScoreRows") -> "ScoreColumn":
        """Score many attempts at once, where ``columnar`` says so; row i by the i-th scorer.

        Each score is the one that ``score`` gives, to the last bit. The parameters may differ from
        row to row, and the rows are of different cases. A TextScorer need not define it: its
        ``score_texts`` is called for each row.
        """
        raise NotImplementedError

    @property
    def is_async(self) -> bool:
        """Whether ``score`` is awaited on the event loop instead of run in a grading process."""
        return _is_coroutine(type(self).score)

    @property
    def finishes(self) -> bool:
        """Whether ``finish`` has something to do after ``score``."""
        return False

    async def finish(self, ctx: ScoreContext, score: Score) -> Any:
        """Complete a score of a grading process with what only ``async`` code is given.

        Only a score that did not fail is finished, and only the finished one is stored.
        """
        return score


class TextScorer(Scorer):
    """Base of scorers that look at nothing but the answer and the references.

    They need no context, so that they score columns without more ado where they are ``columnar``.
    """

    def score(self, ctx: ScoreContext) -> Any:
        return self.score_texts(ctx.output, ctx.references)

    @abstractmethod
    def score_texts(self, output: str, references: tuple[str, ...]) -> Any:
        """Return what ``score`` returns."""


@cache
def _declared_with_score(kind: type[Scorer], flag: str) -> bool:
    """Tell whether a flag was declared by the class that scores, or by one below it."""
    for cls in kind.__mro__:
        if flag in vars(cls):
            return True
        if "score" in vars(cls) or "score_texts" in vars(cls):
            return False
    return False


@cache
def decided_by_class(kind: type[Scorer], *names: str) -> bool:
    """Tell whether flags and methods are what all scorers of a class have, whatever its parameters.

    A property or method is so where it is the contract's own.
    """
    own: set[str] = {one.name for one in fields(kind)} if is_dataclass(kind) else set()
    return own.isdisjoint(names) and all(
        inspect.getattr_static(kind, name) is inspect.getattr_static(Scorer, name)
        or isinstance(inspect.getattr_static(kind, name), bool)
        for name in names
    )


@cache
def _is_coroutine(method: Any) -> bool:
    return inspect.iscoroutinefunction(method)
