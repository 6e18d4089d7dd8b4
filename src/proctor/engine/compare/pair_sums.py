"""Sums over the cases that two runs have in common: pair by pair, or by columns."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proctor.core.case_value import ValueStatus
from proctor.engine.compare.results import PairedValues, share
from proctor.engine.compare.verdict import Flips, GroupContrast
from proctor.stats.difference import Method
from proctor.stats.paired import PairedCases
from proctor.store.pairs import NEAR
from proctor.store.rows import PairedRow

if TYPE_CHECKING:
    import numpy as np

    from proctor.store.parts.columns import Codes
    from proctor.store.parts.pairs import PairColumns

    Array = np.ndarray[Any, np.dtype[Any]]

_BLOCK = 2**16
"""Pairs whose columns are computed at once, so that many take no more memory."""


@dataclass
class _PairSums:
    """Sums over the pairs of one row."""

    pairs: PairedCases = field(default_factory=PairedCases)
    to_right: int = 0
    to_wrong: int = 0
    both_right: int = 0
    both_partly: int = 0
    both_wrong: int = 0
    graded: bool = False

    def add(self, values: PairedValues, count: int, cluster: str = "") -> None:
        """Take in cases that came to the same."""
        (one, two), weight = values.shares, values.weight * values.full
        if weight <= 0:
            return
        self.pairs.add(one * weight, two * weight, weight, count, cluster)
        kind, right = values.kind, values.right
        if kind.startswith("both"):
            self.both_right += count * (kind == "both_right")
            self.both_partly += count * (kind == "both_partly")
            self.both_wrong += count * (kind == "both_wrong")
        elif right[0] != right[1] and min(values.shares) <= NEAR:
            self.to_right += count * right[1]
            self.to_wrong += count * right[0]
        else:
            self.graded = True

    def flips(self) -> Flips:
        """Return the counts."""
        return Flips(
            to_right=self.to_right,
            to_wrong=self.to_wrong,
            both_right=self.both_right,
            both_partly=self.both_partly,
            both_wrong=self.both_wrong,
            graded=self.graded,
        )


@dataclass
class PairedRowSums:
    """Sums over the cases of one row, and with the unscored at both extremes."""

    seen: _PairSums = field(default_factory=_PairSums)
    extremes: tuple[PairedCases, PairedCases] | None = None
    """The worst and the best that may come of it, since something of some case is unscored.

    Before, both are what was seen, which is not kept three times.
    """
    unscored: int = 0

    def add(self, row: PairedRow, count: int, cluster: str = "") -> None:
        """Take in cases that both runs have and reached."""
        if ValueStatus.SHOWN in (row.status, row.status_2):
            return
        values = _values(row)
        if row.weight * row.full > 0:
            self._add_extremes(row, values, count, cluster)
        if values is None:
            self.unscored += count
        else:
            self.seen.add(values, count, cluster)

    def opened(self) -> tuple[PairedCases, PairedCases]:
        """Return worst and best, which from now on are not what was seen so far."""
        if self.extremes is None:
            self.extremes = deepcopy(self.seen.pairs), deepcopy(self.seen.pairs)
        return self.extremes

    def _add_extremes(
        self, row: PairedRow, values: PairedValues | None, count: int, cluster: str
    ) -> None:
        weight, full = row.weight * row.full, row.full_2 or 0.0
        low, high = share(row.low, row.full), share(row.high, row.full)
        low_2, high_2 = share(row.low_2 or 0.0, full), share(row.high_2 or 0.0, full)
        if row.full_2 is None:
            high_2 = 1.0  # A result that cannot be read may be anything.
        if values is not None and high - low + high_2 - low_2 <= NEAR:
            # What is known to the last digit is the same in all scenarios.
            if self.extremes is None:
                return
            (low, low_2), (high, high_2) = values.shares, values.shares
        worst, best = self.opened()
        worst.add(high * weight, low_2 * weight, weight, count, cluster)
        best.add(low * weight, high_2 * weight, weight, count, cluster)

    def contrast(self, method: Method) -> GroupContrast:
        """Return what they come to."""
        ends = None
        if self.extremes is not None:
            worst, best = self.extremes
            ends = worst.compare(method=method), best.compare(method=method)
        return GroupContrast(
            paired=self.seen.pairs.compare(method=method), flips=self.seen.flips(), extremes=ends
        )


@dataclass
class MetCases:
    """Numbers of cases of the first run: in both runs, in the first alone, and errors."""

    met: int = 0
    only_first: int = 0
    errors: int = 0


def add_columns(
    pairs: "PairColumns",
    sums: PairedRowSums,
    within: "Array | None" = None,
    *,
    by_case: bool = False,
) -> MetCases:
    """Add the pairs of two runs, all or those of a mask, and count who has them.

    ``by_case`` names the draw of each case, so that pairs of other runs can be added to it.
    """
    import numpy as np

    inside = np.full(len(pairs), True) if within is None else within
    met = pairs.is_met & inside
    error = _either(pairs, ValueStatus.ERROR) & met
    columns = _Columns.of(pairs, met & ~error & ~_either(pairs, ValueStatus.SHOWN))
    if by_case:
        columns.clusters = _draws(pairs)
    for start in range(0, len(pairs), _BLOCK):
        columns.cut(start, start + _BLOCK).add_to(sums)
    count = int(met.sum())
    return MetCases(count, int(inside.sum()) - count, int(error.sum()))


def draw_name(case_id: str, cluster: str) -> str:
    """Name the draw that a case belongs to: its cluster, or the case itself."""
    return f"cluster {cluster}" if cluster else f"case {case_id}"


def _draws(pairs: "PairColumns") -> "Codes":
    """Return the draw of each case of the first run."""
    import numpy as np

    ids = pairs.first.ids_at(range(len(pairs)))
    names = [draw_name(one, pairs.first.cluster.of(place) or "") for place, one in enumerate(ids)]
    return pairs.first.cluster._replace(codes=np.arange(len(names)), names=names)


def _either(pairs: "PairColumns", status: ValueStatus) -> "Array":
    """Return which cases have a status in one of the runs."""

    def is_it(name: str) -> bool:
        return name == status.value

    return pairs.first.status.mask(is_it) | pairs.status.mask(is_it)


@dataclass
class _Columns:
    """The pairs that count, as columns."""

    counted: "Array"
    valued: "Array"
    clusters: "Codes"
    weights: "Array"
    first: "dict[str, Array]"
    second: "dict[str, Array]"

    @classmethod
    def of(cls, pairs: "PairColumns", counted: "Array") -> "_Columns":
        """Return the columns of all pairs."""
        names = ("value", "full", "low", "high")
        return cls(
            counted=counted,
            valued=counted & pairs.have_values(),
            clusters=pairs.first.cluster,
            weights=pairs.first.weight,
            first={name: pairs.first.number(name) for name in names},
            second={name: pairs.number(name) for name in names},
        )

    def cut(self, start: int, end: int) -> "_Columns":
        """Return the pairs from one position to another, without copying them."""
        return _Columns(
            counted=self.counted[start:end],
            valued=self.valued[start:end],
            clusters=self.clusters._replace(codes=self.clusters.codes[start:end]),
            weights=self.weights[start:end],
            first={name: column[start:end] for name, column in self.first.items()},
            second={name: column[start:end] for name, column in self.second.items()},
        )

    def add_to(self, sums: PairedRowSums) -> None:
        """Add them, as ``PairedRowSums.add`` does with each."""
        counted, valued = self.counted, self.valued
        sums.unscored += int((counted & ~valued).sum())
        weights = self.weights * self.first["full"]
        weighty = weights > 0
        one, two = (_shares(run["value"], run["full"]) for run in (self.first, self.second))
        seen = valued & weighty
        self._add_extremes(sums, one, two, weights)
        self._add(sums.seen.pairs, one, two, weights, seen)
        self._count_flips(sums, seen, one, two)

    def _add_extremes(
        self, sums: PairedRowSums, one: "Array", two: "Array", weights: "Array"
    ) -> None:
        import numpy as np

        low, high, low_2, high_2 = (
            np.nan_to_num(_shares(np.nan_to_num(run[name]), run["full"]))
            for run in (self.first, self.second)
            for name in ("low", "high")
        )
        high_2 = np.where(np.isnan(self.second["full"]), 1.0, high_2)
        certain = self.valued & (high - low + high_2 - low_2 <= NEAR)
        there = self.counted & (weights > 0)
        if sums.extremes is None and not (there & ~certain).any():
            return
        worst, best = sums.opened()
        for cases, first, second in ((worst, high, low_2), (best, low, high_2)):
            ends = np.where(certain, one, first), np.where(certain, two, second)
            self._add(cases, *ends, weights, there)

    def _add(
        self, cases: PairedCases, one: "Array", two: "Array", weights: "Array", chosen: "Array"
    ) -> None:
        weights = weights[chosen]
        clusters = self._clusters(chosen)
        cases.add_columns(one[chosen] * weights, two[chosen] * weights, weights, clusters)

    def _clusters(self, chosen: "Array") -> Sequence[str] | None:
        codes, names = self.clusters
        if not names or (codes < 0).all():
            return None
        return ["" if code < 0 else names[code] for code in codes[chosen].tolist()]

    def _count_flips(self, sums: PairedRowSums, seen: "Array", one: "Array", two: "Array") -> None:
        import numpy as np

        flips, larger = sums.seen, np.maximum(one, two)
        right, right_2 = (run["value"] >= run["full"] - NEAR for run in (self.first, self.second))
        moved = seen & (np.abs(two - one) > NEAR)
        same = seen & ~moved
        both_right = same & right & right_2
        both_wrong = same & ~both_right & (larger <= NEAR)
        flips.both_right += int(both_right.sum())
        flips.both_wrong += int(both_wrong.sum())
        flips.both_partly += int((same & ~both_right & ~both_wrong).sum())
        flipped = moved & (right != right_2) & (np.minimum(one, two) <= NEAR)
        flips.to_right += int((flipped & right_2).sum())
        flips.to_wrong += int((flipped & right).sum())
        flips.graded = flips.graded or bool((moved & ~flipped).any())


def _shares(value: "Array", full: "Array") -> "Array":
    """Return values as parts of full marks, 0 where these are not above 0."""
    import numpy as np

    with np.errstate(all="ignore"):
        return np.where(full > 0, value / full, 0.0)


def _values(row: PairedRow) -> PairedValues | None:
    """Return both values, none where one of the runs has none."""
    if row.value is None or row.value_2 is None or row.full_2 is None:
        return None
    return PairedValues(
        first=row.value, second=row.value_2, full=row.full, full_2=row.full_2, weight=row.weight
    )
