"""On which scale the points of a criterion lie, and which marks a person can give on it."""

from contextlib import suppress
from dataclasses import dataclass

from proctor import registry
from proctor.core.score import Score
from proctor.core.suite import Criterion
from proctor.errors import ProctorError

MOST_MARKS = 11
"""How many marks a page offers; on a finer scale it offers right and wrong."""
_NEAR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionScale:
    """The least and the most that a criterion gives, and whether it rates."""

    low: float = 0.0
    high: float = 1.0
    rates: bool = False
    """Whether a person gives a rating, and not just right or wrong."""
    counts: bool = True
    """Whether points are out of full marks, so that they make a share; else they are only shown."""

    def share(self, points: float) -> float:
        """Return points as a number between 0 and 1."""
        if self.counts:
            return min(1.0, max(0.0, points / self.high))
        return min(1.0, max(0.0, (points - self.low) / (self.high - self.low)))

    def points(self, share: float) -> float:
        """Return what a share stands for where numbers are shown: itself, or a rating."""
        return share if self.counts else self.low + share * (self.high - self.low)

    def holds(self, points: float) -> bool:
        """Tell whether a person may give such points."""
        return self.low - _NEAR <= points <= self.high + _NEAR

    def is_right(self, points: float) -> float:
        """Return 1 for full marks, else 0."""
        return float(points >= self.high - _NEAR)

    def marks(self) -> list[tuple[str, float]]:
        """Return the marks that a page offers, each with its points."""
        steps = self.high - self.low
        if self.rates and steps.is_integer() and steps < MOST_MARKS:
            numbers = [self.low + step for step in range(int(steps) + 1)]
            return [(f"{number:g}", number) for number in numbers]
        return [("1", self.high), ("0", self.low if not self.counts else 0.0)]


def scale_of(criterion: Criterion, score: Score | None = None) -> CriterionScale:
    """Return the scale of a criterion, from its scorer or else from a score that it gave.

    A scorer that is not installed here, or may not be imported, gives what its score says.
    """
    ends, full, rates = None, None, False
    with suppress(ProctorError):
        scorer = registry.build("scorer", criterion.scorer)
        low, high = scorer.points_range
        full, rates = scorer.full_marks, scorer.rates
        ends = None if low is None or high is None else (float(low), float(high))
    if score is not None and score.out_of is not None:
        full = score.out_of
    if full is not None and full > 0:
        low = ends[0] if rates and ends is not None and ends[0] < full else 0.0
        return CriterionScale(low=low, high=full, rates=rates)
    if ends is not None and ends[0] < ends[1]:
        return CriterionScale(low=ends[0], high=ends[1], rates=rates, counts=False)
    return CriterionScale()
