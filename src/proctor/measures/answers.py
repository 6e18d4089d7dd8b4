"""Measures of answers over several attempts, of rubrics, and of replies that were cut off."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.measure import SummedMeasure
from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import in_turn
from proctor.core.run import CaseResult
from proctor.measures.shares import MeanSums, ShareSums, full_marks


@dataclass(frozen=True)
class TruncationRate(SummedMeasure):
    """Share of attempts with a reply that was cut off by the limit of tokens."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    def sums(self) -> ShareSums:
        return ShareSums(_truncated)


@dataclass(frozen=True)
class PassAt1(SummedMeasure):
    """Chance that one attempt gets full marks: the mean over cases of the mean over attempts."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None
    """The chance where nothing counts."""
    pooled: ClassVar[bool] = False
    """Whether attempts are pooled, so that a case with fewer valid ones counts less."""

    def sums(self) -> MeanSums:
        return MeanSums(self._draw, self.empty)

    def _draw(self, result: CaseResult) -> tuple[float, float] | None:
        marks = [hit for _, hit in full_marks(result)]
        if marks and self.pooled:
            return float(sum(marks)), float(len(marks))
        return (in_turn(marks) / len(marks), 1.0) if marks else None


@dataclass(frozen=True)
class HealthBench(SummedMeasure):
    """HealthBench's score: the mean over cases of points in parts of the positive points."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None
    """The score where nothing counts."""

    def sums(self) -> MeanSums:
        return MeanSums(self._draw, self.empty)

    def _draw(self, result: CaseResult) -> tuple[float, float] | None:
        values = self._values(result)
        return (in_turn(values) / len(values), 1.0) if values else None

    def _values(self, result: CaseResult) -> list[float]:
        return _rate(result)


def _truncated(result: CaseResult) -> Iterator[bool]:
    for item in result.attempts:
        if item.attempt.status is not AttemptStatus.ERROR:
            yield bool(item.attempt.notes.get("truncated"))


def _rate(result: CaseResult) -> list[float]:
    value, full = result.folded.value, result.case.full_score
    return [] if value is None or full <= 0 else [min(1.0, max(0.0, value / full))]
