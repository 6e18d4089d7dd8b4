"""The score that a judge's marks come to once people's marks on some cases have set them right."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, lgamma, sqrt
from statistics import NormalDist, fmean

from proctor.stats.intervals import SHARE, Interval, skewed_quantile

FEWEST = 2
UNLIKE = 0.01
"""Below this p the cases that people marked are not like the others in the judge's eyes."""
ADDED = 0.85
"""How much of a case is added at either end of the scale, so that no errors of the judge, or few,
are not taken for none at all: in between Jeffreys' half and the whole case of exact bounds."""


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
    unlike: float | None = None
    """How likely so large a difference in the judge's mean would be, between the marked cases and
    the others, if they had been picked at random; none where there is nothing to compare."""

    @property
    def is_picked(self) -> bool:
        """Tell whether the marked cases are so unlike the others that nothing follows from them."""
        return self.unlike is not None and self.unlike < UNLIKE


def corrected(
    pairs: Sequence[tuple[float, float]],
    rest: Sequence[float],
    level: float = 0.95,
    *,
    clusters: Sequence[Hashable] | None = None,
    rest_clusters: Sequence[Hashable] | None = None,
) -> Corrected:
    """Correct the mean of a judge's marks by prediction-powered inference.

    ``pairs`` are the marks of judge and person on the cases that a person marked, ``rest`` the
    judge's marks on all others. The person's mean is moved by how much the others differ from the
    marked ones in the judge's eyes, to the degree to which judge and person go together: with a
    judge that says nothing the labels alone are left. The interval is never empty, however few
    labels there are and however well they agree. All marks lie between 0 and 1. Cases of one
    cluster are one draw; without clusters each case is one.
    """
    judge, person = [one for one, _ in pairs], [own for _, own in pairs]
    everything = [*judge, *rest]
    raw = fmean(everything) if everything else None
    n, unlike = len(pairs), difference_p(judge, rest)
    if n < FEWEST:
        return Corrected(
            raw=raw, value=None, interval=None, bias=None, trust=0.0, labelled=n,
            cases=len(everything), unlike=unlike,
        )  # fmt: skip
    trust = _trust(pairs, rest)
    value = fmean(person) + (trust * (fmean(rest) - fmean(judge)) if rest else 0.0)
    left = [own - trust * one for one, own in pairs]
    low, high = _interval(
        _draws(zip(left, _each(clusters, pairs), strict=True)),
        _draws(zip(rest, _each(rest_clusters, rest), strict=True)),
        trust,
        level,
    )
    return Corrected(
        raw=raw,
        value=min(1.0, max(0.0, value)),
        interval=SHARE.clip((min(low, value), max(high, value))),
        bias=fmean(one - own for one, own in pairs),
        trust=trust,
        labelled=n,
        cases=len(everything),
        unlike=unlike,
    )


def _interval(
    left: Sequence[tuple[float, float]],
    rest: Sequence[tuple[float, float]],
    trust: float,
    level: float,
) -> Interval:
    """Put together how far the marked cases leave it open, and how far the others do.

    What a person gave, less the part of the judge's mark that is trusted, lies between -trust and
    1. Part of a case is added at either end; mean, variance and skewness of all mixtures of these
    cases (Dirichlet's), and of the normal mean of the others, make a shifted gamma distribution.
    """
    number = sum(size for _, size in left)
    heavy = sum(size**2 for _, size in left) / number
    weight = number + 2 * ADDED * heavy
    mean = (sum(total for total, _ in left) + ADDED * heavy * (1 - trust)) / weight
    apart = [total - size * mean for total, size in left]
    added = [heavy * (end - mean) for end in (1.0, -trust)]
    squares, cubes = (
        sum(one**power for one in apart) + ADDED * sum(one**power for one in added)
        for power in (2, 3)
    )
    variance = squares / weight**2 + trust**2 * _mean_variance(rest)
    others = sum(total for total, _ in rest) / sum(size for _, size in rest) if rest else 0.0
    moments = (mean + trust * others, sqrt(variance), 2 * cubes / weight**3 / variance**1.5)
    low, high = (skewed_quantile(moments, (1 + side * level) / 2) for side in (-1, 1))
    return low, high


def _each(clusters: Sequence[Hashable] | None, cases: Sequence[object]) -> Sequence[Hashable]:
    """Return the cluster of each case; without any, each case is one of its own."""
    return range(len(cases)) if clusters is None else clusters


def _draws(values: Iterable[tuple[float, Hashable]]) -> list[tuple[float, float]]:
    """Return the sum over each cluster, and how many cases it has."""
    sums: dict[Hashable, tuple[float, float]] = {}
    for value, group in values:
        total, number = sums.get(group, (0.0, 0.0))
        sums[group] = (total + value, number + 1.0)
    return list(sums.values())


def _mean_variance(draws: Sequence[tuple[float, float]]) -> float:
    """Return the variance of the mean over clusters of different sizes; 0 of fewer than two."""
    if len(draws) < FEWEST:
        return 0.0
    number = sum(size for _, size in draws)
    mean = sum(total for total, _ in draws) / number
    squares = sum((total - size * mean) ** 2 for total, size in draws)
    return len(draws) / (len(draws) - 1) * squares / number**2


def difference_p(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return how likely two samples of one whole differ in their means as much as these do.

    Exact, with half of what is just as far (mid-p), where every value is one of two; else by the
    normal distribution of a mean that is drawn without replacement.
    """
    values = sorted({*one, *other})
    if not one or not other or len(values) < 2:
        return None
    if len(values) == 2:
        most = values[1]
        return _hypergeometric(one.count(most), len(one), other.count(most), len(other))
    everything = [*one, *other]
    spread = _variance(everything) * (1 / len(one) + 1 / len(other))
    return 2 * NormalDist().cdf(-abs(fmean(one) - fmean(other)) / sqrt(spread))


def _hypergeometric(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Return the two-sided mid-p of a table of two by two, with its margins as they are."""
    all_hits, total = hits + other_hits, n + other_n

    def likely(count: int) -> float:
        return exp(_ways(all_hits, count) + _ways(total - all_hits, n - count) - _ways(total, n))

    seen = likely(hits)
    p = 0.0
    for count in range(max(0, n - (total - all_hits)), min(n, all_hits) + 1):
        chance = likely(count)
        if chance < seen * (1 - 1e-9):
            p += chance
        elif chance <= seen * (1 + 1e-9):
            p += chance / 2
    return min(1.0, p)


def _ways(n: int, k: int) -> float:
    """Return the logarithm of how many ways there are to pick k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _trust(pairs: Sequence[tuple[float, float]], rest: Sequence[float]) -> float:
    """Return the share of the judge's marks that makes the result surest.

    That is the slope of people's marks over the judge's, less where there are few other cases. The
    judge's marks vary on the marked cases as they do there, and on one case more as on all: marks
    that chance to be alike do not make the slope run away.
    """
    if not rest:
        return 0.0
    judge = [one for one, _ in pairs]
    varied = (len(pairs) - 1) * _variance(judge) + _variance([*judge, *rest])
    if varied <= 0:
        return 0.0
    together = (len(pairs) - 1) * _covariance(pairs) / ((1 + len(pairs) / len(rest)) * varied)
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
