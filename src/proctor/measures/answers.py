"""Measures of answers over several attempts, of rubrics, and of replies that were cut off."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.measure import Measure
from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import in_turn
from proctor.core.run import CaseResult, Measured
from proctor.measures.shares import Share, full_marks
from proctor.stats.clusters import ClusterSums


@dataclass(frozen=True)
class TruncationRate(Measure):
    """Share of attempts with a reply that was cut off by the limit of tokens."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        share = Share()
        for result in results:
            reached = [
                attempt.attempt
                for attempt in result.attempts
                if attempt.attempt.status is not AttemptStatus.ERROR
            ]
            marks = (bool(attempt.notes.get("truncated")) for attempt in reached)
            share.add(marks, result.case.cluster)
        return share.measured()


@dataclass(frozen=True)
class PassAt1(Measure):
    """Chance that one attempt gets full marks: the mean over cases of the mean over attempts."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None
    """The chance where nothing counts."""
    pooled: ClassVar[bool] = False
    """Whether attempts are pooled, so that a case with fewer valid ones counts less."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        sums = ClusterSums()
        for result in results:
            marks = [hit for _, hit in full_marks(result)]
            if marks and self.pooled:
                sums.add(float(sum(marks)), float(len(marks)), result.case.cluster)
            elif marks:
                sums.add(in_turn(marks) / len(marks), 1.0, result.case.cluster)
        value = self.empty if sums.rate is None else sums.rate
        return Measured(value=value, interval=sums.interval(), n=sums.n)


@dataclass(frozen=True)
class HealthBench(Measure):
    """HealthBench's score: the mean over cases of points in parts of the positive points."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None
    """The score where nothing counts."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        sums = ClusterSums()
        for result in results:
            values = self._values(result)
            if values:
                sums.add(in_turn(values) / len(values), 1.0, result.case.cluster)
        value = self.empty if sums.rate is None else sums.rate
        return Measured(value=value, interval=sums.interval(), n=sums.n)

    def _values(self, result: CaseResult) -> list[float]:
        return _rate(result)


def _rate(result: CaseResult) -> list[float]:
    value, full = result.folded.value, result.case.full_score
    return [] if value is None or full <= 0 else [min(1.0, max(0.0, value / full))]
