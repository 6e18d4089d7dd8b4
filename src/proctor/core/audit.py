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

    def noise_floor(self, cases: int, attempts: float = 1.0) -> NoiseFloor | None:
        """Return how far a rate over cases would move if all were judged again (19 of 20 times).

        Its interval says that few rulings that agree do not prove that others will.
        """
        if self.noise_variance is None or cases < 1:
            return None
        floor, ends = _floor(self.noise_variance, cases, attempts), self.noise_interval
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
        probes = dict(values.get("probes") or {})
        values["probes"] = {
            name: estimate
            for name, one in probes.items()
            if (estimate := _estimated(one)) is not None
        }
        ends = values.get("noise_interval")
        values["noise_interval"] = None if ends is None else (float(ends[0]), float(ends[1]))
        values["notes"] = tuple(str(note) for note in values.get("notes", ()))
        return cls(**values)


def _floor(variance: float, cases: int, attempts: float) -> float:
    return _SURE * sqrt(2 * variance / cases / max(1.0, attempts))


def _estimated(data: Json) -> Estimated | None:
    if data is None:
        return None
    ends = data.get("interval")
    return Estimated(
        value=float(data["value"]),
        interval=None if ends is None else (float(ends[0]), float(ends[1])),
        n=int(data["n"]),
    )
