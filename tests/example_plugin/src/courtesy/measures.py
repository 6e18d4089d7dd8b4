"""A measure as the documentation shows it."""

from collections.abc import Iterable
from dataclasses import dataclass

from proctor import CaseResult, Measure, Measured


@dataclass(frozen=True)
class PerfectCases(Measure):
    """Count the cases with full marks."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Compare each value with its full score."""
        values = [(result.folded.value, result.case.full_score) for result in results]
        known = [(value, full) for value, full in values if value is not None]
        hits = sum(value >= full for value, full in known)
        return Measured(value=float(hits), interval=None, n=len(known))
