"""Intervals of a difference by case: Student's t and bootstrap with added cases, and by bounds."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from proctor.stats.beta import beta_cdf
from proctor.stats.intervals import Interval, t_quantile, t_tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Method = Literal["t", "bootstrap"]

FEW = 6
"""With fewer changed cases on a side, how large a change can be is not known."""
_RESAMPLES = 2_000
_FINEST = 0.99
"""Beyond this level the quantiles of so many resamples are too coarse."""
_LARGE = 2.0
"""A change against the rest is a disaster if it is so many times as large as a typical one."""
_SCATTER = 1.2
"""Changes whose mean is at most so many of their standard deviations go both ways."""
_AGAINST = 0.05
"""The share of changes against the mean that there is at least, if changes go both ways."""
_CAREFUL = 0.9
"""The part of an error rate that bounds take, since their tail is matched by moments."""


@dataclass(frozen=True, slots=True)
class DifferenceCases:
    """Differences and weights of cases, and the number of each kind."""

    d: "Numbers"
    w: "Numbers"
    c: "Numbers"

    @property
    def n(self) -> float:
        """Return how many cases there are."""
        return float(self.c.sum())

    @property
    def weight(self) -> float:
        """Return the sum of the weights."""
        return float((self.w * self.c).sum())

    @property
    def rate(self) -> float:
        """Return the weighted mean of the differences."""
        return float((self.d * self.c).sum()) / self.weight

    @property
    def largest(self) -> float:
        """Return the largest change that is possible, as a part of full marks.

        That is full marks, or more where penalties made a case lose more than these.
        """
        import numpy as np

        return max(1.0, float(np.max(np.abs(self.d) / np.where(self.w > 0, self.w, np.inf))))

    @property
    def bounded(self) -> bool:
        """Tell whether no case changed by more than its full marks."""
        return self.largest <= 1 + 1e-9

    @property
    def typical_weight(self) -> float:
        """Return the weight of an added case: Σw²/Σw, which heavy cases raise."""
        return float((self.c * self.w**2).sum()) / self.weight

    def spread(self) -> float:
        """Return the standard deviation of the differences, as parts of a case's full marks."""
        if self.n < 2:
            return 0.0
        squares = float((self.c * (self.d - self.rate * self.w) ** 2).sum())
        deviation = sqrt(squares / (self.n - 1)) / (self.weight / self.n)
        return deviation if deviation > 1e-12 else 0.0

    def is_few(self, side: float) -> bool:
        """Tell whether too few cases changed on a side (-1: for the worse) to know how far."""
        return float(self.c[self.d * side > 0].sum()) < FEW

    def widened(self, *, careful: bool = True) -> "DifferenceCases":
        """Add a case that went one way and one that went the other.

        A few cases in which nothing, or everything, went one way do not prove that nothing else
        can happen. The added case is a typical change; with care, on a side with few changed
        cases, it is one of full marks, as a rare disaster would be. With right and wrong alone
        this is Bonett and Price's interval, which keeps to its level where the plain one is too
        narrow.
        """
        import numpy as np

        moved = self.d != 0
        above = float((self.c[moved] * self.d[moved] ** 2).sum())
        below = float((self.c[moved] * self.w[moved] ** 2).sum())
        mean, heavy = self.weight / self.n, self.typical_weight
        typical = sqrt(above / below) * mean if below > 0 else mean
        added = []
        for side in (1.0, -1.0):
            rare = careful and self.is_few(side)
            size, weight = (heavy * self.largest, heavy) if rare else (typical, mean)
            added.append((side * size, weight))
        return DifferenceCases(
            np.append(self.d, [size for size, _ in added]),
            np.append(self.w, [weight for _, weight in added]),
            np.append(self.c, [1.0, 1.0]),
        )

    def disasters_p(self) -> float:
        """Return how likely so few disasters are, if these were frequent enough to undo the rest.

        A disaster is a change of full marks against the direction of the mean. How often it would
        have to happen follows from the mean of all other cases. A large mean calls for so many
        disasters that a sample would show them.
        """
        changes, disasters = self._against_the_mean()
        if not (changes > 0).any():
            return 1.0
        weights = self.c * self.w
        rest = float(weights[~disasters].sum())
        mean = float((weights * changes)[~disasters].sum()) / rest
        share = mean / (mean + self.largest)
        number = self.weight / self.typical_weight
        shown = float(weights[disasters].sum()) / self.typical_weight
        return beta_cdf(1 - share, max(1e-9, number - shown), shown + 1)

    def is_scattered(self) -> bool:
        """Tell whether small changes go both ways, as they do around a mean, not one way alone.

        Then a few losses are the other end of the same scatter. Gains that are much alike, with
        hardly any loss, leave it open what a loss would be.
        """
        changes, disasters = self._against_the_mean()
        small = (changes != 0) & ~disasters
        values, times = changes[small], self.c[small]
        number = float(times.sum())
        if number < 2:
            return False
        losses = float(times[values < 0].sum())
        mean = float((times * values).sum()) / number
        spread = sqrt(float((times * (values - mean) ** 2).sum()) / (number - 1))
        return mean < _SCATTER * spread and losses >= max(1.0, _AGAINST * number)

    def _against_the_mean(self) -> "tuple[Numbers, NDArray[np.bool_]]":
        """Return changes as parts of full marks, gains above 0, and which of them are disasters."""
        import numpy as np

        side = 1.0 if self.rate > 0 else -1.0
        changes = side * self.d / np.where(self.w > 0, self.w, np.inf)
        gains = changes > 0
        below = float((self.c[gains] * self.w[gains] ** 2).sum())
        if below <= 0:
            return changes, np.zeros(len(changes), dtype=bool)
        typical = sqrt(float((self.c[gains] * self.d[gains] ** 2).sum()) / below)
        return changes, changes < -_LARGE * typical

    def drawn(self, seed: int) -> "Numbers":
        """Return the rates of as many cases drawn with replacement, many times over, sorted."""
        import numpy as np

        random = np.random.default_rng(seed)
        n = int(self.n)
        chances = self.c / self.c.sum()
        rates = []
        for _ in range(_RESAMPLES):
            times = random.multinomial(n, chances)
            if (below := float((times * self.w).sum())) > 0:
                rates.append(float((times * self.d).sum()) / below)
        return np.sort(np.array(rates))

    def bounded_moments(self, side: float) -> tuple[float, float, float]:
        """Return mean, deviation and skewness of Gaffke's bound on one side (-1: the low end).

        One case that changed by full marks is added on that side; then the share of each case in
        the truth is as uncertain as flat Dirichlet weights make it.
        """
        heavy = self.typical_weight
        weight = self.weight + heavy
        size = side * heavy * self.largest
        mean = (float((self.d * self.c).sum()) + size) / weight
        apart, added = self.d - mean * self.w, size - mean * heavy
        number = self.weight / heavy + 1
        squares = float((self.c * apart**2).sum()) + added**2
        cubes = float((self.c * apart**3).sum()) + added**3
        variance = squares / weight**2 * number / (number + 1)
        if variance <= 0:
            return mean, 0.0, 0.0
        third = 2 * cubes / weight**3 * number**2 / ((number + 1) * (number + 2))
        return mean, sqrt(variance), third / variance**1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceEstimate:
    """A difference with what its interval needs at any level."""

    rate: float
    centre: float
    error: float
    df: float
    bounded: bool
    low_moments: tuple[float, float, float]
    high_moments: tuple[float, float, float]
    draws: "Numbers | None" = None
    few: bool = False
    """Whether few cases changed on one of the sides, so that a disaster was added there."""
    typical_p: float = 1.0
    """The p value with typical changes added on both sides, however few were seen on one."""
    disasters_p: float = 1.0
    """How likely it is to find the difference, if disasters that undo it are left unseen."""
    scatter_p: float = 1.0
    """Student's p value without added cases, where changes go both ways; else 1."""

    @classmethod
    def of(cls, cases: DifferenceCases, method: Method, seed: int) -> "DifferenceEstimate | None":
        """Gather what the intervals of these cases need; none for fewer than two cases."""
        if cases.n < 2:
            return None
        wide, typical = cases.widened(), cases.widened(careful=False)
        few = cases.is_few(1.0) or cases.is_few(-1.0)
        scattered = few and cases.is_scattered()
        return cls(
            rate=cases.rate,
            centre=wide.rate,
            error=wide.spread() / sqrt(wide.n),
            df=wide.n - 1,
            bounded=cases.bounded,
            low_moments=cases.bounded_moments(-1.0),
            high_moments=cases.bounded_moments(1.0),
            draws=wide.drawn(seed) if method == "bootstrap" else None,
            few=few,
            typical_p=_mean_p(typical),
            disasters_p=cases.disasters_p() * _again(typical) if few else 1.0,
            scatter_p=_mean_p(cases) if scattered else 1.0,
        )

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval; it holds the difference that was seen."""
        import numpy as np

        if self.draws is not None and level <= _FINEST:
            low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2])
        elif self.draws is not None:
            half = NormalDist().inv_cdf((1 + level) / 2) * float(self.draws.std())
            low, high = self.centre - half, self.centre + half
        else:
            half = t_quantile((1 + level) / 2, self.df) * self.error
            low, high = self.centre - half, self.centre + half
        return self._cut(float(low), float(high))

    def bounds(self, level: float = 0.95) -> Interval:
        """Return an interval whose ends hold for any differences within full marks.

        Ends of Gaffke's bounds, matched in mean, variance and skewness; with no change in n cases
        it reaches as far as the exact bound of a share of which none was seen.
        """
        tail = (1 - level) / 2 * _CAREFUL
        return self._cut(
            _skewed_quantile(self.low_moments, tail),
            _skewed_quantile(self.high_moments, 1 - tail),
        )

    def p(self) -> float:
        """Return the p value that allows for disasters on a side with few changed cases.

        That is the smallest share of error at which the interval leaves out 0, or the chance that
        disasters which undo the difference would not have shown, whichever is smaller. Where
        changes go both ways it is Student's, if that is smaller still.
        """
        if not self.few:
            return self.interval_p()
        careful = max(self.typical_p, min(self.interval_p(), self.disasters_p))
        return min(careful, self.scatter_p)

    def interval_p(self) -> float:
        """Return the smallest share of error at which the interval would leave out 0."""
        if self.draws is not None:
            above = float((self.draws > 0).mean())
            below = float((self.draws < 0).mean())
            return min(1.0, 2 * (1 - max(above, below)) + 1 / len(self.draws))
        return _t_p(self.centre, self.error, self.df)

    def _cut(self, low: float, high: float) -> Interval:
        low, high = min(low, self.rate), max(high, self.rate)
        return (max(-1.0, low), min(1.0, high)) if self.bounded else (low, high)


def _mean_p(cases: DifferenceCases) -> float:
    """Return how often Student's t of these cases is as far from 0."""
    return _t_p(cases.rate, cases.spread() / sqrt(cases.n), cases.n - 1)


def _again(cases: DifferenceCases) -> float:
    """Return the chance that as many cases with such a mean and spread would tell it from 0."""
    error = cases.spread() / sqrt(cases.n)
    if error <= 0:
        return 1.0
    return NormalDist().cdf(abs(cases.rate) / error - t_quantile(0.975, cases.n - 1))


def _t_p(centre: float, error: float, df: float) -> float:
    """Return how often Student's t is as far from 0 as this centre."""
    if error <= 0:
        return 1.0 if centre == 0 else 0.0
    t = abs(centre) / error
    return 1.0 if t <= 0 else min(1.0, 2 * t_tail(t, df))


def _skewed_quantile(moments: tuple[float, float, float], p: float) -> float:
    """Return the quantile of the shifted gamma distribution with these moments.

    By Wilson and Hilferty's cube root, which is close down to the exponential distribution.
    """
    mean, deviation, skew = moments
    z = NormalDist().inv_cdf(p)
    if abs(skew) < 1e-5:
        return mean + deviation * z
    shape = 4 / skew**2
    turned = z if skew > 0 else -z
    cube = max(0.0, 1 - 1 / (9 * shape) + turned / (3 * sqrt(shape))) ** 3
    apart = (shape * cube - shape) / sqrt(shape)
    return mean + deviation * (apart if skew > 0 else -apart)
