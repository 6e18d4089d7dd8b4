"""The verdict on two runs: which is better on some cases, and the interval that goes with it."""

from dataclasses import dataclass
from typing import Literal

from proctor.stats.intervals import Interval
from proctor.stats.paired import Paired

LEVEL = 0.05
"""A p value below this tells two runs apart."""


Verdict = Literal["better", "worse", "no_worse", "equal", "unclear", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Counts of cases by what changed; right means full marks, wrong means none."""

    to_right: int = 0
    to_wrong: int = 0
    both_right: int = 0
    """As good in both, with full marks."""
    both_partly: int = 0
    """As good in both, with a part of the marks."""
    both_wrong: int = 0
    """As good in both, without any marks."""
    graded: bool = False
    """Whether some case changed without going from wrong to right or back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialEvidence:
    """Evidence on a pair of runs that may be looked at after every case."""

    decision: Verdict | None
    """What is sure, as soon as something is."""
    odds: float
    """How strong the evidence is, to one: where it decided, else at the last case."""
    sure: float
    """Evidence of so many to one is enough."""
    cases: int
    """After how many cases that was."""
    interval: Interval | None
    """The interval of the difference that holds at any time."""
    seed: int
    """The seed of the order of the cases."""
    clustered: bool = False
    """Whether ``cases`` counts clusters of cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContrast:
    """The comparison of two runs on some of the cases."""

    paired: Paired
    """The cases that count in both runs."""
    flips: Flips
    extremes: tuple[Paired, Paired] | None = None
    """The same with all that is unscored set to the worst, and to the best, for the second run."""
    adjusted_p: float | None = None
    """The p value that decides, adjusted for all that were tested beside it."""
    tested: int = 1
    """How many rows were tested at once."""
    margin: float | None = None
    """A difference that does not matter, as a part of full marks."""
    sequential: SequentialEvidence | None = None
    """Evidence that decides instead of the test, where cases may end at any time."""

    @property
    def level(self) -> float:
        """Return the level of each interval, at which all rows hold together in 95 %."""
        return 1 - LEVEL / max(1, self.tested)

    @property
    def scenarios(self) -> tuple[Paired, ...]:
        """Return what counts in both, and both extremes of what is unscored, where there is any."""
        return (self.paired, *(self.extremes or ()))

    @property
    def decision_p(self) -> float | None:
        """Return the largest p value of all scenarios; 1 where they go different ways."""
        p_values = [paired.decision_p for paired in self.scenarios]
        if self.paired.p is None or self.paired.estimate is None:
            return self.paired.p
        signs = {(paired.difference or 0.0) > 0 for paired in self.scenarios}
        return 1.0 if len(signs) > 1 else max(1.0 if p is None else p for p in p_values)

    @property
    def verdict(self) -> Verdict:
        """Say what can be said, whatever the unscored would have come to."""
        difference = self.paired.difference
        if self.interval is None or difference is None:
            return "nothing"
        if self.sequential is not None:
            return self.sequential.decision or "unclear"
        changed = self.told_apart
        if changed == "better":
            return changed
        ends = [self._interval_of(paired) for paired in self.scenarios]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        if self.margin is not None and low > -self.margin:
            return "equal" if high < self.margin else "no_worse"
        return changed

    @property
    def interval(self) -> Interval | None:
        """Return the interval of the difference; it agrees with the test on which side 0 lies.

        With a margin it holds for whatever differences there may be, so that its ends can decide.
        """
        if self.sequential is not None:
            return self.sequential.interval
        if self.paired.estimate is None:
            return None
        low, high = self._interval_of(self.paired)
        changed = self.told_apart
        if changed == "better":
            return max(0.0, low), high
        if changed == "worse":
            return low, min(0.0, high)
        return (low, high) if self.extremes else (min(0.0, low), max(0.0, high))

    @property
    def bounds(self) -> Interval | None:
        """Return where the difference lies whatever the unscored would have come to.

        Widened by how far chance may have moved it; none where nothing is unscored.
        """
        if self.extremes is None or self.paired.estimate is None:
            return None
        worst, best = (self._interval_of(paired) for paired in self.extremes)
        return worst[0], best[1]

    @property
    def told_apart(self) -> Literal["better", "worse", "unclear"]:
        """Say which is better, however small the difference is."""
        if self.sequential is not None:
            decision = self.sequential.decision
            return decision if decision in ("better", "worse") else "unclear"
        if self.adjusted_p is None or not self.adjusted_p < LEVEL:
            return "unclear"
        return "better" if (self.paired.difference or 0.0) > 0 else "worse"

    def _interval_of(self, paired: Paired) -> Interval:
        if paired.estimate is None:
            return -1.0, 1.0
        low, high = paired.estimate.interval(self.level)
        if self.margin is None:
            return low, high
        ends = paired.estimate.bounds(self.level)
        return min(low, ends[0]), max(high, ends[1])
