"""Agreement: Krippendorff's alpha among many judges, Cohen's kappa between two."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import sqrt
from typing import Literal

from proctor.stats.intervals import t_quantile, wilson_interval

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

    def alpha(self, level: Level = "nominal") -> float | None:
        """Return alpha; none where nobody judged the same thing, or all said the same always."""
        totals: dict[float, float] = {}
        for (one, _), count in self.pairs.items():
            totals[one] = totals.get(one, 0.0) + count
        number = sum(totals.values())
        distance = _Distance(totals, level)
        observed = sum(count * distance(one, other) for (one, other), count in self.pairs.items())
        expected = sum(
            totals[one] * totals[other] * distance(one, other) for one in totals for other in totals
        )
        return 1 - (number - 1) * observed / expected if expected > 0 else None

    def _count(self, pair: tuple[float, float], times: float) -> None:
        self.pairs[pair] = self.pairs.get(pair, 0.0) + times


def krippendorff_alpha(units: Iterable[Unit], level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha over things, of each what its judges said of it."""
    return Coincidences.of(units).alpha(level)


def alpha_interval(
    clusters: Sequence[Coincidences], level: Level = "nominal", sure: float = 0.95
) -> tuple[float, float] | None:
    """Return the jackknife interval of alpha, leaving out one cluster at a time.

    None for fewer than two clusters, or where too many different values make it slow.
    """
    whole = Coincidences()
    for cluster in clusters:
        whole.merge(cluster)
    alpha = whole.alpha(level)
    if alpha is None or len(clusters) < 2 or len(_values(whole)) > _MOST_VALUES:
        return None
    # Clusters in which the judges said the same are equal: each kind is left out once.
    kinds: dict[frozenset[tuple[tuple[float, float], float]], tuple[Coincidences, int]] = {}
    for cluster in clusters:
        key = frozenset(cluster.pairs.items())
        kinds[key] = (cluster, kinds.get(key, (cluster, 0))[1] + 1)
    left = [(whole.without(cluster).alpha(level), times) for cluster, times in kinds.values()]
    estimates = [(value, times) for value, times in left if value is not None]
    number = sum(times for _, times in estimates)
    if number < len(clusters):
        return None
    middle = sum(value * times for value, times in estimates) / number
    spread = sum(times * (value - middle) ** 2 for value, times in estimates)
    half = t_quantile((1 + sure) / 2, number - 1) * sqrt((number - 1) / number * spread)
    return max(-1.0, alpha - half), min(1.0, alpha + half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Agreement of two judges beyond chance."""

    value: float | None
    """None where there is nothing to compare, or where both said one and the same always."""
    interval: tuple[float, float] | None
    agreed: int
    n: int


def cohen_kappa(pairs: Iterable[tuple[float, float]], sure: float = 0.95) -> Kappa:
    """Return Cohen's kappa of what two judges said of the same things.

    The interval is Wilson's of the observed agreement, with chance agreement held as observed: it
    does not shrink to a point where few things were judged and all of them alike.
    """
    counted = Counter(pairs)
    n = counted.total()
    agreed = sum(count for (one, other), count in counted.items() if one == other)
    firsts: Counter[float] = Counter()
    seconds: Counter[float] = Counter()
    for (one, other), count in counted.items():
        firsts[one] += count
        seconds[other] += count
    chance = sum(firsts[name] * seconds[name] for name in firsts) / n**2 if n else 1.0
    around = wilson_interval(agreed, n, sure)
    if chance >= 1 or around is None:
        return Kappa(value=None, interval=None, agreed=agreed, n=n)
    low, high = ((end - chance) / (1 - chance) for end in around)
    value = (agreed / n - chance) / (1 - chance)
    return Kappa(value=value, interval=(max(-1.0, low), min(1.0, high)), agreed=agreed, n=n)


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


def _values(counted: Coincidences) -> set[float]:
    return {one for one, _ in counted.pairs}
