"""Pairs of results of two runs in rows: what counts as a change, and what as none."""

from dataclasses import replace

import pytest

from parts_runs import put_run, result_at
from proctor.core.run import Run
from proctor.store.pairs import NEAR, Pairs
from proctor.store.parts.pairs import LoadedResults, PairColumns
from proctor.store.store import Store


@pytest.fixture
def pairs(store: Store) -> Pairs:
    return Pairs(store.database, store.homes, store.suites)


@pytest.fixture
def runs(store: Store) -> tuple[Run, Run]:
    first, second = put_run(store), put_run(store, "r2")
    values = {"r1": [0.0, 0.5, 1.0, 1.0, 0.5], "r2": [NEAR / 2, 1.0, 0.0, 1.0 - NEAR / 2, 0.5]}
    for name, of_run in values.items():
        rows = [replace(result_at(place), value=value) for place, value in enumerate(of_run)]
        store.results.put(name, rows)
    return first, second


def test_differences_by_rounding_alone_are_no_change(pairs: Pairs, runs: tuple[Run, Run]) -> None:
    kinds = {
        kind: [one.position for one in pairs.iter_cases(*runs, kind)]
        for kind in ("better", "worse", "both_wrong", "both_partly", "both_right")
    }
    assert kinds == {
        "better": [1],
        "worse": [2],
        "both_wrong": [0],
        "both_partly": [4],
        "both_right": [3],
    }


def test_runs_in_rows_are_no_columns(pairs: Pairs, runs: tuple[Run, Run]) -> None:
    assert pairs.columns(*runs) is None
    assert sum(one.cases for one in pairs.iter_counts(*runs)) == 5
    assert pairs.neighbours(*runs, 1) == ("c0", "c2")
    assert [one.position for one in pairs.largest_changes(*runs, "worse", 3)] == [2]


def test_pairs_are_counted_by_their_shares_of_full_marks(store: Store, pairs: Pairs) -> None:
    first, second = put_run(store), put_run(store, "r2")
    values = {
        "r1": [0.0, 0.0, 0.25, 0.29, 1.0, None, 2.0, -0.5],
        "r2": [1.0, 1.0, 0.05, 0.09, 0.1, 1.0, 0.5, 0.0],
    }
    for name, of_run in values.items():
        rows = [replace(result_at(place), value=value) for place, value in enumerate(of_run)]
        store.results.put(name, rows)
    wanted = [
        (0, 1, 1, -0.5, 0.0), (1, 12, 2, 0.0, 1.0), (4, 2, 2, 0.27, 0.07), (12, 3, 1, 1.0, 0.1),
        (12, 7, 1, 2.0, 0.5),
    ]  # fmt: skip
    found = pairs.shares(first, second)
    assert [cell[:3] for cell in found] == [cell[:3] for cell in wanted]
    assert [cell[3:] for cell in found] == [pytest.approx(cell[3:]) for cell in wanted]
    columns = PairColumns.of(
        LoadedResults(store.results.iter_rows("r1")), LoadedResults(store.results.iter_rows("r2")),
        same_suite=True,
    )  # fmt: skip
    same = columns.share_cells()
    assert [cell[:3] for cell in same] == [cell[:3] for cell in wanted]
    assert [cell[3:] for cell in same] == [pytest.approx(cell[3:]) for cell in wanted]
