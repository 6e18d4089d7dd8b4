"""Pairs of results of runs in parts: the same as of runs in rows."""

from dataclasses import replace
from typing import Any

import pytest

from parts_runs import SIZE, put_run, result_at
from proctor.core.run import Run
from proctor.store.parts.moving import move_to_parts
from proctor.store.queries import START, PairCursor, PairQuery
from proctor.store.rows import StoredPair
from proctor.store.store import Store

CHANGES: list[Any] = [None, "better", "worse", "both_wrong", "both_partly", "both_right"]
SHARES = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.5, 1.0), (1.0, 0.5)]
WHERES = ["kind == 'worse'", "second > first", "difference < 0 and odd == '1'", "'C1' in id"]


def put_two(store: Store, other_size: int = 23) -> tuple[Run, Run]:
    """Store two runs with all kinds of changes; another size makes another suite."""
    first = put_run(store)
    second = put_run(store, "r2", other_size)
    for side, (name, size) in enumerate((("r1", SIZE), ("r2", other_size))):
        rows = []
        for place in range(size):
            row = result_at(place)
            full = 1.0 + place % 2
            value = None if row.value is None else full * SHARES[place % len(SHARES)][side]
            rows.append(replace(row, value=value, full=full))
        store.results.put(name, rows)
    return first, second


def listed(store: Store, runs: tuple[Run, Run], query: PairQuery) -> list[StoredPair]:
    """Return the pairs of all pages."""
    pairs: list[StoredPair] = []
    after: PairCursor | None = START
    while after is not None:
        page, after = store.paired_listing.page(*runs, query, 3, after)
        pairs += page
    return pairs


def walked(store: Store, runs: tuple[Run, Run], query: PairQuery) -> list[tuple[str, Any]]:
    """Return each listed case that got better or worse, and the way from case to case."""
    pairs = listed(store, runs, query)
    ids = [pair.id for pair in pairs]
    around = store.paired_listing.around
    ways = [around(*runs, query, pair.position, moved_only=False) for pair in pairs]
    assert ways == list(zip([None, *ids[:-1]], [*ids[1:], None], strict=True)) if ids else not ways
    return [(pair.id, around(*runs, query, pair.position, moved_only=True)) for pair in pairs]


def everything(store: Store, runs: tuple[Run, Run]) -> list[Any]:
    """Return all that can be read of two runs side by side."""
    queries = [PairQuery(change=change) for change in CHANGES]
    queries += [PairQuery(where=where) for where in WHERES]
    queries += [PairQuery(search="answer 1"), PairQuery(search="c2", change="worse")]
    return [
        *(list(store.pairs.iter_cases(*runs, change)) for change in CHANGES),
        *(store.pairs.largest_changes(*runs, change, 4) for change in CHANGES[1:]),
        *(store.pairs.neighbours(*runs, place, "worse") for place in (-1, 6, 11, 30)),
        list(store.pairs.iter_met(*runs)),
        *(listed(store, runs, query) for query in queries),
        *(walked(store, runs, query) for query in queries),
        [(one.id, two.id) for one, two in
         store.pairs.iter_changed_cases(runs[0].suite_key, runs[1].suite_key)],
    ]  # fmt: skip


@pytest.mark.parametrize("size", [23, 19])
@pytest.mark.parametrize("moved", [("r1", "r2"), ("r1",), ("r2",)])
@pytest.mark.sampled(6, ci=1)
@pytest.mark.slow
def test_both_homes_have_the_same_pairs(store: Store, size: int, moved: tuple[str, ...]) -> None:
    runs = put_two(store, size)
    in_rows = everything(store, runs)
    assert all(in_rows[:6])
    for run_id in moved:
        move_to_parts(store, run_id, cases=8)
    in_parts = everything(store, runs)
    for number, (one, other) in enumerate(zip(in_parts, in_rows, strict=True)):
        assert one == other, number


@pytest.mark.slow
def test_runs_in_rows_are_matched_by_id_where_a_suite_is_in_parts(store: Store) -> None:
    runs = put_two(store, 19)
    in_rows = everything(store, runs)
    other = put_run(store, "r3", 19)
    move_to_parts(store, other.id, cases=8)
    assert store.homes.run(runs[1].id) is None
    assert store.homes.suite(runs[1].suite_key) is not None
    assert everything(store, runs) == in_rows
