"""Totals of comparisons: how two runs compare, and the leaderboard of several."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isclose

from proctor.core.comparison import (
    Comparison,
    Contender,
    Pair,
    Place,
    Preference,
    Standing,
    Tally,
    placed,
    settle,
)
from proctor.stats import bradley_terry
from proctor.stats.intervals import RatioSums

Tags = Mapping[str, Mapping[str, Sequence[str]]]
"""The tags of each case, by its id."""
Clusters = Mapping[str, str]
"""The cluster of each case that lies in one, by its id."""
_RESULT = {Preference.FIRST: 1.0, Preference.TIE: 0.5, Preference.SECOND: 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Tags and clusters of the cases of a battle."""

    tags: Tags = field(default_factory=dict)
    clusters: Clusters = field(default_factory=dict)

    def draw(self, case_id: str) -> Hashable:
        """Return what a case is drawn with: its cluster, else itself."""
        cluster = self.clusters.get(case_id)
        return ("cluster", cluster) if cluster else case_id


@dataclass(frozen=True, slots=True)
class Facing:
    """Comparisons of two runs: as they were shown, and from the first run's view."""

    first: str
    second: str
    shown: Sequence[Comparison]
    settled: Mapping[Place, Sequence[Comparison]]
    """Comparisons of pairs of attempts that have all their orders."""

    @property
    def outcomes(self) -> dict[Place, Preference]:
        """Return the combined outcome of each pair of attempts, from the first run's view."""
        return {
            place: settle([one.outcome for one in group]) for place, group in self.settled.items()
        }


def faced(comparisons: Iterable[Comparison], runs: Sequence[str], orders: int) -> list[Facing]:
    """Group comparisons by pair of runs, in the order of the runs."""
    rank = {run: place for place, run in enumerate(runs)}
    by_pair: dict[tuple[str, str], list[Comparison]] = {two: [] for two in combinations(runs, 2)}
    for comparison in comparisons:
        one, two = sorted((comparison.first, comparison.second), key=rank.__getitem__)
        by_pair[one, two].append(comparison)
    return [
        Facing(one, two, group, placed(group, one, orders)) for (one, two), group in by_pair.items()
    ]


def pair_of(facing: Facing, *, expected: int, grouping: Grouping) -> Pair:
    """Return how two runs compare; some of the expected pairs of attempts may be missing."""
    outcomes = facing.outcomes
    tally = Tally.of(outcomes.values())
    groups = list(facing.settled.values())
    return Pair(
        first=facing.first,
        second=facing.second,
        win=tally.win,
        tie=tally.tie,
        loss=tally.loss,
        invalid=tally.invalid,
        missing=max(0, expected - len(groups)),
        interval=_interval(outcomes, grouping),
        scores=_means([one for group in groups for one in group]),
        agreement=_agreement(groups),
        first_seat=_first_seat(facing.shown),
        groups=_by_tag(outcomes, grouping.tags),
    )


def leaderboard(
    facings: Sequence[Facing],
    pairs: Sequence[Pair],
    contenders: Sequence[Contender],
    grouping: Grouping,
) -> tuple[Standing, ...]:
    """Return the rank of every run, by Bradley-Terry strength with ties as half a win."""
    games = [
        bradley_terry.Game(
            facing.first, facing.second, _RESULT[outcome], cluster=grouping.draw(place[0])
        )
        for facing in facings
        for place, outcome in facing.outcomes.items()
        if outcome in _RESULT
    ]
    names = {contender.run: contender.name for contender in contenders}
    strengths = bradley_terry.strengths(games, list(names))
    # Equal strengths differ in their last digits: rounded, the names decide.
    tallies = {run: _total(run, pairs) for run in names}
    ordered = sorted(
        strengths,
        key=lambda one: (not tallies[one.name].valid, -round(one.value, 9), names[one.name]),
    )
    standings: list[Standing] = []
    for place, strength in enumerate(ordered, 1):
        same = standings and isclose(standings[-1].strength, strength.value, abs_tol=1e-9)
        tally = tallies[strength.name]
        standings.append(
            Standing(
                run=strength.name,
                rank=standings[-1].rank if same else place,
                strength=strength.value,
                interval=(strength.low, strength.high) if tally.valid else None,
                win=tally.win,
                tie=tally.tie,
                loss=tally.loss,
                invalid=tally.invalid,
            )
        )
    return tuple(standings)


def never_met(pairs: Sequence[Pair], runs: Sequence[str]) -> list[list[str]]:
    """Return the groups of runs that no decided comparison joins, not even through others.

    A run without any decided comparison belongs to none of them.
    """
    group = {run: run for run in runs}

    def root(run: str) -> str:
        while group[run] != run:
            run = group[run]
        return run

    played: dict[str, None] = {}
    for pair in pairs:
        if pair.valid:
            group[root(pair.second)] = root(pair.first)
            played |= dict.fromkeys((pair.first, pair.second))
    members: dict[str, list[str]] = {}
    for run in runs:
        if run in played:
            members.setdefault(root(run), []).append(run)
    return list(members.values())


def _interval(
    outcomes: Mapping[Place, Preference], grouping: Grouping
) -> tuple[float, float] | None:
    draws: dict[Hashable, list[float]] = {}
    for (case_id, *_), outcome in outcomes.items():
        if outcome in _RESULT:
            draws.setdefault(grouping.draw(case_id), []).append(_RESULT[outcome])
    return RatioSums.of((sum(results), len(results)) for results in draws.values()).interval()


def _means(seen: Sequence[Comparison]) -> tuple[float, float] | None:
    marks = [
        one.scores
        for one in seen
        if one.scores is not None and one.outcome is not Preference.INVALID
    ]
    if not marks:
        return None
    return sum(mark[0] for mark in marks) / len(marks), sum(mark[1] for mark in marks) / len(marks)


def _agreement(groups: Sequence[Sequence[Comparison]]) -> float | None:
    agreements = [
        len({one.outcome for one in group}) == 1
        for group in groups
        if len(group) > 1
        and all(one.judge and one.outcome is not Preference.INVALID for one in group)
    ]
    return sum(agreements) / len(agreements) if agreements else None


def _first_seat(comparisons: Sequence[Comparison]) -> float | None:
    if len({comparison.first for comparison in comparisons}) < 2:
        return None  # whoever is better would look favoured by the place
    won = [
        comparison.outcome is Preference.FIRST
        for comparison in comparisons
        if comparison.judge and comparison.outcome in (Preference.FIRST, Preference.SECOND)
    ]
    return sum(won) / len(won) if won else None


def _by_tag(outcomes: Mapping[Place, Preference], tags: Tags) -> dict[str, dict[str, Tally]]:
    by_tag: dict[str, dict[str, list[Preference]]] = {}
    for (case_id, *_), outcome in outcomes.items():
        for tag, values in tags.get(case_id, {}).items():
            for value in dict.fromkeys(values):
                by_tag.setdefault(tag, {}).setdefault(value, []).append(outcome)
    return {
        tag: {value: Tally.of(listed) for value, listed in rows.items()}
        for tag, rows in by_tag.items()
    }


def _total(run: str, pairs: Iterable[Pair]) -> Tally:
    win = tie = loss = invalid = 0
    for pair in pairs:
        if run not in (pair.first, pair.second):
            continue
        ahead, behind = (pair.win, pair.loss) if run == pair.first else (pair.loss, pair.win)
        win, loss = win + ahead, loss + behind
        tie, invalid = tie + pair.tie, invalid + pair.invalid
    return Tally(win=win, tie=tie, loss=loss, invalid=invalid)
