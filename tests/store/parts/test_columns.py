"""Columns of results: read when wanted, kept while there is room, and their masks."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from parts_runs import AWKWARD, SIZE, put_run, result_at
from proctor.store.parts import columns as module
from proctor.store.parts.column_cache import COLUMNS, array_bytes
from proctor.store.parts.columns import ResultColumns
from proctor.store.parts.moving import move_to_parts
from proctor.store.store import Store


@pytest.fixture
def columns(store: Store) -> ResultColumns:
    move_to_parts(store, put_run(store).id, cases=5)
    home = store.homes.run("r1")
    assert home is not None
    return home.columns


def test_columns_have_one_entry_for_each_case_in_order(columns: ResultColumns) -> None:
    rows = [result_at(place) for place in range(SIZE)]
    assert len(columns) == SIZE
    assert columns.position.tolist() == list(range(SIZE))
    for name in ("full", "weight", "low", "high", "spread"):
        assert columns.number(name).tolist() == [getattr(row, name) for row in rows]
    expected = np.array([np.nan if row.value is None else row.value for row in rows])
    np.testing.assert_array_equal(columns.value, expected)
    assert [columns.status.of(place) for place in range(SIZE)] == [row.status for row in rows]
    assert [columns.cluster.of(place) or "" for place in range(SIZE)] == [
        row.cluster for row in rows
    ]
    assert columns.ids.at([11, 0]) == [AWKWARD, "c0"]
    assert columns.rows([7, 3]) == [rows[7], rows[3]]


def test_statuses_and_tags_select_cases(columns: ResultColumns) -> None:
    failed = columns.status.mask(lambda status: status == "error")
    assert np.flatnonzero(failed).tolist() == [5, 11, 17]
    alone = columns.cluster.mask(lambda cluster: cluster == "g1")
    assert np.flatnonzero(alone).tolist() == [4, 6, 7]
    assert columns.tag_names() == ["odd", "third"]
    third = columns.tag("third").mask(lambda value: value == "b")
    assert np.flatnonzero(third).tolist() == list(range(0, SIZE, 3))
    assert not columns.tag("none").mask(lambda value: True).any()
    assert columns.tags_at(3) == {"odd": ("1",), "third": ("a", "b")}


def test_ids_are_found_whatever_characters_they_have(columns: ResultColumns) -> None:
    assert columns.ids.escaped
    assert columns.find(["c4", AWKWARD, "no", "\ud900"]) == {"c4": 4, AWKWARD: 11}


def test_labels_of_few_cases_are_read_without_the_columns(
    columns: ResultColumns, monkeypatch: pytest.MonkeyPatch
) -> None:
    COLUMNS.clear()
    places = [11, 0, 3, 7, 3]
    few = columns.labels_at(places)
    assert few[0][0] == AWKWARD
    assert columns.labels_at([]) == []
    assert not COLUMNS.has((columns.key, "tags"))
    assert not COLUMNS.has((columns.key, "case_id"))
    monkeypatch.setattr(module, "FEW", 4)
    assert columns.labels_at(places) == few
    assert COLUMNS.has((columns.key, "tags"))
    monkeypatch.setattr(module, "FEW", 50)
    assert columns.labels_at(places) == few


def test_labels_of_a_part_that_is_gone_are_placeholders(columns: ResultColumns) -> None:
    COLUMNS.clear()
    part = columns._parts[1]
    columns._folder_of(part.place).delete([part.place], ["results"])
    few = columns.labels_at([part.first, 0])
    assert few == [(f"case {part.first + 1}", ""), ("c0", columns.tags.of(0))]
    assert columns.labels_at([part.first, 0]) == few


def test_ids_that_are_those_of_others_are_kept_once(store: Store) -> None:
    COLUMNS.clear()
    run = put_run(store)
    move_to_parts(store, run.id, cases=5)
    home, suite = store.homes.run(run.id), store.homes.suite(run.suite_key)
    assert home is not None
    assert suite is not None
    own, others = home.columns.ids, suite.ids
    assert own.array is others.array
    assert own.at([11]) == others.at([11]) == [AWKWARD]
    assert [own._loaded().nbytes > 0, others._loaded().nbytes] == [True, 0]


@pytest.mark.parametrize(
    ("numbers", "size"),
    [([1.0, 1.0, 1.0], 0), ([1.0, 2.0, 1.0], 24), ([], 0), ([float("nan")] * 3, 24)],
    ids=["all the same", "different", "none", "unknown"],
)
def test_a_column_of_one_number_takes_no_room(numbers: list[float], size: int) -> None:
    column = module._numbers([pa.array(numbers, pa.float64())])
    assert column.tolist() == pytest.approx(numbers, nan_ok=True)
    assert array_bytes(column) == size


def test_a_column_with_the_numbers_of_another_is_that_one() -> None:
    value = module._numbers([pa.array([0.5, None, 1.0], pa.float64())])
    same = module._numbers([pa.array([0.5, None, 1.0], pa.float64())])
    other = module._numbers([pa.array([0.5, 0.0, 1.0], pa.float64())])
    assert array_bytes(module._same_or_own(same, value)) == 0
    assert module._same_or_own(other, value) is other


@pytest.mark.parametrize("ids", [["a", "b", "d", "é", "天"], ["b", "a", "d"], ["a", "a", "b"], []])
def test_ids_are_found_whether_they_ascend_or_not(ids: list[str]) -> None:
    loaded = module._ids([(pa.array(ids, pa.large_string()), False)])
    assert loaded.ascending == all(one < other for one, other in pairwise(ids))
    column = module._LoadedIds(loaded)
    wanted = [*ids, "", "c", "zz", "\ud800"]
    assert column.find(wanted) == {name: ids.index(name) for name in dict.fromkeys(ids)}
