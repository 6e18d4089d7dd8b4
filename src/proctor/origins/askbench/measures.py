"""Measures as AskBench's own code has them, so that its numbers come out."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import in_turn
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case
from proctor.measures.answers import HealthBench, PassAt1
from proctor.measures.basic import Accuracy
from proctor.measures.dialogue import (
    AskRate,
    AskScore,
    ClearDirectRate,
    UnqRate,
    VagueAskRate,
)


@dataclass(frozen=True)
class AskBenchAccuracy(Accuracy):
    """The number of nothing at all is 0, and so is a round in which nothing counts."""

    empty: ClassVar[float | None] = 0.0
    empty_rounds: ClassVar[bool] = True

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class AskBenchPassAt1(PassAt1):
    """All attempts are pooled, so that a case with fewer valid ones counts less."""

    empty: ClassVar[float | None] = 0.0
    pooled: ClassVar[bool] = True

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class AskBenchAskScore(AskScore):
    """Without a final answer the coverage is 1."""

    empty: ClassVar[float | None] = 0.5
    coverage_of_none: ClassVar[float] = 1.0

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class AskBenchAskRate(AskRate):
    """The number of nothing at all is 0."""

    empty: ClassVar[float | None] = 0.0

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class AskBenchUnqRate(UnqRate):
    """The number of nothing at all is 0."""

    empty: ClassVar[float | None] = 0.0

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class AskBenchVagueAskRate(VagueAskRate):
    """The number of nothing at all is 0."""

    empty: ClassVar[float | None] = 0.0

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class AskBenchClearDirectRate(ClearDirectRate):
    """The number of nothing at all is 0."""

    empty: ClassVar[float | None] = 0.0

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class AskBenchHealthBench(HealthBench):
    """An item without a readable ruling is not met, one without positive items is worth 0."""

    empty: ClassVar[float | None] = 0.0

    compat: Literal["original"] = "original"

    def _values(self, result: CaseResult) -> list[float]:
        values = (
            _rubric_value(result.case, attempt)
            for attempt in result.attempts
            if attempt.attempt.status is AttemptStatus.ANSWERED
        )
        return [value for value in values if value is not None]


def _rubric_value(case: Case, attempt: AttemptResult) -> float | None:
    """Return what it makes of the rubric items of one answer."""
    weights = [criterion.weight for criterion in case.criteria]
    scores = [attempt.scores.get(criterion.id) for criterion in case.criteria]
    if not any(_is_readable(score) for score in scores):
        return None
    met = sum(
        weight * (score.points or 0.0)
        for weight, score in zip(weights, scores, strict=True)
        if score is not None and _is_readable(score)
    )
    positive = in_turn(weight for weight in weights if weight > 0)
    whole = positive or in_turn(abs(weight) for weight in weights) or 1.0
    return min(1.0, max(0.0, met / whole))


def _is_readable(score: Score | None) -> bool:
    if score is None or score.status is not ScoreStatus.SCORED:
        return False
    return not (isinstance(score.detail, dict) and score.detail.get("valid") is False)
