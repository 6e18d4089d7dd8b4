"""Sums over cases of which some belong together: all cases of one cluster are one draw."""

from collections.abc import Sequence
from copy import copy
from dataclasses import field
from typing import Any, Literal, Self

from proctor.records import dataclass
from proctor.stats.intervals import (
    SHARE,
    Interval,
    IntervalMethod,
    RatioSums,
    Scale,
    bootstrap_interval,
    json_number,
)


@dataclass(slots=True)
class ClusterSums:
    """Running Σ values / Σ weights over cases; the cases of one cluster are one draw.

    A case without a cluster is a draw of its own, and takes no memory.
    """

    cases: RatioSums = field(default_factory=RatioSums)
    _single: RatioSums | None = None
    """The cases without a cluster, once some have one."""
    _sums: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Value and weight of each cluster."""

    @property
    def n(self) -> int:
        """Return the number of cases."""
        return self.cases.n

    @property
    def rate(self) -> float | None:
        """Return the ratio; none where there is no weight to divide by."""
        return self.cases.rate

    @property
    def clusters(self) -> int | None:
        """Return the number of draws; none where every case is one by itself."""
        return None if self._single is None else self._single.n + len(self._sums)

    def add(self, value: float, weight: float, cluster: str = "") -> None:
        """Take in one case, and the cluster it belongs to."""
        if cluster:
            if self._single is None:
                self._single = copy(self.cases)
            before = self._sums.get(cluster, (0.0, 0.0))
            self._sums[cluster] = (before[0] + value, before[1] + weight)
        elif self._single is not None:
            self._single.add(value, weight)
        self.cases.add(value, weight)

    def add_plain(self, values: Sequence[float], weights: Sequence[float]) -> None:
        """Take in cases that belong to no cluster, one after the other."""
        if self._single is not None:
            self._single.add_many(values, weights)
        self.cases.add_many(values, weights)

    def merge(self, other: "ClusterSums") -> None:
        """Take in all that another has gathered; a cluster may lie in both."""
        if other._single is not None or self._single is not None:
            self._single = copy(self.cases) if self._single is None else self._single
            self._single.merge(other.cases if other._single is None else other._single)
            for name, (value, weight) in other._sums.items():
                before = self._sums.get(name, (0.0, 0.0))
                self._sums[name] = (before[0] + value, before[1] + weight)
        self.cases.merge(other.cases)

    def to_json(self) -> list[Any]:
        """Return the sums as JSON, to be merged elsewhere."""
        single = None if self._single is None else self._single.to_json()
        clusters = {name: _pair_to_json(pair) for name, pair in self._sums.items()}
        return [self.cases.to_json(), single, clusters]

    @classmethod
    def from_json(cls, document: Sequence[Any]) -> Self:
        """Make the same sums again of their JSON."""
        cases, single, clusters = document[:3]
        return cls(
            RatioSums.from_json(cases),
            None if single is None else RatioSums.from_json(single),
            {name: (float(value), float(weight)) for name, (value, weight) in clusters.items()},
        )

    def draws(self) -> RatioSums:
        """Return the sums over draws: clusters, and cases that belong to none."""
        if self._single is None:
            return self.cases
        draws = copy(self._single)
        for value, weight in self._sums.values():
            draws.add(value, weight)
        return draws

    def interval(
        self, scale: Scale = SHARE, *, method: Literal["bounded", "t"] = "bounded"
    ) -> Interval | None:
        """Return the interval of the ratio, on the scale that single cases lie on."""
        return self.draws().interval(scale, method=method)


@dataclass(slots=True)
class DrawnSums(ClusterSums):
    """Sums that keep every draw, for an interval that is found by drawing again."""

    _pairs: list[tuple[float, float]] = field(default_factory=list)

    def add(self, value: float, weight: float, cluster: str = "") -> None:
        ClusterSums.add(self, value, weight, cluster)
        if not cluster:
            self._pairs.append((value, weight))

    def add_plain(self, values: Sequence[float], weights: Sequence[float]) -> None:
        ClusterSums.add_plain(self, values, weights)
        self._pairs += zip(values, weights, strict=True)

    def merge(self, other: ClusterSums) -> None:
        ClusterSums.merge(self, other)
        if isinstance(other, DrawnSums):
            self._pairs += other._pairs

    def to_json(self) -> list[Any]:
        return [*ClusterSums.to_json(self), [_pair_to_json(pair) for pair in self._pairs]]

    @classmethod
    def from_json(cls, document: Sequence[Any]) -> Self:
        *_, pairs = document
        sums = ClusterSums.from_json(document)
        drawn = [(float(value), float(weight)) for value, weight in pairs]
        return cls(sums.cases, sums._single, sums._sums, drawn)

    def interval(
        self, scale: Scale = SHARE, *, method: Literal["bounded", "t"] = "bounded"
    ) -> Interval | None:
        pairs = [*self._pairs, *self._sums.values()]
        return bootstrap_interval([v for v, _ in pairs], [w for _, w in pairs], scale)


def _pair_to_json(pair: tuple[float, float]) -> list[float | str]:
    return [json_number(number) for number in pair]


def sums_for(method: IntervalMethod) -> ClusterSums:
    """Return empty sums that a method can make its interval of."""
    return DrawnSums() if method == "bootstrap" else ClusterSums()
