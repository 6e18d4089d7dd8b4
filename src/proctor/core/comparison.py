"""Two attempts at the same case before a judge, and what many such comparisons come to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from proctor.core.exchange import Usage
from proctor.core.suite import Json

MAX_INVALID = 0.1
"""The share of comparisons without a readable verdict up to which a battle is complete."""


class Preference(StrEnum):
    """The answer that a judge found better."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"
    INVALID = "invalid"
    """The judge gave no verdict that could be read: it counts for nobody."""


_OTHER = {Preference.FIRST: Preference.SECOND, Preference.SECOND: Preference.FIRST}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One judge's comparison of two attempts at the same case, shown in one order."""

    case_id: str
    first: str
    """The id of the run whose answer was shown first; the other order is another comparison."""
    second: str
    first_index: int = 0
    second_index: int = 0
    judge: str = ""
    """Who was asked; empty where it was plain without asking."""
    asked: str = ""
    """The hash of the judge, the prompt and all else that was the same for a whole battle."""
    compat: str = ""
    outcome: Preference
    scores: tuple[float, float] | None = None
    """The marks for the first and the second answer."""
    reason: str = ""
    raw: tuple[str, ...] = ()
    """The judge's replies, the unreadable ones first."""
    usage: Usage = field(default_factory=Usage)
    imported: bool = False
    """Whether it is quoted from a file: no judge of this store said it."""

    @property
    def variant(self) -> str:
        """Return whose way of asking and reading it was; empty for ours."""
        return self.compat

    def seen_by(self, run: str) -> "Comparison":
        """Return the same with that run's answer as the first, whichever was shown first."""
        if run == self.first:
            return self
        return replace(
            self,
            first=self.second,
            second=self.first,
            first_index=self.second_index,
            second_index=self.first_index,
            outcome=_OTHER.get(self.outcome, self.outcome),
            scores=None if self.scores is None else (self.scores[1], self.scores[0]),
        )


def settle(outcomes: Sequence[Preference]) -> Preference:
    """Return what the orders of the same two attempts come to: a win only where all agree."""
    if Preference.INVALID in outcomes:
        return Preference.INVALID
    return outcomes[0] if len(set(outcomes)) == 1 else Preference.TIE


Place = tuple[str, int, int]
"""A case and the indices of two attempts at it, that of the run that looks on first."""


def placed(
    comparisons: Iterable[Comparison], first: str, orders: int
) -> dict[Place, list[Comparison]]:
    """Return comparisons of two runs as the first one sees them, where all orders are there."""
    by_place: dict[Place, list[Comparison]] = {}
    for comparison in comparisons:
        seen = comparison.seen_by(first)
        place = seen.case_id, seen.first_index, seen.second_index
        by_place.setdefault(place, []).append(seen)
    return {place: group for place, group in by_place.items() if len(group) >= orders}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of wins, ties and losses, from the view of the first of two candidates."""

    win: int = 0
    tie: int = 0
    loss: int = 0
    invalid: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[Preference]) -> "Tally":
        """Count outcomes."""
        preferences = list(outcomes)
        return cls(
            win=preferences.count(Preference.FIRST),
            tie=preferences.count(Preference.TIE),
            loss=preferences.count(Preference.SECOND),
            invalid=preferences.count(Preference.INVALID),
        )

    @property
    def valid(self) -> int:
        """Return how many were decided, ties included."""
        return self.win + self.tie + self.loss

    @property
    def win_rate(self) -> float | None:
        """Return the wins as a share of all that were decided."""
        return self.win / self.valid if self.valid else None

    @property
    def share(self) -> float | None:
        """Return the same with a tie as half a win."""
        return (self.win + self.tie / 2) / self.valid if self.valid else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Tally):
    """Comparison of two runs over all cases that both have."""

    first: str
    """The id of the run from whose view it is counted."""
    second: str
    missing: int = 0
    """How many could not be compared: no attempt, or the judge was out of reach."""
    interval: tuple[float, float] | None = None
    """Of the share, at 95 %, each case, or cluster of cases, counted as one draw."""
    scores: tuple[float, float] | None = None
    """The mean marks of the first and the second run."""
    agreement: float | None = None
    """How often both orders said the same, where both were asked and could be read."""
    first_seat: float | None = None
    """How often the answer that was shown first won, of all that one of them won."""
    groups: Mapping[str, Mapping[str, Tally]] = field(default_factory=dict)
    """The same counts by the values of each tag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Tally):
    """A run's place among several."""

    run: str
    rank: int
    """Equal strengths share a rank."""
    strength: float
    """The Bradley-Terry strength as log-odds; all of them add up to 0."""
    interval: tuple[float, float] | None
    """Of the strength, at 95 %; none for a run without a decided comparison, whose strength nobody
    knows."""

    @property
    def elo(self) -> float | None:
        """Return the strength on the scale of chess: the mean is 1000, 400 more are odds of 10."""
        return None if self.interval is None else 1000 + self.strength * _ELO

    @property
    def elo_interval(self) -> tuple[float, float] | None:
        """Return the interval on the same scale."""
        if self.interval is None:
            return None
        low, high = self.interval
        return 1000 + low * _ELO, 1000 + high * _ELO


_ELO = 173.71779276130073
"""400 / ln 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A run that takes part in a battle."""

    run: str
    """The id of the run."""
    name: str
    """The run's name, made different from the others' where two are the same."""
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleOutcome:
    """Result of comparing runs with each other."""

    contenders: tuple[Contender, ...]
    pairs: tuple[Pair, ...]
    """Each two runs once, in the order in which they were named."""
    leaderboard: tuple[Standing, ...] = ()
    """The best first, where there are more than two."""
    comparisons: tuple[Comparison, ...] = ()
    judge: str = ""
    orders: int = 2
    compat: str = ""
    signature: str = ""
    usage: Mapping[str, Json] = field(default_factory=dict)
    bought: int = 0
    """How many calls of judges were really made."""
    stopped: str = ""
    """Why it ended early, where it did."""
    warnings: tuple[str, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    """Where there are several, the groups of runs that never met, not even through others."""
    imported: bool = False
    """Whether its comparisons are quoted from a file."""

    @property
    def variant(self) -> str:
        """Return whose way of asking and reading it was; empty for ours."""
        return self.compat

    @property
    def complete(self) -> bool:
        """Tell whether nothing was missed that the same command could still get.

        A few comparisons may be without a readable verdict, as few cases of a run may.
        """
        missing = self.stopped or any(pair.missing for pair in self.pairs)
        return not missing and self.invalid <= MAX_INVALID * (self.valid + self.invalid)

    @property
    def valid(self) -> int:
        """Return how many comparisons have an outcome."""
        return sum(pair.valid for pair in self.pairs)

    @property
    def invalid(self) -> int:
        """Return how many comparisons have no readable verdict."""
        return sum(pair.invalid for pair in self.pairs)

    def name_of(self, run: str) -> str:
        """Return the name of a run."""
        return next(contender.name for contender in self.contenders if contender.run == run)
