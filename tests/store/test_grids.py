"""Grids of runs: which cases differ, and which fail, in rows and in parts, a page at a time."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from parts_runs import put_run
from proctor.core.run import Run
from proctor.store import grids, searched_places
from proctor.store.grids import OUTCOMES
from proctor.store.parts.moving import move_to_parts
from proctor.store.queries import GridQuery
from proctor.store.rows import ResultRow
from proctor.store.store import Store

SIZE = 16
VALUES = {"r1": (1.0, 1.0, 0.0, None), "r2": (1.0, 0.5, 0.0, None), "r3": (1.0, 1.0, 0.0, 0.0)}
"""What each run makes of four cases, and of the next four."""
DIFFER, FAILED_ANY, FAILED_ALL = (1, 3), (1, 2, 3), (2,)
"""Which of the four they are."""


@pytest.fixture
def store(address: str, tmp_path: Path) -> Iterator[Store]:
    parts = "" if "://" not in address else str(tmp_path / "parts")
    with Store.open(address, parts=parts) as opened:
        yield opened


def put(store: Store) -> list[Run]:
    """Store three runs of a suite."""
    runs = []
    for name, values in VALUES.items():
        runs.append(put_run(store, name, SIZE))
        rows = [
            replace(row, value=values[row.position % 4], low=0.0, high=1.0)
            for row in store.results.iter_rows(name)
        ]
        store.results.put(name, rows)
    return runs


def expected(outcome: str | None) -> list[int]:
    wanted = {None: range(4), "differ": DIFFER, "failed_any": FAILED_ANY, "failed_all": FAILED_ALL}
    return [place for place in range(SIZE) if place % 4 in wanted[outcome]]


def listed(store: Store, runs: list[Run], request: GridQuery, limit: int) -> list[str]:
    found: list[str] = []
    after: int | None = -1
    while after is not None:
        ids, after = store.grid_listing.page(runs, request, limit, after)
        assert len(ids) <= limit
        found += ids
    return found


def check(store: Store, runs: list[Run]) -> None:
    ids = store.results.ids_at("r1", range(SIZE))
    for outcome in (None, *OUTCOMES):
        names = [ids[place] for place in expected(outcome)]
        for limit in (1, 3, 50):
            assert listed(store, runs, GridQuery(outcome=outcome), limit) == names, outcome
        found = listed(store, runs, GridQuery(outcome=outcome, search="ANSWER 1"), 3)
        said = [ids[place] for place in expected(outcome) if place in (1, *range(10, SIZE))]
        assert found == [name for name in said if name not in (ids[5], ids[11])], outcome
    counts = store.grid_listing.counts(runs)
    assert counts == tuple(len(expected(outcome)) for outcome in (None, *OUTCOMES))


@pytest.mark.parametrize("window", [50_000, 3])
@pytest.mark.parametrize("most", [1000, 0])
def test_runs_in_rows(
    store: Store, monkeypatch: pytest.MonkeyPatch, window: int, most: int
) -> None:
    monkeypatch.setattr(grids, "WINDOW", window)
    monkeypatch.setattr(grids, "SECONDS", 0.0)
    monkeypatch.setattr(searched_places, "MOST_AT_ONCE", most)
    check(store, put(store))


def test_a_run_that_lacks_a_case_differs(store: Store) -> None:
    runs = put(store)
    store.results.put("r2", list(store.results.iter_rows("r2"))[:-4])
    for _ in range(2):
        names, after = store.grid_listing.page(runs, GridQuery(outcome="differ"), 50)
        assert (names[-4:], after) == (["c12", "c13", "c14", "c15"], None)
        assert store.grid_listing.page(runs, GridQuery(outcome="failed_all"), 50, 9) == (
            ["c10"],
            None,
        )
        move_to_parts(store, "r3", cases=5)


@pytest.mark.parametrize("moved", [("r1", "r2", "r3"), ("r2",), ("r1", "r3")])
def test_runs_in_parts(store: Store, moved: tuple[str, ...]) -> None:
    runs = put(store)
    for name in moved:
        move_to_parts(store, name, cases=5)
    check(store, runs)


def test_marks_are_compared_as_shares_of_the_full_marks(store: Store) -> None:
    runs = [put_run(store, name, 4) for name in ("r1", "r2")]
    marks: dict[str, list[tuple[float | None, float]]] = {
        "r1": [(1.0, 2.0), (1.0, 1.0), (0.0, 0.0), (0.3, 1.0)],
        "r2": [(2.0, 4.0), (1.0, 2.0), (None, 1.0), (0.1 + 0.2, 1.0)],
    }
    for name, pairs in marks.items():
        rows = [
            replace(row, value=value, full=full)
            for row, (value, full) in zip(store.results.iter_rows(name), pairs, strict=True)
        ]
        store.results.put(name, rows)
    for _ in range(2):
        assert store.grid_listing.page(runs, GridQuery(outcome="differ"), 9) == (["c1"], None)
        move_to_parts(store, "r2")


def test_cases_of_two_suites_are_matched_by_id(store: Store) -> None:
    short, long = put_run(store, "r1", 6), put_run(store, "r2", 9)
    assert short.suite_key != long.suite_key

    def one(row: ResultRow) -> ResultRow:
        return replace(row, value=float(row.position != 4), full=1.0)

    for name in ("r1", "r2"):
        store.results.put(name, [one(row) for row in store.results.iter_rows(name)])
    for moved in (None, "r2", "r1"):
        if moved:
            move_to_parts(store, moved, cases=4)
        assert listed(store, [short, long], GridQuery(outcome="differ"), 9) == []
        assert listed(store, [long, short], GridQuery(outcome="differ"), 9) == ["c6", "c7", "c8"]
        assert listed(store, [long, short], GridQuery(outcome="failed_all"), 9) == ["c4"]
        assert store.grid_listing.counts([long, short]) == (9, 3, 1, 1)
