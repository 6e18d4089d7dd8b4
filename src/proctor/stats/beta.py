"""The Beta distribution: how much of it lies below a number, and its quantiles."""

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt

from proctor.stats.normal import normal_quantile

_NORMAL = 2_000.0
"""From this size of both parameters on a series around the normal distribution is as good."""
_LARGE = 1e6
"""From this parameter on differences of lgamma lose digits, and Stirling's series does not."""


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return how much of a Beta distribution lies below x."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x < (a + 1) / (a + b + 2):
        return incomplete_beta(x, a, b, 1 - x)
    return 1 - incomplete_beta(1 - x, b, a, x)


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the number below which the part p of a Beta distribution lies."""
    if not 0 < p < 1 or not (a > 0 and b > 0):
        raise ValueError("a quantile needs 0 < p < 1 and parameters above 0")
    if min(a, b) > _NORMAL:
        return _expanded(normal_quantile(p), a, b)
    # The smaller parameter first: its side has the finer steps of floating-point numbers.
    return _solve(p, a, b) if a <= b else 1 - _solve(1 - p, b, a)


def incomplete_beta(x: float, a: float, b: float, rest: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction; rest is 1 - x."""
    tiny = 1e-300
    front = exp(-_log_beta(a, b) + a * log(x) + b * log(rest)) / a
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


def _solve(p: float, a: float, b: float) -> float:
    """Find the quantile by Newton's steps within a shrinking bracket."""
    low, high, x = 0.0, 1.0, a / (a + b)
    scale = -_log_beta(a, b)
    for _ in range(200):
        beyond = beta_cdf(x, a, b) - p
        if beyond > 0:
            high = x
        else:
            low = x
        slope = scale + (a - 1) * log(x) + (b - 1) * log1p(-x) if 0 < x < 1 else -inf
        following = x - beyond * exp(-slope) if -700 < slope < 700 else -1.0
        if not low < following < high:
            # In a long thin tail halves come to the point in far fewer steps on a log scale.
            following = sqrt(low * high) if low > 0 else high / 16
        if abs(following - x) <= 1e-14 * x:
            return following
        x = following
    return x


def _expanded(z: float, a: float, b: float) -> float:
    """Return the quantile as Cornish and Fisher's series around the normal one."""
    size = a + b
    mean, spread = a / size, sqrt(a * b / (size + 1)) / size
    skew = 2 * (b - a) * sqrt(size + 1) / ((size + 2) * sqrt(a * b))
    tails = 6 * ((a - b) ** 2 * (size + 1) - a * b * (size + 2))
    tails /= a * b * (size + 2) * (size + 3)
    steps = (
        z,
        (z**2 - 1) * skew / 6,
        (z**3 - 3 * z) * tails / 24,
        -(2 * z**3 - 5 * z) * skew**2 / 36,
    )
    return min(1.0, max(0.0, mean + spread * sum(steps)))


def _log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function, of large parameters as well."""
    a, b = min(a, b), max(a, b)
    if b < _LARGE:
        return lgamma(a) + lgamma(b) - lgamma(a + b)
    # lgamma(b) - lgamma(a + b) by Stirling's series, in which the large parts cancel exactly.
    small = 1 / (12 * b) - 1 / (12 * (a + b))
    return lgamma(a) + a - a * log(a + b) - (b - 0.5) * log1p(a / b) + small
