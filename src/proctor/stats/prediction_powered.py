"""The score that a judge's marks come to once people's marks on some cases have set them right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from proctor.stats.intervals import Interval, clip01, t_quantile

FEWEST = 2
_MADE_UP = ((1.0, 0.0), (0.0, 1.0))
"""A mark that was too kind and one that was too strict: few labels without one prove little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A mean by the judge alone, and the corrected mean."""

    raw: float | None
    """The mean of the judge's marks over all cases."""
    value: float | None
    interval: Interval | None
    bias: float | None
    """How much more than people the judge gave where both gave marks."""
    trust: float
    """How much of the judge's marks on the other cases was used: from 0, none, to 1, all."""
    labelled: int
    cases: int


def corrected(
    pairs: Sequence[tuple[float, float]], rest: Sequence[float], level: float = 0.95
) -> Corrected:
    """Correct the mean of a judge's marks by prediction-powered inference.

    ``pairs`` are the marks of judge and person on the cases that a person marked, ``rest`` the
    judge's marks on all others. The person's mean is moved by how much the others differ from the
    marked ones in the judge's eyes, to the degree to which judge and person go together: with a
    judge that says nothing the labels alone are left. The interval is wide enough for one label
    each way that contradicts the judge more than were found.
    """
    judge, person = [one for one, _ in pairs], [own for _, own in pairs]
    everything = [*judge, *rest]
    raw = fmean(everything) if everything else None
    n = len(pairs)
    if n < FEWEST:
        return Corrected(
            raw=raw, value=None, interval=None, bias=None, trust=0.0, labelled=n,
            cases=len(everything),
        )  # fmt: skip
    trust = _trust(pairs, rest)
    moved = trust * (fmean(rest) - fmean(judge)) if rest else 0.0
    left = _variance(own - trust * one for one, own in (*pairs, *_MADE_UP)) / n
    spread = left + (trust**2 * _variance(rest) / len(rest) if rest else 0.0)
    value = fmean(person) + moved
    half = t_quantile((1 + level) / 2, n - 1) * sqrt(spread)
    return Corrected(
        raw=raw,
        value=min(1.0, max(0.0, value)),
        interval=clip01((value - half, value + half)),
        bias=fmean(one - own for one, own in pairs),
        trust=trust,
        labelled=n,
        cases=len(everything),
    )


def _trust(pairs: Sequence[tuple[float, float]], rest: Sequence[float]) -> float:
    """Return the share of the judge's marks that makes the result surest."""
    if not rest:
        return 0.0
    judge = _variance([*(one for one, _ in pairs), *rest])
    if judge <= 0:
        return 0.0
    together = _covariance(pairs) / ((1 + len(pairs) / len(rest)) * judge)
    return min(1.0, max(0.0, together))


def _variance(values: Iterable[float]) -> float:
    numbers = list(values)
    return _covariance([(value, value) for value in numbers])


def _covariance(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the covariance of a sample; nothing varies where there is only one."""
    if len(pairs) < FEWEST:
        return 0.0
    one, other = (fmean(side) for side in zip(*pairs, strict=True))
    return sum((a - one) * (b - other) for a, b in pairs) / (len(pairs) - 1)
