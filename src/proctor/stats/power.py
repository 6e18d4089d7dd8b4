"""How large a difference so many cases can show, and how many cases show a difference."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, isfinite, lgamma, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from proctor.stats.intervals import t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

POWER = 0.8
MOST_CASES = 10_000_000
"""More cases than this are as good as never."""
FEWEST = 6
"""With fewer cases no outcome at all tells two runs apart."""
MID_SHARE = 0.25
"""The share of unchanged cases from which on p counts the seen outcome by half (mid-p).

Where nearly every case changes, their number is as good as fixed, and mid-p errs too often.
"""
_EXACT = 60.0
"""Up to so many changed cases are expected, power is summed up exactly."""
_REACH = 1.2816
"""Ends of a range that holds the true difference in four of five tries, in standard errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known of the changes of cases, to say how many of them would be enough."""

    n: int
    """How many draws there are: cases, or clusters of these."""
    difference: float
    error: float
    """The standard error of the difference."""
    spread: float
    """The standard deviation of the differences by case."""
    changed: float
    """The share of cases that changed."""
    binary: bool
    """Whether all changes are between right and wrong, and all cases count alike."""
    bounded: bool = True
    each: float = 1.0
    """How many cases a draw has."""

    def needed(self, level: float = 0.95) -> int | None:
        """Return how many cases tell this difference apart in four of five tries; none: never."""
        return self._needed(self.difference, level)

    def needed_range(self, level: float = 0.95) -> tuple[int | None, int | None]:
        """Return the same for a difference as large, and as small, as it may well be."""
        size = abs(self.difference)
        return (
            self._needed(size + _REACH * self.error, level),
            self._needed(max(0.0, size - _REACH * self.error), level),
        )

    def detectable(self, level: float = 0.95) -> float | None:
        """Return the difference that as many cases tell apart in four of five tries; none: none."""
        if self.n < FEWEST:
            return None
        if self.binary:
            return detectable_difference(self.n, self.changed, 1 - level)
        reach = t_quantile((1 + level) / 2, self.n - 1) + t_quantile(POWER, self.n - 1)
        difference = reach * self.spread / sqrt(self.n)
        return None if self.bounded and difference > 1 else difference

    def _needed(self, difference: float, level: float) -> int | None:
        if self.n < 2:
            return None
        if self.binary:
            draws = pairs_needed(self.changed, abs(difference), 1 - level)
        else:
            draws = cases_needed(difference, self.spread, level=level)
        return None if draws is None else ceil(draws * self.each)


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


@lru_cache(maxsize=256)
def pairs_needed(
    changed: float, difference: float, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return how many cases of right and wrong tell a difference apart; none means: never."""
    if difference <= 0:
        return None

    def enough(n: float) -> bool:
        return power_of_pairs(int(n), changed, difference, alpha) >= power

    high = FEWEST
    while not enough(high):
        high *= 2
        if high > MOST_CASES:
            return None
    return ceil(_least(enough, high // 2, high, 0.5))


def detectable_difference(
    n: int, changed: float, alpha: float = 0.05, power: float = POWER
) -> float | None:
    """Return the difference that n cases of right and wrong tell apart; none where none is."""

    def enough(difference: float) -> bool:
        return power_of_pairs(n, changed, difference, alpha) >= power

    return _least(enough, 0.0, 1.0, 1e-7) if enough(1.0) else None


def power_of_pairs(n: int, changed: float, difference: float, alpha: float = 0.05) -> float:
    """Return how often the test says that the second is better, by the size of the difference.

    A share ``changed`` of the cases changes, or as many as the difference takes.
    """
    import numpy as np

    changed = min(1.0, max(changed, difference))
    if n * changed > _EXACT:
        spread = sqrt(max(1e-12, changed - difference**2))
        reach = -NormalDist().inv_cdf(alpha / 2) * sqrt(changed)
        return NormalDist().cdf((difference * sqrt(n) - reach) / spread)
    most = min(n, int(n * changed + 10 * sqrt(n * changed) + 10))
    number = np.arange(most + 1)
    told = np.where(
        (n - number[:, None]) >= MID_SHARE * n,
        _told(most, alpha, True),
        _told(most, alpha, False),
    )
    chance = np.exp(_log_binomial(n, number, changed))
    better = (changed + difference) / 2 / changed
    within = np.exp(_log_binomials(most, better))
    return float((chance[:, None] * within * told).sum())


@lru_cache(maxsize=64)
def _told(most: int, alpha: float, mid: bool) -> "NDArray[np.bool_]":
    """Tell for each number of changes, and of those for the better, whether the test says so."""
    import numpy as np

    chances = np.exp(_log_binomials(most, 0.5))
    beyond = np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
    p = 2 * beyond - (chances if mid else 0.0)
    number = np.arange(most + 1)
    told: NDArray[np.bool_] = (p < alpha) & (2 * number[None, :] > number[:, None])
    return told


def _log_binomials(most: int, share: float) -> "Numbers":
    """Return the log chance of each number of hits (columns) among 0 to ``most`` (rows)."""
    import numpy as np

    logs = np.array([lgamma(k + 1) for k in range(most + 1)])
    m, x = np.arange(most + 1)[:, None], np.arange(most + 1)[None, :]
    rest = np.maximum(m - x, 0)
    log_chances = (
        logs[m] - logs[x] - logs[rest] + _times_log(x, share) + _times_log(rest, 1 - share)
    )
    table: Numbers = np.where(x <= m, log_chances, -np.inf)
    return table


def _log_binomial(n: int, hits: "NDArray[np.int64]", share: float) -> "Numbers":
    import numpy as np

    ways = np.array([lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in hits.tolist()])
    log_chances: Numbers = ways + _times_log(hits, share) + _times_log(n - hits, 1 - share)
    return log_chances


def _times_log(number: "NDArray[np.int64]", share: float) -> "Numbers":
    """Return number x log(share), 0 where the number is."""
    import numpy as np

    log = float(np.log(share)) if share > 0 else -np.inf
    products: Numbers = np.where(number == 0, 0.0, np.maximum(number, 1).astype(np.float64) * log)
    return products


def _least(enough: Callable[[float], bool], low: float, high: float, near: float) -> float:
    """Return the least number that is enough, between one that is not and one that is."""
    while high - low > near:
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
