"""Measures as the documentation shows them: one of results, one of sums."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from proctor import CaseResult, Measure, Measured, MeasureSums, SummedMeasure


@dataclass(frozen=True)
class PerfectCases(Measure):
    """Count the cases with full marks."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Compare each value with its full score."""
        values = [(result.folded.value, result.case.full_score) for result in results]
        known = [(value, full) for value, full in values if value is not None]
        hits = sum(value >= full for value, full in known)
        return Measured(value=float(hits), interval=None, n=len(known))


@dataclass
class PerfectCounts(MeasureSums):
    """Cases with full marks, and cases with a value."""

    hits: int = 0
    n: int = 0

    def add(self, results: Sequence[CaseResult]) -> None:
        """Count the next cases."""
        for result in results:
            if result.folded.value is not None:
                self.hits += result.folded.value >= result.case.full_score
                self.n += 1

    def merge(self, other: Self) -> None:
        """Add the counts of later cases."""
        self.hits += other.hits
        self.n += other.n

    def result(self) -> Measured:
        """Return the count."""
        return Measured(value=float(self.hits), interval=None, n=self.n)


@dataclass(frozen=True)
class PerfectSum(SummedMeasure):
    """Count the cases with full marks, without looking at any of them twice."""

    def sums(self) -> PerfectCounts:
        """Begin with no case."""
        return PerfectCounts()
