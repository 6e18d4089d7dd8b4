"""What comparing two runs comes to: by case, by group of cases, and as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from proctor.engine.compare.compatibility import Side
from proctor.stats.paired import Paired
from proctor.store.pairs import NEAR, Change

LEVEL = 0.05
"""A p value below this tells two runs apart."""
Verdict = Literal["better", "worse", "unclear", "nothing"]
KINDS: tuple[Change, ...] = ("better", "worse", "both_wrong", "both_partly", "both_right")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    """Hold what a case came to in both runs."""

    first: float
    second: float
    full: float
    full_2: float
    weight: float

    @property
    def shares(self) -> tuple[float, float]:
        """Return both as parts of the full marks."""
        return share(self.first, self.full), share(self.second, self.full_2)

    @property
    def difference(self) -> float:
        """Return by how much of the full marks the second is better."""
        one, two = self.shares
        return two - one

    @property
    def right(self) -> tuple[bool, bool]:
        """Tell for both whether they have full marks."""
        return self.first >= self.full - NEAR, self.second >= self.full_2 - NEAR

    @property
    def kind(self) -> Change:
        """Say whether the second did better or worse, or what both did."""
        if abs(self.difference) > NEAR:
            return "better" if self.difference > 0 else "worse"
        if all(self.right):
            return "both_right"
        return "both_wrong" if max(self.shares) <= NEAR else "both_partly"


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePair(PairedValues):
    """Hold one case of both runs."""

    id: str
    position: int
    """Its place in the first run."""
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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
class LeftOut:
    """Count the cases that could not be paired."""

    unscored: int = 0
    """A judge, simulator or sandbox failed in one of the runs."""
    errors: int = 0
    """The candidate of one of the runs could not be reached."""
    only_first: int = 0
    only_second: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContrast:
    """Hold how two runs compare on some of the cases."""

    paired: Paired
    flips: Flips
    adjusted_p: float | None = None
    """The p value adjusted for all that were tested beside it."""

    @property
    def verdict(self) -> Verdict:
        """Say what can be said: a difference counts where test and interval agree on it."""
        found = self.paired
        if found.interval is None or found.difference is None:
            return "nothing"
        sure = self.adjusted_p is not None and self.adjusted_p < LEVEL
        if sure and found.interval[0] > 0:
            return "better"
        if sure and found.interval[1] < 0:
            return "worse"
        return "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(GroupContrast):
    """Hold how the second of two runs compares with the first."""

    first: Side
    second: Side
    left_out: LeftOut
    bounds: tuple[float, float] | None = None
    """Where the difference would lie if all that is unscored went one way, or the other."""
    groups: Mapping[str, Mapping[str, GroupContrast]] = field(default_factory=dict)
    examples: Mapping[Change, tuple[CasePair, ...]] = field(default_factory=dict)
    """The largest changes, and the first cases that both got wrong."""
    tested: int = 1
    """How many pairs of runs were tested at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Hold all pairs of several runs."""

    sides: tuple[Side, ...]
    contrasts: tuple[Contrast, ...]
    """Each two runs once, in the order in which they were named."""
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Tell whether every run is."""
        return all(side.run.status == "complete" for side in self.sides)


def share(value: float, full: float) -> float:
    """Return a value as a part of the full marks."""
    return value / full if full > 0 else 0.0
