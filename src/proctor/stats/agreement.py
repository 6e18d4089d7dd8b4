"""Agreement: Krippendorff's alpha among many judges, Cohen's kappa between two."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import sqrt
from typing import Any, Literal, Protocol

from proctor.stats.intervals import t_quantile

Level = Literal["nominal", "ordinal", "interval"]
Unit = Sequence[float | None]
_MOST_VALUES = 60
_ROUNDING = 1e-9


@dataclass
class Coincidences:
    """Counts of how often two judges gave the same thing two values."""

    pairs: dict[tuple[float, float], float] = field(default_factory=dict)
    units: int = 0
    """Things that at least two judged."""

    @classmethod
    def of(cls, units: Iterable[Unit]) -> "Coincidences":
        """Count over all things; of each, what its judges said, with none for no judgement."""
        counted = cls()
        for unit in units:
            counted.add(unit)
        return counted

    def add(self, unit: Unit) -> None:
        """Take in what the judges said of one thing; a lone judgement says nothing."""
        judgements = Counter(value for value in unit if value is not None)
        number = judgements.total()
        if number < 2:
            return
        self.units += 1
        for one, first in judgements.items():
            for other, second in judgements.items():
                both = first * (second - 1) if one == other else first * second
                if both:
                    self._count((one, other), both / (number - 1))

    def without(self, other: "Coincidences") -> "Coincidences":
        """Return what is left when some of the things are taken out."""
        rest = Coincidences(dict(self.pairs), self.units - other.units)
        for pair, count in other.pairs.items():
            rest._count(pair, -count)
            if rest.pairs[pair] < _ROUNDING:
                del rest.pairs[pair]
        return rest

    def merge(self, other: "Coincidences") -> None:
        """Take in all that another has counted."""
        for pair, count in other.pairs.items():
            self._count(pair, count)
        self.units += other.units

    def to_json(self) -> list[Any]:
        """Return the counts as JSON, to be merged elsewhere."""
        return [self.units, [[*pair, count] for pair, count in self.pairs.items()]]

    @classmethod
    def from_json(cls, document: Sequence[Any]) -> "Coincidences":
        """Make the same counts again of their JSON."""
        units, pairs = document
        return cls({(one, other): count for one, other, count in pairs}, units)

    def alpha(self, level: Level = "nominal") -> float | None:
        """Return alpha; none where nobody judged the same thing, or all said the same always."""
        totals = self.totals()
        number = sum(totals.values())
        distance = _Distance(totals, level)
        observed = sum(count * distance(one, other) for (one, other), count in self.pairs.items())
        expected = sum(
            totals[one] * totals[other] * distance(one, other) for one in totals for other in totals
        )
        return 1 - (number - 1) * observed / expected if expected > 0 else None

    def totals(self) -> dict[float, float]:
        """Return how often each value was given, as far as others judged the same."""
        totals: dict[float, float] = {}
        for (one, _), count in self.pairs.items():
            totals[one] = totals.get(one, 0.0) + count
        return totals

    def _count(self, pair: tuple[float, float], times: float) -> None:
        self.pairs[pair] = self.pairs.get(pair, 0.0) + times


def alpha_interval(
    clusters: Sequence[Coincidences], level: Level = "nominal", sure: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval of alpha: a jackknife over clusters, four of them made up.

    The four hold one unit of each kind that two values allow: all said the one, all the other, and
    two in which the judges differ. Without them the interval shrinks to a point where few things
    were judged and nearly all of them alike. None for fewer than two clusters, or where too many
    different values make it slow.
    """
    whole = Coincidences()
    for cluster in clusters:
        whole.merge(cluster)
    values = whole.totals()
    alpha = whole.alpha(level)
    if alpha is None or len(clusters) < 2 or len(values) > _MOST_VALUES:
        return None
    one, other = sorted(sorted(values, key=lambda value: -values[value])[:2])
    # A made-up cluster has as many pairs as a real one has on average.
    size = sum(values.values()) / len(clusters)
    made_up = [
        Coincidences({pair: size * share for pair, share in pairs.items()}, 1)
        for pairs in (
            {(one, one): 1.0},
            {(other, other): 1.0},
            {(one, other): 0.5, (other, one): 0.5},
            {(one, other): 0.5, (other, one): 0.5},
        )
    ]
    return _jackknife(
        [(cluster, frozenset(cluster.pairs.items())) for cluster in clusters],
        made_up,
        lambda counted: counted.alpha(level),
        alpha,
        sure,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Agreement of two judges beyond chance."""

    value: float | None
    """None where there is nothing to compare, or where both said one and the same always."""
    interval: tuple[float, float] | None
    agreed: int
    n: int
    clusters: int = 0
    """How many cases, or other groups of judgements that belong together, it rests on."""


@dataclass
class PairCounts:
    """Counts of the values that two judges gave to the same things, the first judge's first."""

    pairs: dict[tuple[float, float], float] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, float]]) -> "PairCounts":
        """Count pairs."""
        return cls(dict(Counter(pairs)))

    def merge(self, other: "PairCounts") -> None:
        """Take in all that another has counted."""
        for pair, count in other.pairs.items():
            self.pairs[pair] = self.pairs.get(pair, 0.0) + count

    def without(self, other: "PairCounts") -> "PairCounts":
        """Return what is left when some of the things are taken out."""
        rest = dict(self.pairs)
        for pair, count in other.pairs.items():
            rest[pair] = rest.get(pair, 0.0) - count
            if rest[pair] < _ROUNDING:
                del rest[pair]
        return PairCounts(rest)

    def kappa(self, level: Level = "nominal") -> float | None:
        """Return Cohen's kappa; by squared distance where values are numbers on a scale."""
        firsts: dict[float, float] = {}
        seconds: dict[float, float] = {}
        for (one, other), count in self.pairs.items():
            firsts[one] = firsts.get(one, 0.0) + count
            seconds[other] = seconds.get(other, 0.0) + count
        number = sum(firsts.values())
        distance = _Distance({**firsts, **seconds}, level)
        observed = sum(count * distance(one, other) for (one, other), count in self.pairs.items())
        expected = sum(
            firsts[one] * seconds[other] * distance(one, other)
            for one in firsts
            for other in seconds
        )
        return 1 - number * observed / expected if expected > 0 else None


def clustered_kappa(
    clusters: Iterable[Iterable[tuple[float, float]]],
    sure: float = 0.95,
    level: Level = "nominal",
) -> Kappa:
    """Return Cohen's kappa over clusters of judgements, such as the attempts at one case.

    The interval is a jackknife over clusters, four of them made up: it neither takes attempts at
    one case for draws of their own, nor shrinks to a point where all of a few things are judged
    alike. ``level`` is nominal for right or wrong, interval (squared distances) for ratings.
    """
    counted = [PairCounts.of(cluster) for cluster in clusters]
    counted = [cluster for cluster in counted if cluster.pairs]
    whole = PairCounts()
    for cluster in counted:
        whole.merge(cluster)
    n = round(sum(whole.pairs.values()))
    agreed = round(sum(count for (one, other), count in whole.pairs.items() if one == other))
    value = whole.kappa(level)
    return Kappa(
        value=value,
        interval=_kappa_interval(counted, whole, value, level, sure),
        agreed=agreed,
        n=n,
        clusters=len(counted),
    )


def _kappa_interval(
    clusters: Sequence[PairCounts],
    whole: PairCounts,
    value: float | None,
    level: Level,
    sure: float,
) -> tuple[float, float] | None:
    totals: dict[float, float] = {}
    for pair, count in whole.pairs.items():
        for name in pair:
            totals[name] = totals.get(name, 0.0) + count
    if value is None or len(clusters) < 2 or len(totals) > _MOST_VALUES:
        return None
    one, other = sorted(sorted(totals, key=lambda name: -totals[name])[:2])
    size = sum(whole.pairs.values()) / len(clusters)
    made_up = [
        PairCounts({pair: size})
        for pair in ((one, one), (other, other), (one, other), (other, one))
    ]
    keyed = [(cluster, frozenset(cluster.pairs.items())) for cluster in clusters]
    return _jackknife(keyed, made_up, lambda counted: counted.kappa(level), value, sure)


class _Mergeable(Protocol):
    """Counts that can be added and taken out again."""

    def merge(self, other: Any) -> None:
        """Take in all that another has counted."""

    def without(self, other: Any) -> Any:
        """Return what is left when some of it is taken out."""


def _jackknife(
    clusters: Sequence[tuple[Any, Hashable]],
    made_up: Sequence[_Mergeable],
    statistic: Callable[[Any], float | None],
    value: float,
    sure: float,
) -> tuple[float, float] | None:
    """Return the interval around a statistic of real and made-up clusters, within -1 and 1.

    Clusters with equal keys are equal: each kind is left out once. The spread is that of as many
    clusters as there really are, and the interval holds the value that was really found.
    """
    whole = type(made_up[0])()
    kinds: dict[Hashable, tuple[Any, int]] = {}
    for cluster, key in clusters:
        whole.merge(cluster)
        kinds[key] = (cluster, kinds.get(key, (cluster, 0))[1] + 1)
    for number, cluster in enumerate(made_up):
        whole.merge(cluster)
        kinds["made up", number] = (cluster, 1)
    left = [(statistic(whole.without(cluster)), times) for cluster, times in kinds.values()]
    estimates = [(estimate, times) for estimate, times in left if estimate is not None]
    centre, total = statistic(whole), sum(times for _, times in estimates)
    real = len(clusters)
    if centre is None or total < real + len(made_up):
        return None
    middle = sum(estimate * times for estimate, times in estimates) / total
    spread = (
        sum(times * (estimate - middle) ** 2 for estimate, times in estimates) * (total - 1) / real
    )
    half = t_quantile((1 + sure) / 2, real - 1) * sqrt(spread)
    low, high = min(value, centre - half), max(value, centre + half)
    return max(-1.0, low), min(1.0, high)


class _Distance:
    """Squared distance of two values."""

    def __init__(self, totals: Mapping[float, float], level: Level) -> None:
        self.level = level
        values = sorted(totals)
        below = accumulate((totals[value] for value in values), initial=0.0)
        self.middle = {
            value: start + totals[value] / 2 for value, start in zip(values, below, strict=False)
        }

    def __call__(self, one: float, other: float) -> float:
        if self.level == "nominal":
            return float(one != other)
        if self.level == "ordinal":
            return (self.middle[one] - self.middle[other]) ** 2
        return (one - other) ** 2
