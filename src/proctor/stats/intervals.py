"""Intervals of means on a scale: bounded, Student's t and bootstrap; each draw counts as one."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import lru_cache
from math import exp, inf, isfinite, lgamma, log, log1p, pi, sqrt
from typing import Literal, NamedTuple

from proctor.records import dataclass
from proctor.stats.beta import beta_quantile, incomplete_beta
from proctor.stats.normal import normal_quantile

Interval = tuple[float, float]
IntervalMethod = Literal["bounded", "t", "bootstrap"]

_CELLS = 2_000_000
_LARGE_DF = 1_000.0
_ROUNDING = 1e-6
_FEW_EFFECTIVE, _MANY_EFFECTIVE = 20.0, 60.0
"""With so few effective draws an added one of typical weight leaves room enough for the heaviest,
if only light ones lost; from so many on it may have to be as heavy as that."""
_FEWEST_EFFECTIVE, _ENOUGH_EFFECTIVE = 5.0, 25.0
"""With so few effective draws a typical weight leaves room enough whatever was lost; from so many
on the added draw weighs half the way to the heaviest at least, by factors."""


class Scale(NamedTuple):
    """The least and the most that a draw can be, in parts of its weight; none for an open end."""

    low: float | None
    high: float | None

    @classmethod
    def around(cls, *scales: "Scale") -> "Scale":
        """Return the scale on which all of these lie; open at both ends where there are none."""
        lows, highs = [scale.low for scale in scales], [scale.high for scale in scales]
        low = None if not scales or None in lows else min(end for end in lows if end is not None)
        high = None if not scales or None in highs else max(end for end in highs if end is not None)
        return cls(low, high)

    def clip(self, interval: Interval) -> Interval:
        """Cut an interval where the scale ends."""
        low = -inf if self.low is None else self.low
        high = inf if self.high is None else self.high
        return min(high, max(low, interval[0])), min(high, max(low, interval[1]))


SHARE = Scale(0.0, 1.0)
OPEN = Scale(None, None)


@dataclass(slots=True)
class RatioSums:
    """Running Σ values / Σ weights over draws, with what its interval needs.

    A draw is a case, or a cluster of cases. The second moments are kept around the running means,
    so that they lose nothing to rounding however many draws there are.
    """

    n: int = 0
    value: float = 0.0
    weight: float = 0.0
    least: float = inf
    """The smallest ratio of a single draw so far."""
    most: float = -inf
    _mean_v: float = 0.0
    _mean_w: float = 0.0
    _vv: float = 0.0
    _vw: float = 0.0
    _ww: float = 0.0
    heaviest: float = 0.0
    """The largest weight of a single draw so far."""
    weightless: float = 0.0
    """How many draws have neither weight nor value: they say nothing of how the others scatter."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, float]]) -> "RatioSums":
        """Gather all pairs of value and weight."""
        sums = cls()
        for value, weight in pairs:
            sums.add(value, weight)
        return sums

    @property
    def rate(self) -> float | None:
        """Return the ratio; none where there is no weight to divide by."""
        return self.value / self.weight if self.weight > 0 else None

    def add(self, value: float, weight: float) -> None:
        """Take in one draw."""
        if weight > 0:
            ratio = value / weight
            self.least, self.most = min(self.least, ratio), max(self.most, ratio)
        elif value:  # on no scale at all
            self.least, self.most = -inf, inf
        else:
            self.weightless += 1
        self.n += 1
        self.value += value
        self.weight += weight
        self.heaviest = max(self.heaviest, weight)
        before_v, before_w = value - self._mean_v, weight - self._mean_w
        self._mean_v += before_v / self.n
        self._mean_w += before_w / self.n
        after_v, after_w = value - self._mean_v, weight - self._mean_w
        self._vv += before_v * after_v
        self._vw += before_v * after_w
        self._ww += before_w * after_w

    def add_many(self, values: Sequence[float], weights: Sequence[float]) -> None:
        """Take in draws one after the other, in a fraction of the time of single ones."""
        ratios = [
            value / weight for value, weight in zip(values, weights, strict=True) if weight > 0
        ]
        # One after the other, as ``add`` looks at them: nothing that is no number gets through.
        self.least, self.most = min((self.least, *ratios)), max((self.most, *ratios))
        self.heaviest = max((self.heaviest, *weights))
        if len(ratios) < len(values):
            self._note_weightless(values, weights)
        n, total, total_w = self.n, self.value, self.weight
        mean_v, mean_w, vv, vw, ww = self._mean_v, self._mean_w, self._vv, self._vw, self._ww
        for value, weight in zip(values, weights, strict=True):
            n += 1
            total += value
            total_w += weight
            before_v, before_w = value - mean_v, weight - mean_w
            mean_v += before_v / n
            mean_w += before_w / n
            after_w = weight - mean_w
            vv += before_v * (value - mean_v)
            vw += before_v * after_w
            ww += before_w * after_w
        self.n, self.value, self.weight = n, total, total_w
        self._mean_v, self._mean_w, self._vv, self._vw, self._ww = mean_v, mean_w, vv, vw, ww

    def _note_weightless(self, values: Sequence[float], weights: Sequence[float]) -> None:
        """Note the draws that have no weight to divide by."""
        for value, weight in zip(values, weights, strict=True):
            if weight > 0:
                continue
            if value:
                self.least, self.most = -inf, inf
            else:
                self.weightless += 1

    def merge(self, other: "RatioSums") -> None:
        """Take in all that another has gathered."""
        if not other.n:
            return
        n = self.n + other.n
        apart_v, apart_w = other._mean_v - self._mean_v, other._mean_w - self._mean_w
        part = self.n * other.n / n
        self._vv += other._vv + apart_v * apart_v * part
        self._vw += other._vw + apart_v * apart_w * part
        self._ww += other._ww + apart_w * apart_w * part
        self._mean_v += apart_v * other.n / n
        self._mean_w += apart_w * other.n / n
        self.n, self.value, self.weight = n, self.value + other.value, self.weight + other.weight
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.heaviest = max(self.heaviest, other.heaviest)
        self.weightless += other.weightless

    def to_json(self) -> list[float | str]:
        """Return the sums as JSON, to be merged elsewhere."""
        return [json_number(getattr(self, f.name)) for f in fields(self)]

    @classmethod
    def from_json(cls, document: Sequence[float | str]) -> "RatioSums":
        """Make the same sums again of their JSON."""
        n, *numbers = document
        return cls(int(n), *map(float, numbers))

    def interval(
        self,
        scale: Scale = SHARE,
        *,
        level: float = 0.95,
        method: Literal["bounded", "t"] = "bounded",
    ) -> Interval | None:
        """Return the interval of the ratio: bounded where both ends of the scale are known.

        Where an end is open, or a draw lies outside, it is the t interval with added draws; there
        is none where all draws are then alike.
        """
        _check(level)
        if self.rate is None or not isfinite(self._squares(self.rate)) or not self.typical_weight:
            return None
        low, high = scale = self.within(scale)
        if method == "bounded" and low is not None and high is not None and low < high:
            return self._bounded(low, high, level)
        return self._widened_t(scale, level)

    @property
    def typical_weight(self) -> float:
        """Return the weight of an added draw: Σw²/Σw, the mean weight where all are equal."""
        return (self._ww + self.n * self._mean_w**2) / self.weight

    def added_draws(self, scale: Scale) -> tuple[float, ...]:
        """Return how low and how high a draw could be that was not seen; nothing if none could.

        An open end is as far as the farthest that was seen.
        """
        low, high = self.least, self.most
        low = low if scale.low is None else min(low, scale.low)
        high = high if scale.high is None else max(high, scale.high)
        return (low, high) if _apart(low, high) else ()

    def within(self, scale: Scale) -> Scale:
        """Return a scale without those ends that some draw lies beyond."""
        low, high = scale
        room = _ROUNDING * max(1.0, abs(low or 0.0), abs(high or 0.0))
        return Scale(
            None if low is None or self.least < low - room else low,
            None if high is None or self.most > high + room else high,
        )

    def _bounded(self, low: float, high: float, level: float) -> Interval:
        """Return Gaffke's bounds, each read off the Beta distribution of its mean and variance.

        The low end: one more draw at the foot of the scale, and of all weights with which the
        draws could be mixed (Dirichlet's) the 2.5 % that give least; the high end alike. With
        equal weights, and draws at the ends of the scale alone, this is Clopper and Pearson's.
        """
        rate = min(high, max(low, self.value / self.weight))
        length, room = high - low, 1e-12 * (high - low)
        lower, upper = low, high
        # What is left for the draws that were seen where the added one takes most.
        left = ((1 - level) / 2) ** (self.typical_weight / self.weight)
        if rate > low + room:
            share = self._quantile(low, (low, high), (1 - level) / 2)
            lower = low + min(rate - low, _toward(length * share, (self.most - low) * left))
        if rate < high - room:
            share = self._quantile(high, (low, high), (1 + level) / 2)
            upper = high - min(
                high - rate, _toward(length * (1 - share), (high - self.least) * left)
            )
        return lower, upper

    def _quantile(self, end: float, ends: Interval, part: float) -> float:
        """Return a quantile of the ratio with a draw at one end, as a share of the scale."""
        added, length = self._weight_beyond(end, ends), ends[1] - ends[0]
        weight, size = self.weight + added, self.weight / self.typical_weight + 1
        mean = (self.value + end * added) / weight
        squares = self._squares(mean) + (added * (end - mean)) ** 2
        share, variance = (mean - ends[0]) / length, squares / (weight * length) ** 2
        return matched_quantile(part, share, variance * size / (size + 1))

    def _weight_beyond(self, end: float, ends: Interval) -> float:
        """Return the weight of a draw added at one end: the typical one, or up to the heaviest.

        If only light draws lost marks, heavy ones that lose some may not have been seen: the more
        so, the lighter those are that did; and if none did, it may be the heaviest that do. Few
        draws cannot tell, and an added one of typical weight is large among them.
        """
        typical, squares = self.typical_weight, self._ww + self.n * self._mean_w**2
        products = self._vw + self.n * self._mean_v * self._mean_w
        other = ends[1] if end == ends[0] else ends[0]
        gone = abs(other * self.weight - self.value)
        heavy = abs(other * squares - products)
        if gone <= 1e-12 * self.weight * (ends[1] - ends[0]) or heavy <= 0:
            gone = heavy = 0.0
        return unseen_weight(self.weight, typical, self.heaviest, (gone, heavy))

    def _widened_t(self, scale: Scale, level: float) -> Interval | None:
        """Return the t interval, by linearisation, and never less than with two added draws."""
        plain, added = self._t(level), self.typical_weight
        wide = RatioSums()
        wide.merge(self)
        for end in self.added_draws(scale):
            wide.add(end * added, added)
        widened, rate = wide._t(level), self.value / self.weight
        low, high = min(rate, plain[0], widened[0]), max(rate, plain[1], widened[1])
        return scale.clip((low, high)) if _apart(low, high) else None

    def _t(self, level: float) -> Interval:
        """Return the plain t interval, which is a point where all draws are alike."""
        rate, n = self.value / self.weight, self.n - self.weightless
        if n < 2:
            return rate, rate
        error = sqrt(n / (n - 1) * self._squares(rate)) / self.weight
        half = t_quantile((1 + level) / 2, n - 1) * error
        return rate - half, rate + half

    def _squares(self, ratio: float) -> float:
        """Return Σ (value - ratio × weight)²."""
        around = self._vv - 2 * ratio * self._vw + ratio * ratio * self._ww
        apart = self._mean_v - ratio * self._mean_w
        return max(0.0, around) + self.n * apart * apart


def bounded_interval(
    values: Sequence[float],
    weights: Sequence[float],
    scale: Scale = SHARE,
    *,
    level: float = 0.95,
) -> Interval | None:
    """Return the bounded interval of Σ values / Σ weights, one entry per draw."""
    return RatioSums.of(zip(values, weights, strict=True)).interval(scale, level=level)


def bootstrap_interval(
    values: Sequence[float],
    weights: Sequence[float],
    scale: Scale = OPEN,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 20240229,
) -> Interval | None:
    """Return the percentile interval of Σ values / Σ weights over draws with replacement.

    A draw at either end of the scale is added; there is none where all are then alike.
    """
    import numpy as np

    _check(level)
    v, w = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    if len(v) != len(w):
        raise ValueError("there must be as many weights as values")
    sums = RatioSums.of(zip(values, weights, strict=True))
    if sums.rate is None:
        return None
    scale = sums.within(scale)
    v, w = v[(w > 0) | (v != 0)], w[(w > 0) | (v != 0)]
    added, ends = sums.typical_weight, sums.added_draws(scale)
    v, w = np.append(v, [end * added for end in ends]), np.append(w, [added] * len(ends))
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // len(v))
    rates = []
    for start in range(0, resamples, step):
        drawn = random.integers(0, len(v), size=(min(step, resamples - start), len(v)))
        above, below = v[drawn].sum(axis=1), w[drawn].sum(axis=1)
        rates.append(above[below > 0] / below[below > 0])
    low, high = np.quantile(np.concatenate(rates), [(1 - level) / 2, (1 + level) / 2])
    low, high = min(sums.rate, float(low)), max(sums.rate, float(high))
    return scale.clip((low, high)) if _apart(low, high) else None


def unseen_weight(
    weight: float, typical: float, heaviest: float, lost: tuple[float, float]
) -> float:
    """Return the weight of a draw that lost marks and may not have been seen.

    ``lost`` is what those that were seen lost, and the same with each by its weight once more.
    """
    if heaviest <= typical * (1 + 1e-12):
        return typical
    number = weight / typical
    usual, times = typical, heaviest / typical
    if lost[0] > 0 and lost[1] > 0:
        usual = lost[1] / lost[0]
        times = min(times, typical / usual)
    lighter = max(1.0, times) ** _part(number, _FEW_EFFECTIVE, _MANY_EFFECTIVE)
    # Where weights differ much, few heavy draws make most of what is lost.
    heavier = max(1.0, heaviest / max(typical, usual))
    return typical * float(
        max(lighter, heavier ** (0.5 * _part(number, _FEWEST_EFFECTIVE, _ENOUGH_EFFECTIVE)))
    )


def _part(number: float, few: float, many: float) -> float:
    """Return how far a number lies on the way from few to many: 0 to 1."""
    return min(1.0, max(0.0, (number - few) / (many - few)))


def _toward(matched: float, mixed: float) -> float:
    """Move a matched bound part of the way to what no mixture of the draws lies above.

    Where all draws are nearly alike, far from the end, the Beta distribution is too narrow for
    their mixture. This part of the way brings the coverage back without more width than needed.
    """
    return min(matched, 0.8 * matched + 0.2 * mixed)


def json_number(number: float) -> float | str:
    """Return a number as JSON; JSON has no infinite ones, but ``float`` reads a text as well."""
    return number if isfinite(number) else str(number)


def _apart(low: float, high: float) -> bool:
    """Tell whether two numbers differ by more than rounding, and are numbers at all."""
    return isfinite(low) and isfinite(high) and high - low > 1e-12 * max(abs(low), abs(high))


def matched_quantile(part: float, mean: float, variance: float) -> float:
    """Return a quantile of the Beta distribution that has this mean and variance."""
    most = mean * (1 - mean)
    strength = most / min(variance, 0.999999 * most) - 1
    return beta_quantile(part, mean * strength, (1 - mean) * strength)


def skewed_quantile(moments: tuple[float, float, float], p: float) -> float:
    """Return the quantile of the shifted gamma distribution with these moments.

    By Wilson and Hilferty's cube root, which is close down to the exponential distribution.
    """
    mean, deviation, skew = moments
    z = normal_quantile(p)
    if abs(skew) < 1e-5:
        return mean + deviation * z
    shape = 4 / skew**2
    turned = z if skew > 0 else -z
    cube = max(0.0, 1 - 1 / (9 * shape) + turned / (3 * sqrt(shape))) ** 3
    apart = (shape * cube - shape) / sqrt(shape)
    return mean + deviation * (apart if skew > 0 else -apart)


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t distribution with df degrees of freedom."""
    if not 0 < p < 1 or df <= 0:
        raise ValueError("a quantile needs 0 < p < 1 and df > 0")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5:
        return 0.0
    start = _expanded(normal_quantile(p), df)
    return start if df > _LARGE_DF else _solve(1 - p, df, start)


def _expanded(z: float, df: float) -> float:
    """Return the quantile as a series in 1/df; beyond a thousand df it errs by less than 1e-8."""
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / df**power for power, term in enumerate(terms))


def _solve(tail: float, df: float, start: float) -> float:
    """Find the t above which the tail lies, by Newton's steps within a shrinking bracket."""
    low, high, t = 0.0, inf, start
    scale = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * pi)
    for _ in range(200):
        beyond = t_tail(t, df)
        if beyond > tail:
            low = t
        else:
            high = t
        density = exp(scale - (df + 1) / 2 * log1p(t * t / df))
        following = t + (beyond - tail) / density if density > 0 else high
        if not low < following < high:
            following = 2 * t if high == inf else (low + high) / 2
        if abs(following - t) <= 1e-14 * abs(following):
            return following
        t = following
    return t


def t_tail(t: float, df: float) -> float:
    """Return the probability that Student's t exceeds a positive t."""
    x = df / (df + t * t)
    if x < (df / 2 + 1) / (df / 2 + 2.5):
        return incomplete_beta(x, df / 2, 0.5, 1 - x) / 2
    return (1 - incomplete_beta(t * t / (df + t * t), 0.5, df / 2, x)) / 2


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError("a level lies between 0 and 1")
