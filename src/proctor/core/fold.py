"""How the values of several attempts at a case fold into one."""

import re
from collections.abc import Sequence
from math import fsum

from proctor.core.case_value import Value, ValueStatus
from proctor.errors import UsageError
from proctor.records import dataclass

MODES = ("avg", "max", "min", "median", "avg_max_N")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Way to fold attempts: buckets, one value taken of each, and the average of those."""

    mode: str
    pick: str
    """Which value of a bucket counts: ``max``, ``min`` or ``median``; ``avg`` is that of all."""
    size: int | None
    """How many consecutive attempts make a bucket; none means all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The value of a case over its attempts."""

    status: ValueStatus
    value: float | None
    low: float
    high: float
    buckets: tuple[float | None, ...] = ()
    """One value per bucket; none where no attempt of the bucket could be scored."""
    chosen: tuple[tuple[int, ...], ...] = ()
    """Per bucket, the positions of the attempts whose value it is."""
    least: float = 0.0
    """The worst that the case can be worth, its penalties counted."""
    most: float | None = None
    """The best that it can be worth; none for the full score."""

    @property
    def spread(self) -> float:
        """Return the sample standard deviation over buckets."""
        return spread(self.buckets)


def parse_fold(mode: str) -> Fold:
    """Read a fold by its name, or say which names there are."""
    if mode in ("max", "min", "median"):
        return Fold(mode=mode, pick=mode, size=None)
    if mode in ("avg", "mean"):
        return Fold(mode="avg", pick="avg", size=1)
    if (match := re.fullmatch(r"avg_max_([1-9]\d{0,5})", mode)) is not None:
        return Fold(mode=mode, pick="max", size=int(match[1]))
    raise UsageError(f"unknown way to fold attempts: {mode!r} (use one of {', '.join(MODES)})")


def fold(how: Fold, values: Sequence[Value]) -> Folded:
    """Fold the attempts of one case, leaving out what could not be scored."""
    if not values:
        raise ValueError("a case without attempts has nothing to fold")
    if len(values) == 1 and values[0].status is not ValueStatus.ERROR:
        return _alone(how.pick, values[0])
    size = how.size or len(values)
    buckets: list[float | None] = []
    chosen: list[tuple[int, ...]] = []
    lows, highs = [], []
    for start in range(0, len(values), size):
        places = range(start, min(start + size, len(values)))
        scored_attempts = [
            (v, values[i].points, i) for i in places if (v := values[i].value) is not None
        ]
        buckets.append(
            _pick(how.pick, [v for v, _, _ in scored_attempts]) if scored_attempts else None
        )
        chosen.append(_chosen(how.pick, scored_attempts))
        reached = [values[i] for i in places if values[i].status is not ValueStatus.ERROR]
        if reached:
            lows.append(_pick(how.pick, [value.low for value in reached]))
            highs.append(_pick(how.pick, [value.high for value in reached]))
    scored = [bucket for bucket in buckets if bucket is not None]
    return Folded(
        status=_status(values),
        value=mean(scored) if scored else None,
        low=mean(lows) if lows else min(value.low for value in values),
        high=mean(highs) if highs else max(value.high for value in values),
        buckets=tuple(buckets),
        chosen=tuple(chosen),
        least=min(value.least for value in values),
        most=max((value.most for value in values if value.most is not None), default=None),
    )


def _alone(pick: str, only: Value) -> Folded:
    """Fold one attempt, as most cases have: what it is worth is what the case is worth."""
    value = only.value
    buckets: tuple[float | None, ...] = (None,)
    chosen: tuple[tuple[int, ...], ...] = ((),)
    if value is not None:
        # As a mean of it: a number with a point, and never a negative zero.
        buckets, chosen = (0.0 + value if pick == "avg" else value,), ((0,),)
    return Folded(
        status=only.status,
        value=None if value is None else 0.0 + value,
        low=0.0 + only.low,
        high=0.0 + only.high,
        buckets=buckets,
        chosen=chosen,
        least=only.least,
        most=only.most,
    )


def mean(values: Sequence[float]) -> float:
    """Return the mean of some numbers, rounded once: what ``statistics.fmean`` returns, sooner."""
    return fsum(values) / len(values)


def is_ragged(how: Fold, values: Sequence[Value]) -> bool:
    """Tell whether some bucket has fewer attempts that count than it should: its best is lower."""
    if how.size is None or how.size == 1:
        return False
    return len(values) % how.size > 0 or any(value.value is None for value in values)


def spread(buckets: Sequence[float | None]) -> float:
    """Return the sample standard deviation of those values that are known, 0 for fewer than two."""
    if len(buckets) < 2:
        return 0.0
    numbers = [bucket for bucket in buckets if bucket is not None]
    if len(numbers) < 2:
        return 0.0
    from statistics import stdev

    return stdev(numbers)


def _pick(pick: str, values: Sequence[float]) -> float:
    if pick == "max":
        return max(values)
    if pick == "min":
        return min(values)
    if pick != "median":
        return mean(values)
    from statistics import median

    return median(values)


def _chosen(pick: str, scored: Sequence[tuple[float, float, int]]) -> tuple[int, ...]:
    """Return the attempt a bucket's value came from, or all of them.

    Limits make attempts equal in value that are not equal in points; of these the one with more
    points stands for the bucket (with fewer where the least value counts), and of equals the later.
    """
    if not scored:
        return ()
    if pick == "max":
        return (max(scored)[2],)
    if pick == "min":
        return (min(scored, key=lambda row: (row[0], row[1], -row[2]))[2],)
    return tuple(index for _, _, index in scored)


def _status(values: Sequence[Value]) -> ValueStatus:
    """Return the best that any attempt came to: one scored attempt makes a scored case."""
    statuses = {value.status for value in values}
    order = (
        ValueStatus.SCORED,
        ValueStatus.UNANSWERED,
        ValueStatus.SHOWN,
        ValueStatus.UNSCORED,
        ValueStatus.ERROR,
    )
    return next(status for status in order if status in statuses)
