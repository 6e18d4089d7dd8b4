"""Search in the texts of a run in parts: some of them with each request."""

import pytest

from parts_runs import put_run
from proctor.store.parts import searching
from proctor.store.parts.moving import move_to_parts
from proctor.store.queries import ListingQuery
from proctor.store.store import Store


def test_a_search_goes_on_where_the_last_request_ended(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "WINDOW", 5)
    put_run(store)
    move_to_parts(store, "r1", cases=8)
    scanned = []
    while True:
        search = store.search.in_parts("r1", "nswer 2", seconds=0.0)
        assert search is not None
        scanned.append(search.scanned)
        if search.whole:
            break
    assert scanned == [5, 10, 15, 20, 23]
    rows = store.listing.page("r1", ListingQuery(search="NSWER 2"), 10)
    assert [row.case_id for row in rows] == ["c2", "c20", "c21", "c22"]
    assert search.positions == [row.position for row in rows]


@pytest.mark.parametrize("words", ["criteria", "role", "weight"])
def test_only_what_was_said_is_searched_and_not_how_it_is_stored(store: Store, words: str) -> None:
    put_run(store)
    move_to_parts(store, "r1")
    assert store.listing.page("r1", ListingQuery(search=words), 10) == []


def test_words_that_json_writes_in_another_way_are_there(store: Store) -> None:
    put_run(store)
    move_to_parts(store, "r1")
    (row,) = store.listing.page("r1", ListingQuery(search="A\x00b\ud800C"), 10)
    assert row.position == 11


def test_a_run_in_rows_has_an_index(store: Store) -> None:
    put_run(store)
    assert store.search.in_parts("r1", "answer", seconds=1.0) is None
    assert store.search.unindexed(["r1"]) == ["r1"]
    move_to_parts(store, "r1")
    assert store.search.unindexed(["r1"]) == []
