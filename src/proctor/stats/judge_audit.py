"""What repeated and altered rulings say of a judge: how often it flips, how far it is moved."""

from collections.abc import Iterable, Sequence
from itertools import combinations, repeat
from math import sqrt
from statistics import fmean, variance

from proctor.core.audit import Estimated
from proctor.stats.clusters import ClusterSums
from proctor.stats.intervals import Scale

Rulings = Sequence[float]
"""What one judge gave to one answer, again and again, from 0 to 1."""
Clusters = Sequence[str]
"""The cluster of each case, in their order; those with an empty name, or without any, have none."""
_EQUAL = 1e-9


def flip_rate(cases: Iterable[Sequence[Rulings]], clusters: Clusters = ()) -> Estimated | None:
    """Return how often two rulings on the same answer differ; a case, or a cluster, is one draw."""
    shares: list[float | None] = []
    for scores in cases:
        pairs = [pair for rulings in scores for pair in combinations(rulings, 2)]
        differ = [abs(one - other) > _EQUAL for one, other in pairs]
        shares.append(fmean(differ) if differ else None)
    return mean_of(shares, Scale(0.0, 1.0), clusters)


def flip_chance(rate: Estimated | None) -> Estimated | None:
    """Return how often one ruling is thrown over, where two differ at such a rate.

    Where each of two verdicts is turned around with chance f, two rulings differ 2f(1 - f) times.
    """
    if rate is None:
        return None

    def chance(share: float) -> float:
        return (1 - sqrt(max(0.0, 1 - 2 * share))) / 2

    ends = rate.interval
    interval = None if ends is None else (chance(ends[0]), chance(ends[1]))
    return Estimated(value=chance(rate.value), interval=interval, n=rate.n)


def noise_variance(
    cases: Iterable[Sequence[tuple[float, Rulings]]], clusters: Clusters = ()
) -> Estimated | None:
    """Return the variance that chance in rulings gives the value of a case.

    Of each case its judged scores: the part of the case's value that it decides, and its rulings.
    A case without any has no such variance. Of rulings from 0 to 1 it is at most a half.
    """
    sums = [
        sum(part**2 * variance(rulings) for part, rulings in scores if len(rulings) > 1)
        for scores in cases
    ]
    return mean_of(sums, Scale(0.0, max([0.5, *sums])), clusters)


def shift(
    cases: Iterable[Sequence[tuple[float, float]]], reach: float = 1.0, clusters: Clusters = ()
) -> Estimated | None:
    """Return the mean difference of pairs (asked so, asked otherwise), each case as one draw.

    All cases of a cluster are one draw together.
    """
    means = [fmean(one - other for one, other in pairs) if pairs else None for pairs in cases]
    return mean_of(means, Scale(-reach, reach), clusters)


def mean_of(
    values: Sequence[float | None], scale: Scale, clusters: Clusters = ()
) -> Estimated | None:
    """Return a mean on a scale with its interval, over cases that have a value; none of nothing."""
    sums, numbers = ClusterSums(), []
    for value, cluster in zip(values, clusters or repeat(""), strict=bool(clusters)):
        if value is not None:
            sums.add(value, 1.0, cluster)
            numbers.append(value)
    if not numbers:
        return None
    return Estimated(value=fmean(numbers), interval=sums.interval(scale), n=len(numbers))
