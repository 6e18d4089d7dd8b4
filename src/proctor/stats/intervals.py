"""Intervals for rates: Student's t, bootstrap and Wilson, each case counted as one draw."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

Interval = tuple[float, float]

_CELLS = 2_000_000
_LARGE_DF = 1_000.0


@dataclass(slots=True)
class RatioSums:
    """Running Σ values / Σ weights over cases, with what its interval needs.

    The second moments are kept around the running means, so that they lose nothing to rounding
    however many cases there are.
    """

    n: int = 0
    value: float = 0.0
    weight: float = 0.0
    _mean_v: float = 0.0
    _mean_w: float = 0.0
    _vv: float = 0.0
    _vw: float = 0.0
    _ww: float = 0.0

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
        """Take in one case."""
        self.n += 1
        self.value += value
        self.weight += weight
        before_v, before_w = value - self._mean_v, weight - self._mean_w
        self._mean_v += before_v / self.n
        self._mean_w += before_w / self.n
        after_v, after_w = value - self._mean_v, weight - self._mean_w
        self._vv += before_v * after_v
        self._vw += before_v * after_w
        self._ww += before_w * after_w

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

    def interval(self, level: float = 0.95) -> Interval | None:
        """Return the t interval of the ratio, by linearisation; none for fewer than two cases."""
        _check(level)
        rate = self.rate
        if rate is None or self.n < 2:
            return None
        squares = max(0.0, self._vv - 2 * rate * self._vw + rate * rate * self._ww)
        error = sqrt(self.n / (self.n - 1) * squares) / self.weight
        half = t_quantile((1 + level) / 2, self.n - 1) * error
        return rate - half, rate + half


def t_interval(
    values: Sequence[float], weights: Sequence[float], level: float = 0.95
) -> Interval | None:
    """Return the t interval of Σ values / Σ weights, one entry per case; none for n < 2."""
    return RatioSums.of(zip(values, weights, strict=True)).interval(level)


def bootstrap_interval(
    values: Sequence[float],
    weights: Sequence[float],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 20240229,
) -> Interval | None:
    """Return the percentile interval of Σ values / Σ weights over cases drawn with replacement."""
    import numpy as np

    _check(level)
    v, w = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    if len(v) != len(w):
        raise ValueError("there must be as many weights as values")
    if len(v) < 2 or w.sum() <= 0:
        return None
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // len(v))
    rates = []
    for start in range(0, resamples, step):
        drawn = random.integers(0, len(v), size=(min(step, resamples - start), len(v)))
        above, below = v[drawn].sum(axis=1), w[drawn].sum(axis=1)
        rates.append(above[below > 0] / below[below > 0])
    low, high = np.quantile(np.concatenate(rates), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def wilson_interval(hits: float, n: int, level: float = 0.95) -> Interval | None:
    """Return Wilson's interval for a share of hits; none where nothing was counted."""
    _check(level)
    if n <= 0:
        return None
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    middle = (hits + z2 / 2) / (n + z2)
    half = sqrt(z2 * (hits * (n - hits) / n + z2 / 4)) / (n + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


def clip01(interval: Interval | None) -> Interval | None:
    """Cut an interval to [0, 1], for rates that cannot leave it."""
    if interval is None:
        return None
    low, high = (min(1.0, max(0.0, end)) for end in interval)
    return low, high


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t distribution with df degrees of freedom."""
    if not 0 < p < 1 or df <= 0:
        raise ValueError("a quantile needs 0 < p < 1 and df > 0")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5:
        return 0.0
    start = _expanded(NormalDist().inv_cdf(p), df)
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
        return _beta(x, df / 2, 0.5, 1 - x) / 2
    return (1 - _beta(t * t / (df + t * t), 0.5, df / 2, x)) / 2


def _beta(x: float, a: float, b: float, rest: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction; rest is 1 - x."""
    tiny = 1e-300
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest)) / a
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 1000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + factor * d, 1 + factor / c
            d, c = 1 / (d if abs(d) > tiny else tiny), c if abs(c) > tiny else tiny
            fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * fraction


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError("a level lies between 0 and 1")
