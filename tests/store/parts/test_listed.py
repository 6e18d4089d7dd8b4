"""Lists of runs in parts: the pages of the same run in rows, for every filter and order."""

from dataclasses import replace

import pytest

from parts_runs import put_run
from proctor.core.run import Run
from proctor.errors import UsageError
from proctor.store.parts.moving import move_to_parts
from proctor.store.queries import START, Cursor, ListingQuery, PairQuery
from proctor.store.rows import ResultRow
from proctor.store.store import Store

WHERE = [
    "value < 1", "value >= 1", "1 > value", "value == None", "value != None", "None == value",
    "rate > 0.5 and weight == 2", "not (value > 1)", "value != 1", "0 < value < 2", "-value < -1",
    "value + 1 > 2 * full", "value / spread > 1", "status == 'error'", "status != 'error'",
    "'ERR' in status", "status in ['error', 'scored']", "status not in ['error']", "id == 'c3'",
    "id >= 'c5'", "'2' in id", "odd == '1'", "odd != '1'", "'1' == odd", "odd < '1'", "'0' < odd",
    "third == None", "third != None", "third == 'b'", "'B' in third", "third in ['a', 'x']",
    "third not in ['x']", "value in [1, 2]", "value not in [0]", "id == status", "True", "False",
    "value == None or third == 'a'", "'1' in id and not odd == '1'", "'x' == 'x'", "1 < 2",
]  # fmt: skip
REQUESTS = [
    ListingQuery(),
    ListingQuery(descending=True),
    ListingQuery(sort="value"),
    ListingQuery(sort="value", descending=True),
    ListingQuery(sort="id"),
    ListingQuery(sort="id", descending=True),
    ListingQuery(status="error", sort="value"),
    ListingQuery(search="answer 1"),
    ListingQuery(search="C1", sort="id"),
    ListingQuery(search="third", where="odd == '1'", sort="value", descending=True),
]


def pages(store: Store, run: Run, request: ListingQuery, limit: int) -> list[list[ResultRow]]:
    """Return all pages of a list."""
    read = []
    while page := store.listing.page(run.id, request, limit):
        read.append(page)
        last = page[-1]
        key = {"position": None, "value": last.value, "id": last.case_id}[request.sort]
        request = replace(request, after=Cursor(key, last.position))
    return read


def everything(store: Store, run: Run) -> dict[str, object]:
    seen: dict[str, object] = {
        "tags": store.listing.tags(run.id),
        "histogram": store.listing.histogram(run.id, 4),
    }
    for text in WHERE:
        rows = store.listing.page(run.id, ListingQuery(where=text), 100)
        seen[text] = [row.position for row in rows]
    for request in REQUESTS:
        for limit in (4, 100):
            seen[f"{request} {limit}"] = pages(store, run, request, limit)
    return seen


@pytest.mark.slow
def test_lists_are_the_same_of_both_homes(store: Store) -> None:
    run = put_run(store)
    rows = everything(store, run)
    move_to_parts(store, run.id, cases=5)
    parts = everything(store, run)
    for name, value in rows.items():
        assert parts[name] == value, name


def test_a_wrong_filter_of_a_large_run_says_why(store: Store) -> None:
    run = put_run(store)
    move_to_parts(store, run.id)
    for where in ("vlaue < 1", "value < 'x'", "odd + 1 > 2", "value"):
        with pytest.raises(UsageError):
            store.listing.page(run.id, ListingQuery(where=where), 5)


def test_a_run_in_rows_whose_suite_is_in_parts_is_searched_with_its_questions(
    store: Store,
) -> None:
    run, other = put_run(store, "r1"), put_run(store, "r2")
    move_to_parts(store, other.id, cases=5)
    assert store.parts.home_of(run.id) == "rows"
    page = store.listing.page(run.id, ListingQuery(search="13?"), 5)
    assert [row.position for row in page] == [13]


@pytest.mark.slow
def test_pairs_are_listed_alike_of_both_homes(store: Store) -> None:
    first, second = put_run(store, "r1"), put_run(store, "r2")
    rows = [replace(row, value=(row.position % 3) / 2) for row in store.results.iter_rows("r1")]
    store.results.put("r2", rows)
    requests = [
        PairQuery(),
        PairQuery(change="better"),
        PairQuery(where="difference > 0.1 and odd == '1'"),
        PairQuery(where="kind == 'worse' or 'c1' in id"),
        PairQuery(where="first > second", change="worse"),
        PairQuery(search="answer 1"),
    ]

    def walked(request: PairQuery, limit: int) -> list[object]:
        after, read = START, list[object]()
        while True:
            pairs, following = store.paired_listing.page(first, second, request, limit, after)
            read += pairs
            if following is None:
                return read
            after = following

    before = [walked(request, limit) for request in requests for limit in (4, 100)]
    assert all(before)
    move_to_parts(store, first.id, cases=5)
    assert [walked(request, limit) for request in requests for limit in (4, 100)] == before
