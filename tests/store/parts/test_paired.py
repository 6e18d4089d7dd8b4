"""Pairs of two runs of whichever homes are those of two runs in rows."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from parts_runs import SIZE, case_at, put_run, result_at
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run
from proctor.core.suite import Case, Suite
from proctor.store.parts.moving import move_to_parts
from proctor.store.parts.paired import RowColumns
from proctor.store.rows import ResultRow
from proctor.store.store import Store

KINDS = ("better", "worse", "both_wrong", "both_partly", "both_right")


def results_of_second() -> Iterator[ResultRow]:
    for place in range(SIZE):
        row = result_at(place)
        value = {0: 0.0, 1: 1.0, 2: row.value, 3: None}[place % 4]
        if value is not None and place % 5 == 0:
            value = 1.0
        yield replace(row, value=value, low=0.25 if place % 2 else 0.0)


def put_both(store: Store, *, other_suite: bool) -> tuple[Run, Run]:
    """Store two runs in rows, the second perhaps of a suite with other cases among them."""
    first, second = put_run(store, "r1"), put_run(store, "r2")
    rows = [replace(result_at(place), value=(place % 3) / 2) for place in range(SIZE)]
    store.results.put(first.id, rows)
    store.results.put(second.id, results_of_second())
    if other_suite:
        second = in_another_suite(store, second)
    return first, second


def in_another_suite(store: Store, run: Run) -> Run:
    cases: list[Case] = [case_at(place) for place in range(SIZE)]
    cases[4] = replace(cases[4], references=("changed",))
    cases[6] = replace(cases[6], id="only here")
    cases[0], cases[9] = cases[9], cases[0]
    suite = Suite(name="quiz", version="2", cases=tuple(cases))
    keys = [case_key(case) for case in cases]
    moved = replace(run, suite_key=suite_key(suite, keys))
    store.suites.put(suite, moved.suite_key, list(zip(keys, cases, strict=True)))
    store.runs.save(moved)
    rows = list(results_of_second())
    store.results.put(
        run.id, [replace(row, case_id=case.id) for row, case in zip(rows, cases, strict=True)]
    )
    return moved


def everything(store: Store, first: Run, second: Run) -> dict[str, object]:
    pairs = store.pairs
    seen: dict[str, object] = {
        "counts": sorted(pairs.iter_counts(first, second), key=repr),
        "by tag": sorted(pairs.iter_counts(first, second, tag="third"), key=repr),
        "all": list(pairs.iter_cases(first, second)),
        "after": list(pairs.iter_cases(first, second, after=7)),
        "met": list(pairs.iter_met(first, second)),
        "changed": list(pairs.iter_changed_cases(first.suite_key, second.suite_key)),
    }
    for kind in KINDS:
        seen[kind] = list(pairs.iter_cases(first, second, kind))  # type: ignore[arg-type]
        for limit in (2, 50):
            key = f"largest {kind} {limit}"
            seen[key] = pairs.largest_changes(first, second, kind, limit)  # type: ignore[arg-type]
        for place in (0, 9, 22):
            key = f"around {place} {kind}"
            seen[key] = pairs.neighbours(first, second, place, kind)  # type: ignore[arg-type]
    return seen


@pytest.mark.parametrize("other_suite", [False, True])
@pytest.mark.parametrize("homes", [("r1",), ("r2",), ("r1", "r2")], ids="+".join)
def test_pairs_are_the_same_whatever_the_homes(
    store: Store, homes: tuple[str, ...], other_suite: bool
) -> None:
    first, second = put_both(store, other_suite=other_suite)
    rows = everything(store, first, second)
    assert rows["better"]
    assert rows["worse"]
    assert bool(rows["changed"]) is other_suite
    for run_id in homes:
        move_to_parts(store, run_id, cases=5)
    parts = everything(store, first, second)
    for name, value in rows.items():
        assert parts[name] == value, name


def test_a_run_without_results_meets_nothing(store: Store) -> None:
    first, second = put_both(store, other_suite=False)
    move_to_parts(store, first.id)
    store.results.put(second.id, [])
    assert list(store.pairs.iter_met(first, second)) == []
    assert sum(one.cases for one in store.pairs.iter_counts(first, second)) == SIZE
    assert len(RowColumns([])) == 0
