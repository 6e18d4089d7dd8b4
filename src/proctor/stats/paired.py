"""Paired comparison: which of two is better on the same cases, and how sure that is."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, Literal

from proctor.stats.intervals import Interval, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Method = Literal["t", "bootstrap"]

POWER = 0.8
MOST_CASES = 10_000_000
"""More cases than this are as good as never."""
_SEED = 20240229
_FLIPS = 9_999
_RESAMPLES = 2_000
_ENUMERATED = 16
_DRAWN = 1_000


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
    """How that was found: ``exact``, or by so many ``draws``."""
    effect: float | None = None
    """The difference in standard deviations of the differences by case (Cohen's d for pairs)."""
    needed: int | None = None
    """How many cases would tell this difference apart in four of five tries; none: never."""
    detectable: float | None = None
    """The difference that as many cases as these would tell apart in four of five tries."""
    better: int = 0
    worse: int = 0
    same: int = 0

    @property
    def more(self) -> int | None:
        """Return how many cases are missing to tell this difference apart; none means: never."""
        return None if self.needed is None else max(0, self.needed - self.n)


@dataclass(slots=True)
class PairedCases:
    """The same cases of two runs; cases that came out alike may be added as one."""

    first: float = 0.0
    second: float = 0.0
    differences: "array[float]" = field(default_factory=lambda: array("d"))
    weights: "array[float]" = field(default_factory=lambda: array("d"))
    counts: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, first: float, second: float, weight: float, count: int = 1) -> None:
        """Take in a case: the weighted points of both, and the weighted points to be had."""
        self.first += first * count
        self.second += second * count
        self.differences.append(second - first)
        self.weights.append(weight)
        self.counts.append(count)

    def compare(self, *, level: float = 0.95, method: Method = "t", seed: int = _SEED) -> Paired:
        """Return the difference of the rates with all that says how sure it is.

        Each case is one draw, however many attempts it had, and counts by its weight.
        """
        import numpy as np

        d, w, c = (np.array(column) for column in (self.differences, self.weights, self.counts))
        d = np.where(np.abs(d) <= 1e-9 * w, 0.0, d)
        cases = _Cases(d, w, c)
        n, total = int(cases.n), cases.weight
        if n == 0 or total <= 0:
            return Paired(n=n, first=None, second=None, difference=None, interval=None, p=None)
        p, test = sign_flip_test(d, c, seed=seed)
        spread, careful = cases.spread(), cases.widened().spread()
        return Paired(
            n=n,
            first=self.first / total,
            second=self.second / total,
            difference=cases.rate,
            interval=_interval(cases, level, method, seed),
            p=p,
            test=test,
            effect=cases.rate / spread if spread else None,
            needed=cases_needed(cases.rate, careful, level=level) if n > 1 else None,
            detectable=_detectable(careful, n, level) if n > 1 else None,
            better=int(c[d > 0].sum()),
            worse=int(c[d < 0].sum()),
            same=int(c[d == 0].sum()),
        )


def cases_needed(
    difference: float, spread: float, *, level: float = 0.95, power: float = POWER
) -> int | None:
    """Return how many cases tell a difference apart with this power; none means: never.

    ``spread`` is the standard deviation of the differences by case.
    """
    if not difference or not isfinite(spread / difference):
        return None
    cases = 2.0
    for _ in range(50):
        df = max(1.0, cases - 1)
        reach = t_quantile((1 + level) / 2, df) + t_quantile(power, df)
        following = max(2.0, (reach * spread / difference) ** 2)
        if following > MOST_CASES:
            return None
        # Few degrees of freedom make the steps overshoot, so each goes half the way.
        if abs(following - cases) < 0.5:
            return ceil(following)
        cases = (cases + following) / 2
    return ceil(cases)


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
    all differences have one size this is the sign test, also known as McNemar's exact test.
    """
    import numpy as np

    d = np.asarray(differences, dtype=float)
    c = np.ones(len(d)) if times is None else np.asarray(times, dtype=float)
    d, c = d[d != 0], c[d != 0]
    if not len(d):
        return 1.0, "exact"
    sizes, places = np.unique(_rounded(np.abs(d)), return_inverse=True)
    counts = np.bincount(places, weights=c).astype(np.int64)
    n = int(counts.sum())
    if len(sizes) == 1:
        return _binomial(int(c[d > 0].sum()), n), "exact"
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

    The largest thousand sizes are drawn as they are; what is left is a sum of so many small parts
    that it is as good as normal.
    """
    import numpy as np

    order = np.argsort(sizes)[::-1]
    large, rest = order[:_DRAWN], order[_DRAWN:]
    sums = random.normal(0.0, sqrt(float((sizes[rest] ** 2 * counts[rest]).sum())), _FLIPS)
    for size, count in zip(sizes[large], counts[large], strict=True):
        sums += size * (2.0 * random.binomial(count, 0.5, _FLIPS) - count)
    return sums


def _binomial(hits: int, n: int) -> float:
    """Return how often n coins fall at least as unevenly."""
    import numpy as np

    few = min(hits, n - hits)
    if 2 * few == n:
        return 1.0
    number = np.arange(1, few + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - number + 1) / number))])
    return min(1.0, 2 * float(np.exp(logs - n * np.log(2)).sum()))


@dataclass(frozen=True, slots=True)
class _Cases:
    """Differences and weights of cases, and the number of each kind."""

    d: "Numbers"
    w: "Numbers"
    c: "Numbers"

    @property
    def n(self) -> float:
        return float(self.c.sum())

    @property
    def weight(self) -> float:
        return float((self.w * self.c).sum())

    @property
    def rate(self) -> float:
        return float((self.d * self.c).sum()) / self.weight

    def spread(self) -> float:
        """Return the standard deviation of the differences, as parts of a case's full marks."""
        if self.n < 2:
            return 0.0
        squares = float((self.c * (self.d - self.rate * self.w) ** 2).sum())
        deviation = sqrt(squares / (self.n - 1)) / (self.weight / self.n)
        return deviation if deviation > 1e-12 else 0.0

    def widened(self) -> "_Cases":
        """Add a typical case that went one way and one that went the other.

        A few cases in which nothing, or everything, went one way do not prove that nothing else
        can happen. With right and wrong alone this is Bonett and Price's interval, which keeps to
        its level where the plain one is too narrow.
        """
        import numpy as np

        moved = self.d != 0
        above = float((self.c[moved] * self.d[moved] ** 2).sum())
        below = float((self.c[moved] * self.w[moved] ** 2).sum())
        mean = self.weight / self.n
        size = sqrt(above / below) * mean if below > 0 else mean
        return _Cases(
            np.append(self.d, [size, -size]),
            np.append(self.w, [mean, mean]),
            np.append(self.c, [1.0, 1.0]),
        )

    def drawn(self, seed: int) -> "Numbers":
        """Return the rates of as many cases drawn with replacement, many times over."""
        import numpy as np

        random = np.random.default_rng(seed)
        n = int(self.n)
        chances = self.c / self.c.sum()
        rates = []
        for _ in range(_RESAMPLES):
            times = random.multinomial(n, chances)
            if (below := float((times * self.w).sum())) > 0:
                rates.append(float((times * self.d).sum()) / below)
        return np.array(rates)


def _interval(cases: _Cases, level: float, method: Method, seed: int) -> Interval | None:
    import numpy as np

    if cases.n < 2:
        return None
    wide = cases.widened()
    if method == "bootstrap":
        low, high = np.quantile(wide.drawn(seed), [(1 - level) / 2, (1 + level) / 2])
    else:
        half = t_quantile((1 + level) / 2, wide.n - 1) * wide.spread() / sqrt(wide.n)
        low, high = wide.rate - half, wide.rate + half
    low, high = min(float(low), cases.rate), max(float(high), cases.rate)
    if bool((np.abs(cases.d) <= cases.w * (1 + 1e-9)).all()):
        return max(-1.0, low), min(1.0, high)
    return low, high


def _detectable(spread: float, n: int, level: float) -> float:
    reach = t_quantile((1 + level) / 2, n - 1) + t_quantile(POWER, n - 1)
    return reach * spread / sqrt(n)
