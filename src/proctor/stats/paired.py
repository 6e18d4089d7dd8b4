"""Paired comparison: which of two is better on the same cases, and how sure that is."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

from proctor.stats.difference import DifferenceCases, DifferenceEstimate, Method
from proctor.stats.intervals import Interval
from proctor.stats.orderless_sums import OrderlessSum
from proctor.stats.power import MID_SHARE, Outlook

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_SEED = 20240229
_FLIPS = 9_999
_ENUMERATED = 16
_DRAWN = 1_000
_VERY_MANY = 100_000
"""Cases that changed; fewer are drawn size by size, as they always were."""
_SMALL_PART = 1 / 200
"""The part of the spread of a sum up to which a single change is a small one."""
_LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Comparison of the second of two with the first on the cases that both have."""

    n: int
    first: float | None
    """The rate of the first over these cases."""
    second: float | None
    difference: float | None
    """The second rate less the first."""
    interval: Interval | None
    p: float | None
    """How often a difference as large would be seen if both were equally good."""
    test: str = ""
    """How that was found: ``mid-p``, ``exact``, or by so many ``draws``."""
    effect: float | None = None
    """The difference in standard deviations of the differences by case (Cohen's d for pairs)."""
    estimate: DifferenceEstimate | None = None
    """The difference with what its interval needs at any level; none for fewer than two cases."""
    outlook: Outlook | None = None
    better: int = 0
    worse: int = 0
    same: int = 0
    clusters: int | None = None
    """The number of draws, where cases of one cluster are one; none where each case is."""

    @property
    def decision_p(self) -> float | None:
        """Return the p value that decides: the larger of the test's and the estimate's.

        Signs turned at random do not see that differences may be skewed: the estimate does. Among
        rights and wrongs the test is exact, and decides alone.
        """
        if self.p is None or self.estimate is None:
            return self.p
        if self.outlook is not None and self.outlook.binary:
            return self.p
        return max(self.p, self.estimate.p())

    @property
    def needed(self) -> int | None:
        """Return how many cases would tell this difference apart in four of five tries."""
        return None if self.outlook is None else self.outlook.needed()

    @property
    def detectable(self) -> float | None:
        """Return the difference that as many cases would tell apart in four of five tries."""
        return None if self.outlook is None else self.outlook.detectable()

    @property
    def more(self) -> int | None:
        """Return how many cases are missing to tell this difference apart; none means: never."""
        needed = self.needed
        return None if needed is None else max(0, needed - self.n)


@dataclass(slots=True)
class PairedCases:
    """The same cases of two runs; cases that came out alike may be added as one.

    What they come to does not depend on the order in which they are added.
    """

    first: OrderlessSum = field(default_factory=OrderlessSum)
    second: OrderlessSum = field(default_factory=OrderlessSum)
    differences: "array[float]" = field(default_factory=lambda: array("d"))
    weights: "array[float]" = field(default_factory=lambda: array("d"))
    counts: "array[float]" = field(default_factory=lambda: array("d"))
    clusters: dict[str, tuple[OrderlessSum, OrderlessSum]] = field(default_factory=dict)
    """Difference and weight of each cluster that has a name."""
    changes: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Numbers of cases that got better, got worse, and stayed the same."""

    def add(
        self, first: float, second: float, weight: float, count: int = 1, cluster: str = ""
    ) -> None:
        """Take in a case: the weighted points of both, and the weighted points to be had."""
        self.first.add(first, count)
        self.second.add(second, count)
        difference = second - first
        same = abs(difference) <= 1e-9 * weight
        self.changes[2 if same else int(difference < 0)] += count
        if cluster:
            if cluster not in self.clusters:
                self.clusters[cluster] = OrderlessSum(), OrderlessSum()
            for total, part in zip(self.clusters[cluster], (difference, weight), strict=True):
                total.add(part, count)
            return
        self.differences.append(difference)
        self.weights.append(weight)
        self.counts.append(count)

    def add_columns(
        self,
        first: "Numbers",
        second: "Numbers",
        weights: "Numbers",
        clusters: Sequence[str] | None = None,
    ) -> None:
        """Take in many cases at once; an empty name is that of no cluster."""
        import numpy as np

        if clusters is not None:
            for row in zip(
                first.tolist(), second.tolist(), weights.tolist(), clusters, strict=True
            ):
                self.add(*row[:3], 1, row[3])
            return
        self.first.add_many(first)
        self.second.add_many(second)
        differences = second - first
        same = np.abs(differences) <= 1e-9 * weights
        worse = int((~same & (differences < 0)).sum())
        unchanged = int(same.sum())
        for place, count in enumerate((len(differences) - worse - unchanged, worse, unchanged)):
            self.changes[place] += count
        counts: Numbers = np.ones(len(differences))
        if len(weights) and (weights == weights[0]).all():
            differences, times = np.unique(differences, return_counts=True)
            counts = times.astype(np.float64)
            weights = np.full(len(differences), weights[0])
        for column, values in (
            (self.differences, differences),
            (self.weights, weights),
            (self.counts, counts),
        ):
            column.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())

    def _draws(self) -> DifferenceCases:
        """Return what was drawn: cases by themselves, and clusters, each as one.

        They are in one order, and alike ones are together, however they were added: resamples of
        the same cases are the same.
        """
        import numpy as np

        together = [[total.value for total in totals] for totals in self.clusters.values()]
        d, w, c = (
            np.concatenate([np.array(column), own])
            for column, own in (
                (self.differences, [difference for difference, _ in together]),
                (self.weights, [weight for _, weight in together]),
                (self.counts, [1.0] * len(together)),
            )
        )
        d = np.where(np.abs(d) <= 1e-9 * w, 0.0, d)
        order = np.lexsort((w, d))
        d, w, c = d[order], w[order], c[order]
        others = (d[1:] != d[:-1]) | (w[1:] != w[:-1])
        firsts = np.concatenate(([0], np.flatnonzero(others) + 1))[: len(d)]
        return DifferenceCases(d[firsts], w[firsts], np.add.reduceat(c, firsts) if len(c) else c)

    def compare(self, *, level: float = 0.95, method: Method = "t", seed: int = _SEED) -> Paired:
        """Return the difference of the rates with all that says how sure it is.

        Each case is one draw, however many attempts it had, and counts by its weight; all cases of
        a cluster are one draw together.
        """
        cases = self._draws()
        d, c = cases.d, cases.c
        n, total = sum(self.changes), cases.weight
        if n == 0 or total <= 0:
            return Paired(n=n, first=None, second=None, difference=None, interval=None, p=None)
        p, test = sign_flip_test(d, c, seed=seed)
        spread = cases.spread()
        estimate = DifferenceEstimate.of(cases, method, seed)
        return Paired(
            n=n,
            first=self.first.value / total,
            second=self.second.value / total,
            difference=cases.rate,
            interval=None if estimate is None else estimate.interval(level),
            p=p,
            test=test,
            effect=cases.rate / spread if spread else None,
            estimate=estimate,
            outlook=_outlook(cases, estimate, n),
            better=self.changes[0],
            worse=self.changes[1],
            same=self.changes[2],
            clusters=int(cases.n) if self.clusters else None,
        )


def _outlook(cases: DifferenceCases, estimate: DifferenceEstimate | None, n: int) -> Outlook | None:
    """Gather what is known of the changes; none for fewer than two cases."""
    import numpy as np

    if estimate is None:
        return None
    moved = cases.d != 0
    alike = bool(np.all(np.abs(cases.w - cases.w[0]) <= 1e-9 * cases.w[0]))
    whole = bool(np.all(np.abs(np.abs(cases.d[moved]) - cases.w[moved]) <= 1e-9 * cases.w[moved]))
    return Outlook(
        n=int(cases.n),
        difference=cases.rate,
        error=estimate.error,
        spread=cases.widened(careful=estimate.scattered_p >= _LEVEL).spread(),
        changed=float(cases.c[moved].sum()) / cases.n,
        binary=alike and whole,
        each=n / cases.n,
        bounded=cases.bounded,
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p values of several tests, so that all of them together err as one would."""
    ordered = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(ordered):
        highest = max(highest, min(1.0, p * (len(ordered) - rank)))
        adjusted[place] = highest
    return adjusted


def sign_flip_test(
    differences: "Sequence[float] | Numbers",
    times: "Sequence[float] | Numbers | None" = None,
    *,
    seed: int = _SEED,
) -> tuple[float, str]:
    """Return how often turning signs at random makes a sum as far from 0, and how it was found.

    ``times`` says how many cases have each difference, where that is not one.
    If both were equally good, each case could as well have come out the other way around. Where
    all differences have one size this is the sign test, also known as McNemar's: as mid-p, which
    counts what was seen by half, where a fair part of the cases did not change at all.
    """
    import numpy as np

    d = np.asarray(differences, dtype=float)
    c = np.ones(len(d)) if times is None else np.asarray(times, dtype=float)
    unchanged, cases = float(c[d == 0].sum()), float(c.sum())
    d, c = d[d != 0], c[d != 0]
    if not len(d):
        return 1.0, "exact"
    sizes, places = np.unique(_rounded(np.abs(d)), return_inverse=True)
    counts = np.bincount(places, weights=c).astype(np.int64)
    n = int(counts.sum())
    if len(sizes) == 1:
        mid = unchanged >= MID_SHARE * cases
        return _binomial(int(c[d > 0].sum()), n, mid=mid), "mid-p" if mid else "exact"
    seen = abs(float((d * c).sum())) - 1e-9 * float((np.abs(d) * c).sum())
    if n <= _ENUMERATED:
        sums = np.zeros(1)
        for size in np.repeat(sizes, counts):
            sums = np.concatenate([sums + size, sums - size])
        return float((np.abs(sums) >= seen).mean()), "exact"
    drawn = _drawn(sizes, counts, np.random.default_rng(seed))
    return float((1 + (np.abs(drawn) >= seen).sum()) / (1 + len(drawn))), f"{len(drawn)} draws"


def _rounded(sizes: "Numbers") -> "Numbers":
    """Make sizes equal that differ by rounding alone."""
    import numpy as np

    parts = np.round(sizes / sizes.max(), 12)
    rounded: Numbers = np.where(parts > 0, parts, 1e-12) * sizes.max()
    return rounded


def _drawn(
    sizes: "Numbers", counts: "NDArray[np.int64]", random: "np.random.Generator"
) -> "Numbers":
    """Draw sums of differences with random signs.

    The largest thousand sizes are drawn as they are, of very many cases only those that are more
    than a small part of the spread; what is left is a sum of so many small parts that it is as
    good as normal.
    """
    import numpy as np

    order = np.argsort(sizes)[::-1]
    squares = sizes**2 * counts
    drawn = min(_DRAWN, len(order))
    if counts.sum() >= _VERY_MANY:
        drawn = min(drawn, int((sizes > _SMALL_PART * sqrt(float(squares.sum()))).sum()))
    large, rest = order[:drawn], order[drawn:]
    sums = random.normal(0.0, sqrt(float(squares[rest].sum())), _FLIPS)
    for size, count in zip(sizes[large], counts[large], strict=True):
        sums += size * (2.0 * random.binomial(count, 0.5, _FLIPS) - count)
    return sums


def _binomial(hits: int, n: int, *, mid: bool) -> float:
    """Return how often n coins fall at least as unevenly; as unevenly counts by half in mid-p."""
    import numpy as np

    few = min(hits, n - hits)
    if 2 * few == n:
        return 1.0
    number = np.arange(1, few + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - number + 1) / number))])
    chances = np.exp(logs - n * np.log(2))
    return min(1.0, 2 * float(chances.sum()) - (float(chances[-1]) if mid else 0.0))
