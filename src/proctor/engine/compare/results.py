"""What comparing runs comes to: by case, by pair of runs, and as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.engine.compare.obstacles import Side
from proctor.engine.compare.verdict import GroupContrast
from proctor.store.pairs import NEAR
from proctor.store.rows import Change

KINDS: tuple[Change, ...] = ("better", "worse", "both_wrong", "both_partly", "both_right")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    """The values of a case in both runs."""

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
    """One case of both runs."""

    id: str
    position: int
    """Its place in the first run."""
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Numbers of the cases that could not be paired."""

    unscored: int = 0
    """A judge, simulator or sandbox failed in one of the runs."""
    errors: int = 0
    """The candidate of one of the runs could not be reached."""
    only_first: int = 0
    only_second: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(GroupContrast):
    """The comparison of the second of two runs with the first."""

    first: Side
    second: Side
    left_out: LeftOut
    groups: Mapping[str, Mapping[str, GroupContrast]] = field(default_factory=dict)
    examples: Mapping[Change, tuple[CasePair, ...]] = field(default_factory=dict)
    """The largest changes, and the first cases that both got wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """All pairs of several runs."""

    sides: tuple[Side, ...]
    contrasts: tuple[Contrast, ...]
    """Each two runs once, in the order in which they were named."""
    warnings: tuple[str, ...] = ()
    overruled: tuple[str, ...] = ()
    """Those of the warnings for which runs are not compared unless it is forced."""

    @property
    def complete(self) -> bool:
        """Tell whether every run is."""
        return all(side.run.status == "complete" for side in self.sides)

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """Return by the id of each run the best and the worst rank that it may have.

        A run ranks behind those that are better for sure, and before those that are worse.
        """
        above = dict.fromkeys((side.run.id for side in self.sides), 0)
        below = dict(above)
        for contrast in self.contrasts:
            ids = contrast.first.run.id, contrast.second.run.id
            changed = contrast.told_apart
            if changed == "unclear":
                continue
            winner, loser = ids[::-1] if changed == "better" else ids
            below[winner] += 1
            above[loser] += 1
        return {name: (1 + above[name], len(above) - below[name]) for name in above}


def share(value: float, full: float) -> float:
    """Return a value as a part of the full marks."""
    return value / full if full > 0 else 0.0
