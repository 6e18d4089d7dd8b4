"""Cases as items of a test, over all who took them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.core.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One case as an item of a test."""

    case_id: str
    run_id: str
    """A run that has the case."""
    scores: tuple[float | None, ...]
    """What each taker got, from 0 to 1."""
    takers: int
    """How many have a score."""
    rate: float | None
    """What takers got on average."""
    interval: tuple[float, float] | None
    discrimination: float | None
    """The correlation with what takers got for all other cases."""
    discrimination_interval: tuple[float, float] | None
    discrimination_shrunk: float | None
    """Drawn towards what is usual among the cases, as far as there are few takers."""
    wrong_key: float
    """How likely it is that the key is wrong, from 0 to 1."""
    reasons: tuple[str, ...] = ()
    """What is odd about it, in words."""
    kinds: tuple[str, ...] = ()
    """``wrong_key``, ``negative``, ``nobody``, ``everybody``, ``duplicate``, ``judge``."""
    suspicion: float = 0.0
    """By which cases are listed."""


@dataclass(frozen=True, kw_only=True)
class ItemAnalysis:
    """The cases of a suite as its takers found them."""

    suite: str
    runs: Sequence[Run]
    takers: Sequence[str]
    """The candidates; several runs of one are one taker."""
    rates: Sequence[float | None]
    """What each taker got on average."""
    cases: int
    counts: Mapping[str, int]
    """How many cases there are of each kind."""
    listed: Sequence[Item]
    """The most suspicious first."""
    notes: Sequence[str]
    every: Callable[[], Iterator[Item]]
    """Yields all cases in their order, as long as the store is open."""
