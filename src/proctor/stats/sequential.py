"""Evidence that may be looked at after every case: capital of bets on a bounded mean.

Whoever bets against a claim that is true multiplies the stake by 40 at some time in at most one of
40 tries (Ville's inequality), however often somebody looks and whenever the cases end.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import cos, exp, log, pi
from typing import TYPE_CHECKING, Literal

from proctor.stats.beta import beta_quantile
from proctor.stats.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

SURE = 20.0
"""Evidence of so many to one is enough: both directions together err in at most 5 %."""
_FLAT_BETS, _BOLD_BETS = 24, 72
"""How many stakes are spread over all sizes, and how many over those for clear differences."""
_STEPS = 40

Decision = Literal["better", "worse", "no_worse", "equal"]


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Ends between which every value of a case lies."""

    least: float
    most: float


UNIT = ValueRange(0.0, 1.0)
DIFFERENCE = ValueRange(-1.0, 1.0)


@dataclass(slots=True)
class BettingEvidence:
    """Evidence that a weighted mean lies above a claim (side 1), or below it (side -1).

    The capital of many bets at once, each staking another share of it on every case. A quarter of
    the shares is spread over all differences, large and small; the others lie where a difference
    of some 5 to 20 points, among cases of which some change, is found soonest. Nobody can lose
    more than a stake, so that rare disasters cannot make the evidence look stronger than it is.
    """

    claim: float
    side: int
    bounds: ValueRange = DIFFERENCE
    _logs: "Numbers" = field(init=False)
    _shares: "Numbers" = field(init=False)

    def __post_init__(self) -> None:
        self._logs, self._shares = _start(self.claim, self.side, self.bounds)

    def add(self, value: float, weight: float = 1.0) -> None:
        """Take in a case; a weight is a part of the largest one."""
        import numpy as np

        self._logs += np.log1p(self._shares * (self.side * weight * (value - self.claim)))

    @property
    def capital(self) -> float:
        """Return what a stake of 1 has become."""
        return _mean_of(self._logs)

    @property
    def odds(self) -> float:
        """Return the evidence, to one: half the capital, since both directions are looked at."""
        return self.capital / 2


@dataclass(frozen=True, slots=True)
class Look:
    """State of the evidence after some cases."""

    cases: int
    odds: float
    decision: Decision | None


@dataclass(slots=True)
class SequentialComparison:
    """Evidence on a difference by case, with and without a margin.

    Evidence that was once enough stays so. If later cases answer more, such as that the second is
    not only no worse by the margin, but better, that is the decision.
    """

    margin: float | None = None
    bounds: ValueRange = DIFFERENCE
    sure: float = SURE
    cases: int = 0
    decided: Look | None = None
    """The look at which the question was answered, as far as it is by now."""
    _better: BettingEvidence = field(init=False)
    _worse: BettingEvidence = field(init=False)
    _above: BettingEvidence | None = field(init=False, default=None)
    _below: BettingEvidence | None = field(init=False, default=None)
    _enough: dict[str, Look] = field(default_factory=dict)
    """By claim the first look at which it was refuted."""
    _seen: list[tuple[float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._better = BettingEvidence(0.0, 1, self.bounds)
        self._worse = BettingEvidence(0.0, -1, self.bounds)
        if self.margin is not None:
            self._above = BettingEvidence(-self.margin, 1, self.bounds)
            self._below = BettingEvidence(self.margin, -1, self.bounds)

    def add(self, low: float, high: float, weight: float = 1.0) -> None:
        """Take in the next case: its difference, or both ends where something is unscored."""
        self.cases += 1
        self._seen.append((low, high, weight))
        for evidence, value in ((self._better, low), (self._above, low)):
            if evidence is not None:
                evidence.add(value, weight)
        for evidence, value in ((self._worse, high), (self._below, high)):
            if evidence is not None:
                evidence.add(value, weight)
        if news := {name: at for name, at in self._refuted().items() if name not in self._enough}:
            self._enough |= news
            self.decided = _decision(self._enough)

    def look(self) -> Look:
        """Return the look that decided, else the last one.

        It errs as seldom as it should where the order of the cases is fixed once and for all.
        """
        return self.last() if self.decided is None else self.decided

    def last(self) -> Look:
        """Return the evidence of all cases, which their order does not matter for."""
        nothing = Look(self.cases, max(self._better.odds, self._worse.odds), None)
        return _decision(self._refuted()) or nothing

    def interval(self, level: float = 0.95) -> Interval | None:
        """Return an interval of the difference that holds whenever somebody looks."""
        return confidence_sequence(self._seen, self.bounds, level)

    def _refuted(self) -> dict[str, Look]:
        """Return the claims that the evidence of all cases is enough against."""
        claims = {
            "better": self._better,
            "worse": self._worse,
            "above": self._above,
            "below": self._below,
        }
        return {
            name: Look(self.cases, evidence.odds, None)
            for name, evidence in claims.items()
            if evidence is not None and evidence.odds >= self.sure
        }


def _decision(refuted: Mapping[str, Look]) -> Look | None:
    """Return what is answered by the claims that were refuted, each by its look."""
    better, worse = refuted.get("better"), refuted.get("worse")
    if better is not None and (worse is None or better.cases < worse.cases):
        return _answer("better", better)
    if "above" in refuted and "below" in refuted:
        return _answer("equal", refuted["above"], refuted["below"])
    if "above" in refuted:
        return _answer("no_worse", refuted["above"])
    return None if worse is None else _answer("worse", worse)


def _answer(decision: Decision, *looks: Look) -> Look:
    """Return the look at which all that an answer takes was known."""
    return Look(max(look.cases for look in looks), min(look.odds for look in looks), decision)


@dataclass(slots=True)
class SequentialRate:
    """Evidence on whether a rate is at least a number, until it is enough either way."""

    claim: float
    bounds: ValueRange = UNIT
    sure: float = SURE
    cases: int = 0
    decided: bool | None = None
    decided_after: int | None = None
    odds: float = 0.5
    """The evidence to one of the side that it favours; that at the decision, once there is one."""
    _above: BettingEvidence = field(init=False)
    _below: BettingEvidence = field(init=False)
    _seen: list[tuple[float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._above = BettingEvidence(self.claim, 1, self.bounds)
        self._below = BettingEvidence(self.claim, -1, self.bounds)

    def add(self, low: float, high: float, weight: float = 1.0) -> None:
        """Take in the next case: what part of full marks it has, or both ends if unscored."""
        self.cases += 1
        self._seen.append((low, high, weight))
        self._above.add(low, weight)
        self._below.add(high, weight)
        if self.decided is not None:
            return
        self.odds = max(self._above.odds, self._below.odds)
        if self.odds >= self.sure:
            self.decided = self._above.odds >= self._below.odds
            self.decided_after = self.cases

    def interval(self, level: float = 0.95) -> Interval | None:
        """Return an interval of the rate that holds whenever somebody looks."""
        return confidence_sequence(self._seen, self.bounds, level)


def confidence_sequence(
    seen: Iterable[tuple[float, float, float]], bounds: ValueRange = UNIT, level: float = 0.95
) -> Interval | None:
    """Return which means no bet has refuted: an interval that holds at all times at once.

    Each case is given by the ends of its value, and its weight as a part of the largest.
    """
    import numpy as np

    rows = np.array(list(seen))
    if not len(rows):
        return None
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    enough = log(2 / (1 - level))

    def refuted(claim: float, side: int) -> bool:
        logs, shares = _start(claim, side, bounds)
        values = kinds[:, 0] if side > 0 else kinds[:, 1]
        stakes = side * kinds[:, 2] * (values - claim)
        logs += counts @ np.log1p(stakes[:, None] * shares[None, :])
        return _log_mean(logs) >= enough

    low = _edge(lambda claim: refuted(claim, 1), bounds.least, bounds.most)
    high = -_edge(lambda claim: refuted(-claim, -1), -bounds.most, -bounds.least)
    return low, high


def _edge(refuted: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest claim that is refuted; the least where none is."""
    width = high - low
    if not refuted(low + 1e-9 * width):
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if refuted(middle):
            low = middle
        else:
            high = middle
        if high - low < 1e-7 * width:
            break
    return low


def _start(claim: float, side: int, bounds: ValueRange) -> "tuple[Numbers, Numbers]":
    """Return the logs of all stakes before the first case, and the shares that they stake."""
    import numpy as np

    parts = np.array(_parts())
    reach = claim - bounds.least if side > 0 else bounds.most - claim
    return np.zeros(len(parts)), parts / max(reach, 1e-12)


@lru_cache(maxsize=1)
def _parts() -> tuple[float, ...]:
    """Return the shares of all that can be staked: by the arcsine law, and by Beta(3, 2)."""
    flat = [cos((place + 0.5) / _FLAT_BETS * pi / 2) for place in range(_FLAT_BETS)]
    bold = [beta_quantile((place + 0.5) / _BOLD_BETS, 3.0, 2.0) for place in range(_BOLD_BETS)]
    return *flat, *bold


def _mean_of(logs: "Numbers") -> float:
    return exp(min(700.0, _log_mean(logs)))


def _log_mean(logs: "Numbers") -> float:
    import numpy as np

    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).mean()))
