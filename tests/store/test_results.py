"""Results of cases, and the numbers of all: replaced, in pages, and found by tag."""

from dataclasses import replace

from sqlalchemy import update

from proctor.core.case_value import ValueStatus
from proctor.store.rows import ResultRow
from proctor.store.schema import run_results, summaries
from proctor.store.store import Store

AWKWARD = "a\x00b\ud800c\x10d"


def make_result(position: int, **tags: tuple[str, ...]) -> ResultRow:
    return ResultRow(
        position=position,
        case_id=f"c{position}",
        status=ValueStatus.SCORED,
        value=0.5,
        full=1.0,
        weight=2.0,
        low=0.25,
        high=0.75,
        spread=0.125,
        tags=tags,
    )


def test_results_are_replaced_paged_and_found_by_tag(store: Store) -> None:
    rows = [
        make_result(n, odd=(str(n % 2),), **{AWKWARD: ("x", "x", AWKWARD)}) for n in range(1100)
    ]
    store.results.put("r1", rows)
    store.results.put("r2", rows[:1])
    assert list(store.results.iter_rows("r1")) == rows
    assert list(store.results.iter_rows("r1", after=1, limit=3)) == rows[2:5]
    assert list(store.results.iter_rows("r1", tag=("odd", "1"))) == rows[1::2]
    assert list(store.results.iter_rows("r1", tag=("odd", "1"), after=1, limit=2)) == [
        rows[3],
        rows[5],
    ]
    assert list(store.results.iter_rows("r1", tag=(AWKWARD, AWKWARD), limit=2)) == rows[:2]
    assert list(store.results.iter_rows("r1", tag=("odd", "2"))) == []
    worst = replace(make_result(4), status=ValueStatus.UNSCORED, value=None)
    store.results.put("r1", [worst])
    assert list(store.results.iter_rows("r1")) == [worst]
    assert list(store.results.iter_rows("r1", tag=("odd", "1"))) == []
    assert list(store.results.iter_rows("r2")) == rows[:1]


def test_summaries_are_replaced(store: Store) -> None:
    assert store.summaries.get("r1") is None
    store.summaries.save("r1", {"totals": {"score": 1.5}, "name": AWKWARD})
    assert store.summaries.get("r1") == {"totals": {"score": 1.5}, "name": AWKWARD}
    store.summaries.save("r1", {})
    assert store.summaries.get("r1") == {}


def test_some_cases_are_looked_up_by_id_and_the_next_ones_by_place(store: Store) -> None:
    store.results.put("r1", [make_result(0, lang=("go",)), make_result(3), make_result(7)])
    assert store.results.count("r1") == 3
    assert store.results.tags_of("r1", ["c0", "c3", "gone"]) == {"c0": {"lang": ("go",)}, "c3": {}}
    assert store.results.values_of("r1", ["c7", "gone"]) == {"c7": (0.5, 1.0)}
    assert store.results.neighbours("r1", 3) == ("c0", "c7")
    assert store.results.neighbours("r1", 0) == (None, "c3")
    assert store.results.neighbours("r1", 8) == ("c7", None)
    assert store.results.count("r2") == 0


def test_a_row_that_was_damaged_is_marked_and_read_as_unscored(store: Store) -> None:
    store.results.put("r1", [make_result(place, lang=("go",)) for place in range(4)])
    table = run_results.c
    with store.database.write() as connection:
        for place, values in enumerate(({"status": "odd"}, {"tags": "[]"}, {"tags": '{"a":[1]}'})):
            statement = update(run_results).where(table.position == place).values(values)
            connection.execute(statement)
    *broken, whole = store.results.iter_rows("r1")
    assert [row.broken for row in broken] == [True] * 3
    assert broken[0].status is ValueStatus.UNSCORED
    assert [dict(row.tags) for row in broken] == [{}, {}, {}]
    assert (whole.broken, dict(whole.tags)) == (False, {"lang": ("go",)})
    store.summaries.save("r1", {"totals": {}})
    with store.database.write() as connection:
        connection.execute(update(summaries).values(document="[1]"))
    assert store.summaries.get("r1") == {}


def test_clusters_of_some_cases(store: Store) -> None:
    rows = [replace(make_result(n), cluster=f"q{n % 2}" if n < 4 else "") for n in range(6)]
    store.results.put("r1", rows)
    found = store.results.clusters_among("r1", ["c0", "c3", "c5", "other"])
    assert found == {"c0": "q0", "c3": "q1"}
