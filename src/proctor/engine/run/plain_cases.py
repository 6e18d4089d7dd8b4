"""Cases that are as simple as most are, with what sums are made of: one by one, or as columns."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from proctor.core.suite import Json
from proctor.stats.intervals import Scale

PlainWorth = tuple[float, float, Scale]
"""Value, full marks and scale."""


class PlainCase(NamedTuple):
    """A case with one attempt, all of whose criteria are scored, and that has no cluster."""

    id: str
    value: float
    weight: float
    full_score: float
    scale: Scale
    tags: Mapping[str, Sequence[str]]
    metrics: Sequence[tuple[str, PlainWorth]]
    """What each kind of criterion gave, by label."""
    relations: Collection[Json] = ()
    """How the answer relates to the references."""


class PlainColumns(NamedTuple):
    """Cases as ``PlainCase``, of one weight and scale and without relations, as columns."""

    values: Sequence[float]
    weight: float
    full_score: float
    tags: Sequence[Mapping[str, Sequence[str]]]
    metrics: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    """What each kind of criterion gave, and its full marks, by label."""
