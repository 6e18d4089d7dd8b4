"""Agreement of a run's judge with people's marks, and the corrected score."""

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
"""How many of people's marks are used, the latest ones."""
MOST_OTHERS = 2000
"""How many unmarked cases are used, sampled over the whole run."""
_NEAR = 1e-9


class Agreement(ResponseModel):
    """Agreement of the judge with people."""

    kappa: float | None
    interval: Interval | None
    agreed: float | None
    n: int
    judge_right: float
    person_right: float
    score: dict[str, Any] = Field(description="the judge's score, corrected by the marks")


def latest(labels: Iterable[Label], criterion: str) -> Labels:
    """Return the latest mark of each attempt for one criterion."""
    return {
        (label.case_id, label.index): label
        for label in labels
        if label.criterion == criterion and label.points is not None
    }


def judged(store: Store, run_id: str, criterion: str) -> dict[int, float]:
    """Return a criterion's share of points in the cases of a run (or a sample), by position."""
    marks = store.criterion_points.of_places(
        run_id, criterion, store.criterion_points.sample_places(run_id, MOST_OTHERS)
    )
    return _by_case((mark.position, mark.points / mark.full) for mark in marks)


def agreement(
    store: Store, run_id: str, criterion: str, labels: Labels, others: Mapping[int, float]
) -> Agreement:
    """Measure the agreement of judge and person, and correct the judge's score.

    ``others`` is what the judge gave the cases over the whole run.
    """
    looked = list(labels.values())[-MOST:]
    places = store.criterion_points.places(run_id, {label.case_id for label in looked})
    judge_marks = {
        (mark.position, mark.number): mark
        for mark in store.criterion_points.of_places(run_id, criterion, sorted(places.values()))
    }
    both: list[tuple[CriterionMark, float]] = []
    for label in looked:
        mark = judge_marks.get((places.get(label.case_id, -1), label.index))
        if mark is not None and label.points is not None:
            both.append((mark, label.points))
    pairs = [(_right(mark.points, mark), _right(own, mark)) for mark, own in both]
    kappa_result = cohen_kappa(pairs)
    marked = set(places.values())
    rest = [share for place, share in others.items() if place not in marked]
    return Agreement(
        kappa=kappa_result.value,
        interval=kappa_result.interval,
        agreed=kappa_result.agreed,
        n=kappa_result.n,
        judge_right=sum(judge_says_right for judge_says_right, _ in pairs),
        person_right=sum(own for _, own in pairs),
        score=asdict(corrected(_cases(both), rest)),
    )


def _right(points: float, mark: CriterionMark) -> float:
    return float(points >= mark.full - _NEAR)


def _cases(both: Sequence[tuple[CriterionMark, float]]) -> list[tuple[float, float]]:
    """Return the marks of judge and person for each case."""
    judge = _by_case((mark.position, mark.points / mark.full) for mark, _ in both)
    person = _by_case((mark.position, own / mark.full) for mark, own in both)
    return [(judge[place], person[place]) for place in judge]


def _by_case(place_values: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return the mean of each position: attempts at one case are not independent draws."""
    gathered: dict[int, list[float]] = {}
    for place, share in place_values:
        gathered.setdefault(place, []).append(share)
    return {place: fmean(shares) for place, shares in gathered.items()}
