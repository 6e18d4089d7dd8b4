"""Queues of cases to label: divided rulings, cases without a score, contradictions."""

from collections.abc import Callable
from typing import Any

from proctor.core.run import Run
from proctor.engine.labels.queues import by_author, queued_ids
from proctor.store.rows import Label
from proctor.store.store import Store


def given(case: str, points: float, author: str) -> Label:
    return Label(run_id="one", case_id=case, criterion="c", points=points, author=author)


def test_the_last_label_of_each_person_counts() -> None:
    labels = [given("a", 0.0, "x"), given("a", 1.0, "x"), given("a", 0.0, "y")]
    people = by_author(labels, "c")
    assert {name: marks["a", 0].points for name, marks in people.items()} == {"x": 1.0, "y": 0.0}
    assert by_author(labels, "other") == {}


def test_partly_right_cases_are_unsure_the_most_divided_first(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[1.0], [0.5], [0.0], [0.9]])
    (criterion,) = {
        name for linked in store.attempts.iter_cases(run.id) for name in linked.attempts[0][1]
    }
    ids = [row.case_id for row in store.results.iter_rows(run.id)]
    assert queued_ids(store, run, criterion, "unsure", ()) == [ids[1], ids[3]]
    assert queued_ids(store, run, criterion, "failed", ()) == []
    assert queued_ids(store, run, criterion, "random", ()) == []


def test_people_contradict_the_judge_or_each_other(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[1.0], [1.0], [0.0]])
    linked: Any = next(iter(store.attempts.iter_cases(run.id)))
    criterion = next(iter(linked.attempts[0][1]))
    ids = [row.case_id for row in store.results.iter_rows(run.id)]
    labels = [
        Label(run_id=run.id, case_id=ids[place], criterion=criterion, points=points, author=name)
        for place, points, name in [(0, 1.0, "x"), (1, 1.0, "x"), (1, 0.0, "y"), (2, 1.0, "x")]
    ]
    assert queued_ids(store, run, criterion, "disagreement", labels) == [ids[1], ids[2]]
