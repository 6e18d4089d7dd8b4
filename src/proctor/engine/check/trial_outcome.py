"""What trials of a case came to, and what that says against it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer, run_scorer_async
from proctor.core.attempt import Attempt
from proctor.core.program import Program, Ran
from proctor.core.rounds import scored_part
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Criterion
from proctor.engine.run.scorer_pool import Scorers
from proctor.errors import Problem

FULL = 1.0 - 1e-9
NOTHING, EDITED, FORGED = "nothing", "edited tests", "forged results"
LESS_MEMORY, LESS_TIME = "half the memory", "half the time"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """What one trial of a task came to."""

    value: float | None
    """Its share of full marks; none where the tests gave none."""
    reason: str = ""
    output: str = ""

    @property
    def passed(self) -> bool:
        """Tell whether it got full marks."""
        return self.value is not None and self.value >= FULL

    @property
    def shown(self) -> str:
        """Return the value as people see it."""
        return "–" if self.value is None else f"{self.value:.4g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """One thing that is wrong with a task."""

    weight: int
    """How much it means: 3 for marks that mean nothing, 1 for what may be a matter of taste."""
    message: str
    hint: str


@dataclass(kw_only=True)
class ExaminedTask:
    """A task with what came of its trials."""

    case: Case
    trials: dict[str, str] = field(default_factory=dict)
    suspicions: list[Suspicion] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """Return how suspicious it is."""
        return sum(one.weight for one in self.suspicions)

    def suspect(self, weight: int, message: str, hint: str = "") -> None:
        """Note something that is wrong."""
        self.suspicions.append(Suspicion(weight=weight, message=message, hint=hint))

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong as problems of the suite."""
        for one in self.suspicions:
            yield Problem(
                message=one.message, about=f"case {self.case.id!r}", file=self.case.source or None,
                severity="warning", hint=one.hint,
            )  # fmt: skip


@dataclass
class TrialScoring:
    """The criteria of a case that can be tried here, and what they need."""

    case: Case
    scorers: Scorers
    sandbox: Sandbox
    criteria: Sequence[Criterion]
    read_file: Callable[[str], bytes]

    async def scored(self, attempt: Attempt) -> TrialOutcome:
        """Return the share of full marks that an attempt gets."""
        got, full, reasons, output = [], [], [], ""
        for criterion in self.criteria:
            ctx = ScoreContext(
                case=self.case, attempt=scored_part(criterion, attempt), sandbox=self.sandbox,
                read_file=self.read_file,
            )  # fmt: skip
            scorer = self.scorers.of(criterion)
            if scorer.is_async:
                score = await run_scorer_async(scorer, ctx)
            else:
                score = run_scorer(scorer, ctx)
            if isinstance(score.detail, Mapping):
                output += str(score.detail.get("output", ""))
            if score.status is not ScoreStatus.SCORED or score.points is None:
                return TrialOutcome(value=None, reason=score.reason, output=output)
            got.append(criterion.weight * score.points)
            full.append(criterion.weight * (score.out_of or 1.0))
            reasons.append(score.reason)
        value = fsum(got) / fsum(full) if full else None
        return TrialOutcome(value=value, reason="; ".join(reasons), output=output)


@dataclass
class HalfTime(Sandbox):
    """A sandbox that gives programs half of the time that they ask for.

    It is as able as bubblewrap, in which all trials are made.
    """

    tier: ClassVar[str] = "bubblewrap"
    joins: ClassVar[bool] = True

    whole: Sandbox

    async def run(self, program: Program) -> Ran:
        return await self.whole.run(_halved(program))

    async def run_python(self, program: Program) -> Ran | None:
        return await self.whole.run_python(_halved(program))


def _halved(program: Program) -> Program:
    limits = replace(program.limits, wall=program.limits.wall / 2)
    steps = tuple(
        step if step.wall is None else replace(step, wall=step.wall / 2) for step in program.steps
    )
    partner = None if program.partner is None else _halved(program.partner)
    return replace(program, limits=limits, steps=steps, partner=partner)
