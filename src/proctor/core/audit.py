"""What an audit found out about a judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import sqrt
from typing import Any, NamedTuple

from proctor.core.suite import Json

Interval = tuple[float, float]
_SURE = 1.959963984540054
"""How many standard deviations hold 95 of 100 draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A number with its interval, and on how many cases it rests."""

    value: float
    interval: Interval | None
    n: int


class NoiseFloor(NamedTuple):
    """How far a rate would move if all were judged again, in parts of full marks."""

    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAudit:
    """How far one judge is off on the answers of one run."""

    judge: str
    seed: str = ""
    cases: int = 0
    """How many cases were picked at random."""
    answers: int = 0
    """On how many scores of these the judge was asked again."""
    repeats: int = 0
    flips: Estimated | None = None
    """How often two rulings on the same answer differ."""
    flip_chance: Estimated | None = None
    """How often a single ruling must be off by chance, to make so many pairs differ."""
    noise_variance: float | None = None
    """The variance that chance in rulings gives the value of a case, as a share of full marks."""
    noise_interval: Interval | None = None
    """The interval of that variance; none in audits of earlier versions."""
    noise_by_metric: Mapping[str, Estimated] | None = None
    """The same of the rows by metric, of those that the judge gives; none in audits of earlier
    versions."""
    probes: Mapping[str, Estimated] = field(default_factory=dict)
    """By how much each way of asking moves what the judge gives, in shares of full marks."""
    labels: Mapping[str, Json] = field(default_factory=dict)
    """By criterion, how far the judge agrees with people."""
    usage: Mapping[str, Json] = field(default_factory=dict)
    flipped: Mapping[str, float] = field(default_factory=dict)
    """By case, the share of pairs of rulings on its answer that differ, where any do."""
    unread: int = 0
    """How many rulings could not be had."""
    notes: tuple[str, ...] = ()
    created: float = 0.0

    def noise_floor(
        self, cases: float, attempts: float = 1.0, metric: str = ""
    ) -> NoiseFloor | None:
        """Return how far a rate over cases would move if all were judged again (19 of 20 times).

        Cases of different weights count as so many of equal weight. Of a metric, only what the
        judge gives moves: none of another. The interval says that few rulings that agree do not
        prove that others will.
        """
        noise, ends = self.noise_variance, self.noise_interval
        if metric and self.noise_by_metric is not None:
            own = self.noise_by_metric.get(metric)
            noise, ends = (None, None) if own is None else (own.value, own.interval)
        if noise is None or cases <= 0:
            return None
        floor = _floor(noise, cases, attempts)
        if ends is None:
            return NoiseFloor(floor, None)
        low, high = (_floor(end, cases, attempts) for end in ends)
        return NoiseFloor(floor, (low, high))

    @classmethod
    def of(cls, data: Mapping[str, Json]) -> "JudgeAudit":
        """Make an audit of what a store has; raises ValueError or TypeError where it is none."""
        names = {one.name for one in fields(cls)}
        values: dict[str, Any] = {name: data[name] for name in data if name in names}
        for name in ("flips", "flip_chance"):
            values[name] = _estimated(values.get(name))
        values["probes"] = _all_estimated(values.get("probes") or {})
        if values.get("noise_by_metric") is not None:
            values["noise_by_metric"] = _all_estimated(values["noise_by_metric"])
        ends = values.get("noise_interval")
        values["noise_interval"] = None if ends is None else (float(ends[0]), float(ends[1]))
        values["notes"] = tuple(str(note) for note in values.get("notes", ()))
        return cls(**values)


def _floor(variance: float, cases: float, attempts: float) -> float:
    return _SURE * sqrt(2 * variance / cases / max(1.0, attempts))


def _all_estimated(data: Json) -> dict[str, Estimated]:
    numbers = ((name, _estimated(one)) for name, one in dict(data).items())
    return {name: estimate for name, estimate in numbers if estimate is not None}


def _estimated(data: Json) -> Estimated | None:
    if data is None:
        return None
    ends = data.get("interval")
    return Estimated(
        value=float(data["value"]),
        interval=None if ends is None else (float(ends[0]), float(ends[1])),
        n=int(data["n"]),
    )
