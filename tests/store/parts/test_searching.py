"""Search in the texts of runs in parts: some of them with each request."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, pairwise

import pytest

from parts_runs import SIZE, put_run
from proctor.store.parts import searching
from proctor.store.parts.moving import move_to_parts
from proctor.store.parts.searching import TextSearch
from proctor.store.queries import ListingQuery, PairQuery
from proctor.store.store import Store


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search a few cases with each step, and work a second for each by the clock."""
    worked = count()
    monkeypatch.setattr(searching, "WINDOW", 5)
    monkeypatch.setattr(searching, "ID_WINDOW", 12)
    monkeypatch.setattr(searching, "time", _Clock(lambda: 0.0, lambda: float(next(worked))))


@dataclass(frozen=True)
class _Clock:
    monotonic: Callable[[], float]
    thread_time: Callable[[], float]


def begun(store: Store, words: str, *run_ids: str) -> list[TextSearch]:
    searches = store.search.in_parts(run_ids, words)
    return [search for search in searches if search is not None]


def steps(searches: list[TextSearch]) -> int:
    """Return how many windows were searched, those of what runs share once."""
    scans = {id(scan): (texts, scan) for search in searches for texts, scan in search.scans}
    made = 0
    for texts, scan in scans.values():
        place = 0
        while place < scan.scanned:
            place = texts.window(place).stop
            made += 1
    return made


def test_a_search_goes_on_where_the_last_request_ended(store: Store) -> None:
    put_run(store)
    expected = [
        row.position for row in store.listing.page("r1", ListingQuery(search="nswer 2"), 50)
    ]
    move_to_parts(store, "r1", cases=8)
    states: list[tuple[int, list[int]]] = []
    while not states or states[-1][0] < SIZE:
        with store.search.limited(2.0):
            (search,) = begun(store, "nswer 2", "r1")
        states.append((search.scanned, search.positions))
        assert search.whole is (search.scanned == SIZE)
    done = [scanned for scanned, _ in states]
    assert done == sorted(set(done)), "each request gets further"
    assert len(done) > SIZE // searching.WINDOW
    for (scanned, found), (_, later) in pairwise(states):
        assert set(found) <= set(later)
        assert [place for place in later if place < scanned] == [
            place for place in found if place < scanned
        ], "what is said to be searched is"
    assert states[-1][1] == expected == [2, 20, 21, 22]


def test_one_request_searches_no_longer_in_two_runs_than_in_one(store: Store) -> None:
    first, second = put_run(store, "r1"), put_run(store, "r2")
    move_to_parts(store, "r1", cases=8)
    move_to_parts(store, "r2", cases=8)
    done = []
    while not done or done[-1] < done[0] + 100:
        with store.search.limited(4.0):
            searches = begun(store, "answer 1", "r1", "r2")
            scanned = [search.scanned for search in searches]
            # Whatever else a page reads searches no further.
            store.paired_listing.page(first, second, PairQuery(search="answer 1"), 5)
            store.listing.page("r2", ListingQuery(search="answer 1"), 5)
        assert [search.scanned for search in searches] == scanned
        assert abs(scanned[0] - scanned[1]) <= searching.WINDOW
        done.append(steps(searches))
        if all(search.whole for search in searches):
            break
    whole = done[-1]
    assert done == [*range(4, whole, 4), whole]
    # Ids of both runs, their answers, and the questions that they share.
    assert len({id(scan) for search in searches for _, scan in search.scans}) == 5


@pytest.mark.parametrize(("waited", "made"), [(0.0, 2), (3.0, 2), (8.0, 1)])
def test_a_step_may_wait_longer_than_it_works(
    store: Store, monkeypatch: pytest.MonkeyPatch, waited: float, made: int
) -> None:
    worked, clock = count(), count()
    now = _Clock(lambda: waited * next(clock), lambda: float(next(worked)))
    monkeypatch.setattr(searching, "time", now)
    put_run(store)
    move_to_parts(store, "r1", cases=8)
    with store.search.limited(2.0):
        assert steps(begun(store, "answer", "r1")) == made


def test_a_search_without_a_limit_is_whole(store: Store) -> None:
    put_run(store)
    move_to_parts(store, "r1", cases=8)
    (search,) = begun(store, "answer", "r1")
    assert search.whole
    assert search.scanned == SIZE


def test_the_case_with_an_id_is_found_before_texts_are_read(store: Store) -> None:
    put_run(store)
    move_to_parts(store, "r1", cases=8)
    with store.search.limited(2.0):
        (row,) = store.listing.page("r1", ListingQuery(search="C22"), 10)
        (search,) = begun(store, "c22", "r1")
    assert row.case_id == "c22"
    assert search.scanned == 0


@pytest.mark.parametrize("words", ["criteria", "role", "weight", "0000"])
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
    assert store.search.in_parts(["r1"], "answer") == [None]
    assert store.search.unindexed(["r1"]) == ["r1"]
    move_to_parts(store, "r1")
    assert store.search.unindexed(["r1"]) == []


@pytest.mark.parametrize("letters", ["ab", "aB ", "aé天", "aÄß"])
@pytest.mark.parametrize("words", ["a", "aa", "aab", "b", "a b", "é", "天a", "ä", "aß", ""])
def test_texts_are_searched_as_if_one_by_one(letters: str, words: str) -> None:
    import pyarrow as pa

    made = random.Random(words + letters)
    texts = [
        None if made.random() < 0.1 else "".join(made.choices(letters, k=made.randrange(5)))
        for _ in range(300)
    ]
    expected = [row for row, text in enumerate(texts) if text is not None and words in text.lower()]
    for kind in (pa.string(), pa.large_string()):
        chunks = [pa.array(texts[:120], kind), pa.array([], kind), pa.array(texts, kind)[120:]]
        assert searching._rows_with(pa.chunked_array(chunks), words) == expected
