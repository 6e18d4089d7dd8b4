"""How far the judge of a run agrees with the marks that people gave, and what follows from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from pydantic import Field

from proctor.stats.agreement import cohen_kappa
from proctor.stats.prediction_powered import corrected
from proctor.store.criterion_points import CriterionMark
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web.api.response import Interval, ResponseModel

Labels = Mapping[tuple[str, int], Label]
MOST = 2000
"""How many marks of people are looked at, the last ones."""
MOST_OTHERS = 2000
"""How many cases without a mark of a person are looked at, picked all over the run."""
_NEAR = 1e-9


class Agreement(ResponseModel):
    """How far the judge agrees with people."""

    kappa: float | None
    interval: Interval | None
    agreed: float | None
    n: int
    judge_right: float
    person_right: float
    score: dict[str, Any] = Field(description="the judge's score, corrected by the marks")


def latest(labels: Iterable[Label], criterion: str) -> Labels:
    """Return the last mark of each attempt for one criterion."""
    return {
        (label.case_id, label.index): label
        for label in labels
        if label.criterion == criterion and label.points is not None
    }


def judged(store: Store, run_id: str, criterion: str) -> dict[int, float]:
    """Return what a criterion gave the cases of a run, or many of them, by their place."""
    found = store.criterion_points.of_places(
        run_id, criterion, store.criterion_points.sample_places(run_id, MOST_OTHERS)
    )
    return _by_case((mark.position, mark.points / mark.full) for mark in found)


def agreement(
    store: Store, run_id: str, criterion: str, labels: Labels, others: Mapping[int, float]
) -> Agreement:
    """Count where judge and person say right or wrong alike, and correct the judge's score.

    The others are what the judge gave the cases all over the run.
    """
    looked = list(labels.values())[-MOST:]
    places = store.criterion_points.places(run_id, {label.case_id for label in looked})
    known = {
        (mark.position, mark.number): mark
        for mark in store.criterion_points.of_places(run_id, criterion, sorted(places.values()))
    }
    both: list[tuple[CriterionMark, float]] = []
    for label in looked:
        mark = known.get((places.get(label.case_id, -1), label.index))
        if mark is not None and label.points is not None:
            both.append((mark, label.points))
    pairs = [(_right(mark.points, mark), _right(own, mark)) for mark, own in both]
    found = cohen_kappa(pairs)
    marked = set(places.values())
    rest = [share for place, share in others.items() if place not in marked]
    return Agreement(
        kappa=found.value,
        interval=found.interval,
        agreed=found.agreed,
        n=found.n,
        judge_right=sum(said for said, _ in pairs),
        person_right=sum(own for _, own in pairs),
        score=asdict(corrected(_cases(both), rest)),
    )


def _right(points: float, mark: CriterionMark) -> float:
    return float(points >= mark.full - _NEAR)


def _cases(both: Sequence[tuple[CriterionMark, float]]) -> list[tuple[float, float]]:
    """Return what judge and person gave each case."""
    judge = _by_case((mark.position, mark.points / mark.full) for mark, _ in both)
    person = _by_case((mark.position, own / mark.full) for mark, own in both)
    return [(judge[place], person[place]) for place in judge]


def _by_case(found: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return the mean of each place: attempts at one case are no draws of their own."""
    gathered: dict[int, list[float]] = {}
    for place, share in found:
        gathered.setdefault(place, []).append(share)
    return {place: fmean(shares) for place, shares in gathered.items()}
