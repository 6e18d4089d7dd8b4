"""Intervals of a difference by case: Student's t and bootstrap with added cases, and by bounds."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from proctor.stats.beta import beta_cdf
from proctor.stats.intervals import Interval, skewed_quantile, t_quantile, t_tail, unseen_weight

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
_ALIKE = 2.0
"""Gains are alike if their mean is at least so many of their standard deviations."""
_ALLOWED = 0.8
"""By which an error through disasters counts: up to 1 in 16, so that all errors stay at 7 %."""
_LIGHT = 0.7
"""Gains are those of light cases if their mean weight is less than so much of the typical one."""
_SKEW = 0.5
"""The part of Johnson's correction for skewed differences that is made where disasters were seen;
more of it costs power where large changes go both ways."""
_SEARCH = 24
_GOLDEN = 0.6180339887498949
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

    def gains_are_light(self) -> bool:
        """Tell whether the changes in the direction of the mean are those of light cases.

        How these scatter says nothing about heavy ones, few of which make up for all of them.
        """
        import numpy as np

        gains = np.maximum(0.0, (1.0 if self.rate > 0 else -1.0) * self.d) * self.c
        mean = float((gains * self.w).sum()) / (float(gains.sum()) or 1.0)
        return mean < _LIGHT * self.typical_weight

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

    def disasters(self) -> "Disasters":
        """Tell the changes far against the direction of the mean from all others."""
        import numpy as np

        side = 1.0 if self.rate > 0 else -1.0
        changes = side * self.d / np.where(self.w > 0, self.w, np.inf)
        gains = changes > 0
        below = float((self.c[gains] * self.w[gains] ** 2).sum())
        large = np.zeros(len(changes), dtype=bool)
        if below > 0:
            typical = sqrt(float((self.c[gains] * self.d[gains] ** 2).sum()) / below)
            large = changes < -_LARGE * typical
        weights = self.c * self.w
        rest = float(weights[~large].sum())
        mean = float((weights * changes)[~large].sum()) / rest if rest > 0 else 0.0
        number = float(self.c[~large].sum())
        squares = float((self.c * (self.w * (changes - mean)) ** 2)[~large].sum())
        error = sqrt(number / (number - 1) * squares) / rest if number > 1 and rest > 0 else 0.0
        return Disasters(
            worst=self.largest,
            number=self.weight / self.typical_weight,
            shown=float(weights[large].sum()) / self.typical_weight,
            mean=mean,
            error=error if error > 1e-12 else 0.0,
            small=changes[~large & (changes != 0)],
            times=self.c[~large & (changes != 0)],
        )

    def skewed_p(self) -> float:
        """Return Student's p value, corrected for a tail of the differences against their mean."""
        n, rate = self.n, self.rate
        deviation = self.spread()
        if n < 3 or not deviation:
            return 0.0
        scale = self.weight / n
        cubes = float((self.c * ((self.d - rate * self.w) / scale) ** 3).sum())
        third = cubes * n / ((n - 1) * (n - 2)) / deviation**2
        if third * rate >= 0:
            return 0.0
        moved = rate + _SKEW * (third / (6 * n) + third * (rate / deviation) ** 2 / 3)
        return 1.0 if moved * rate <= 0 else _t_p(moved, deviation / sqrt(n), n - 1)

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
        the truth is as uncertain as flat Dirichlet weights make it. It is heavier than cases mostly
        are where those that changed to that side are lighter, or none did: heavy ones may have been
        left unseen.
        """
        import numpy as np

        typical = self.typical_weight
        lost = np.maximum(0.0, side * self.d) * self.c
        seen = float(lost.sum()), float((lost * self.w).sum())
        heavy = unseen_weight(self.weight, typical, float(self.w.max()), seen)
        weight = self.weight + heavy
        size = side * heavy * self.largest
        mean = (float((self.d * self.c).sum()) + size) / weight
        apart, added = self.d - mean * self.w, size - mean * heavy
        number = self.weight / typical + 1
        squares = float((self.c * apart**2).sum()) + added**2
        cubes = float((self.c * apart**3).sum()) + added**3
        variance = squares / weight**2 * number / (number + 1)
        if variance <= 0:
            return mean, 0.0, 0.0
        third = 2 * cubes / weight**3 * number**2 / ((number + 1) * (number + 2))
        return mean, sqrt(variance), third / variance**1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Disasters:
    """Changes far against the direction of the mean, and how many more could be left unseen.

    A disaster is a loss of full marks where most cases gain, or the other way around. How often
    disasters would have to happen to undo a gain follows from the gain: a share of
    gain / (gain + full marks).
    """

    worst: float
    number: float
    """The effective number of cases."""
    shown: float
    """How many disasters were seen."""
    mean: float
    """The mean of all cases but disasters, above 0 in the direction of the mean of all."""
    error: float
    """The standard error of that mean."""
    small: "Numbers"
    """The changes of all cases but disasters."""
    times: "Numbers"

    def hidden_p(self, gain: float) -> float:
        """Return how likely no more disasters show, if they undo a gain."""
        rest = self.worst / (gain + self.worst)
        if not self.shown:
            return float(rest**self.number)
        return beta_cdf(rest, max(1e-9, self.number - self.shown), self.shown + 1)

    def unseen_p(self) -> float:
        """Return how likely so large a gain shows, and no more disasters, if these undo it.

        At the true gain at which that is most likely.
        """
        if self.mean <= 0:
            return 1.0
        if not self.error:
            return self.hidden_p(self.mean)
        normal = NormalDist()

        def chance(apart: float) -> float:
            return normal.cdf(apart) * self.hidden_p(self.mean + apart * self.error)

        # Both factors are log-concave, so that there is one highest place.
        low, high = max(-3.0, -self.mean / self.error), 6.0
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_first, at_second = chance(first), chance(second)
        for _ in range(_SEARCH):
            if at_first < at_second:
                low, first, at_first = first, second, at_second
                second = low + _GOLDEN * (high - low)
                at_second = chance(second)
            else:
                high, second, at_second = second, first, at_first
                first = high - _GOLDEN * (high - low)
                at_first = chance(first)
        return max(at_first, at_second)

    def alike_p(self) -> float:
        """Return how likely gains that are alike scatter as much as these.

        By the normal approximation to the noncentral t distribution.
        """
        number = float(self.times.sum())
        if number < 2:
            return 1.0
        mean = float((self.times * self.small).sum()) / number
        squares = float((self.times * (self.small - mean) ** 2).sum())
        spread = sqrt(squares / (number - 1))
        if spread <= 1e-9 * abs(mean):
            return 1.0
        t, df = mean / spread * sqrt(number), number - 1
        apart = t * (1 - 1 / (4 * df)) - _ALIKE * sqrt(number)
        return NormalDist().cdf(apart / sqrt(1 + t * t / (2 * df)))

    def scattered_p(self) -> float:
        """Return how likely disasters are left unseen and gains that are alike scatter so much."""
        return 1.0 if self.mean <= 0 else self.hidden_p(self.mean) * self.alike_p()


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
    unseen_p: float = 1.0
    """How likely it is to see so large a difference, if disasters undo it and are not seen."""
    student_p: float = 1.0
    """Student's p value without added cases."""
    scattered_p: float = 1.0
    """How likely it is that differences which are alike scatter as much as these, and that
    disasters which undo them are not seen."""
    skewed_p: float = 0.0
    """Student's p value corrected for skewness where disasters were seen; else 0."""

    @classmethod
    def of(cls, cases: DifferenceCases, method: Method, seed: int) -> "DifferenceEstimate | None":
        """Gather what the intervals of these cases need; none for fewer than two cases."""
        if cases.n < 2:
            return None
        wide, typical = cases.widened(), cases.widened(careful=False)
        few = cases.is_few(1.0) or cases.is_few(-1.0)
        disasters = cases.disasters()
        believed = few and not cases.gains_are_light()
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
            unseen_p=_ALLOWED * disasters.unseen_p() if believed else 1.0,
            student_p=_mean_p(cases),
            scattered_p=_ALLOWED * disasters.scattered_p() if believed else 1.0,
            skewed_p=cases.skewed_p() if disasters.shown else 0.0,
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
            skewed_quantile(self.low_moments, tail),
            skewed_quantile(self.high_moments, 1 - tail),
        )

    def p(self) -> float:
        """Return the p value that allows for disasters on a side with few changed cases.

        That is the smallest share of error at which the interval leaves out 0, or the chance that
        disasters which undo the difference would not have shown, whichever is smaller. Where
        changes scatter it is Student's, if that is smaller still.
        """
        if not self.few:
            return max(self.interval_p(), self.skewed_p)
        careful = max(self.typical_p, min(self.interval_p(), self.unseen_p))
        scattered = max(self.student_p, self.scattered_p)
        return max(min(careful, scattered), self.skewed_p)

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


def _t_p(centre: float, error: float, df: float) -> float:
    """Return how often Student's t is as far from 0 as this centre."""
    if error <= 0:
        return 1.0 if centre == 0 else 0.0
    t = abs(centre) / error
    return 1.0 if t <= 0 else min(1.0, 2 * t_tail(t, df))
