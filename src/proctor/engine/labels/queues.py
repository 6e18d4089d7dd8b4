"""Queues of cases to label: those on which the judge was unsure, failed, or was contradicted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from proctor.core.case_value import ValueStatus
from proctor.core.run import Run
from proctor.store.queries import ListingQuery
from proctor.store.rows import Label
from proctor.store.store import Store

Queue = Literal["random", "unsure", "failed", "disagreement"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
"""``random`` is the whole run in random order, the only one from which a score may be corrected."""
MOST = 500
"""How many cases a queue has, besides the random one."""
SAMPLED = 2000
"""Among how many cases of a run those are looked for on which the judge was unsure."""


def queued_ids(
    store: Store, run: Run, criterion: str, queue: Queue, labels: Iterable[Label]
) -> list[str]:
    """Return the cases of a queue in their order; nothing for the random queue, which has all."""
    if queue == "unsure":
        return _unsure(store, run, criterion)
    if queue == "failed":
        query = ListingQuery(status=ValueStatus.UNSCORED.value)
        return [row.case_id for row in store.listing.page(run.id, query, MOST)]
    if queue == "disagreement":
        return _contradicted(store, run, criterion, list(labels))
    return []


def by_author(
    labels: Iterable[Label], criterion: str, *, seen: bool = False
) -> dict[str, dict[tuple[str, int], Label]]:
    """Return the last label of each attempt for one criterion, by the person who gave it.

    Labels of people who had seen the judge's verdict are left out, unless they are asked for.
    """
    people: dict[str, dict[tuple[str, int], Label]] = {}
    for label in labels:
        if label.criterion == criterion and label.points is not None and label.seen <= seen:
            people.setdefault(label.author, {})[label.case_id, label.index] = label
    return people


def _unsure(store: Store, run: Run, criterion: str) -> list[str]:
    """Return cases with divided rulings, the most divided first, then those partly right."""
    places = store.criterion_points.sample_places(run.id, SAMPLED)
    doubts: dict[int, float] = {}
    for mark in store.criterion_points.of_places(run.id, criterion, places):
        spread = max(mark.panel) - min(mark.panel) if mark.panel else 0.0
        share = mark.points / mark.full
        doubt = spread / mark.full + (0.5 - abs(share - 0.5) if 0 < share < 1 else 0.0)
        if doubt > 0:
            doubts[mark.position] = max(doubt, doubts.get(mark.position, 0.0))
    order = sorted(doubts, key=lambda place: (-doubts[place], place))[:MOST]
    ids = store.results.ids_at(run.id, order)
    return [ids[place] for place in order if place in ids]


def _contradicted(store: Store, run: Run, criterion: str, labels: Sequence[Label]) -> list[str]:
    """Return cases on which people contradict the judge or each other."""
    points_by_place: dict[tuple[str, int], set[float]] = {}
    for marks in by_author(labels, criterion, seen=True).values():
        for place, label in marks.items():
            points_by_place.setdefault(place, set()).add(label.points or 0.0)
    judged = _judged(store, run, criterion, {case_id for case_id, _ in points_by_place})
    contradicted = {
        case_id: None
        for (case_id, index), points in points_by_place.items()
        if len(points | judged.get((case_id, index), set())) > 1
    }
    return list(contradicted)[:MOST]


def _judged(
    store: Store, run: Run, criterion: str, case_ids: Iterable[str]
) -> Mapping[tuple[str, int], set[float]]:
    places = store.criterion_points.places(run.id, case_ids)
    names = {place: case_id for case_id, place in places.items()}
    marks = store.criterion_points.of_places(run.id, criterion, sorted(names))
    return {(names[mark.position], mark.number): {mark.points} for mark in marks}
