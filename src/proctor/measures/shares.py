"""Shares over attempts, and which attempts reach full marks."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from proctor.core.case_value import ValueStatus
from proctor.core.run import CaseResult, Measured
from proctor.stats.clusters import ClusterSums

NEAR = 1e-9


@dataclass
class Share:
    """A share over attempts, the attempts at one case being one draw."""

    hits: int = 0
    n: int = 0
    _sums: ClusterSums = field(default_factory=ClusterSums)

    def add(self, marks: Iterable[bool], cluster: str = "") -> None:
        """Take in the attempts at one case that count, each a hit or not, and its cluster."""
        hits = list(marks)
        if hits:
            self.hits += sum(hits)
            self.n += len(hits)
            self._sums.add(float(sum(hits)), float(len(hits)), cluster)

    def measured(self, empty: float | None = None) -> Measured:
        """Return the share with its interval."""
        value = self.hits / self.n if self.n else empty
        return Measured(value=value, interval=self._sums.interval(), n=self.n)


def full_marks(result: CaseResult) -> list[tuple[int, bool]]:
    """Return index and success of those attempts at a case that count."""
    full = result.case.full_score
    return [
        (attempt.attempt.index, attempt.value.value >= full - NEAR)
        for attempt in result.attempts
        if attempt.value.status in (ValueStatus.SCORED, ValueStatus.UNANSWERED)
        and attempt.value.value is not None
    ]
