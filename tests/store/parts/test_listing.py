"""Lists of a run in parts: the same pages as of the run in rows."""

from typing import Any, get_args

import pytest

from parts_runs import put_run, sort_keys_at
from proctor.errors import UsageError
from proctor.store.parts.moving import move_to_parts
from proctor.store.queries import KEY_OF_SORT, ListingQuery, Sort
from proctor.store.rows import ResultRow
from proctor.store.store import Store

SORTS = get_args(Sort)
WHERES = [
    "",
    "value < 1",
    "value == None",
    "value is not None",
    "not value < 1",
    "rate >= 0.5 and weight == 2",
    "0 < value <= 0.5 or status == 'error'",
    "value * 2 + 1 > full / 0",
    "-value < -0.5",
    "id in ['c3', 'c4', 'x']",
    "'C1' in id",
    "id > 'c5'",
    "id == status",
    "odd == '1'",
    "third == None",
    "'B' in third",
    "'a' not in third",
    "third < 'b'",
    "value not in [0, 1]",
    "1 < 2",
    "False",
]


def pages(store: Store, **query: Any) -> list[ResultRow]:
    """Return the cases of all pages of a list."""
    rows: list[ResultRow] = []
    after = None
    while page := store.listing.page("r1", ListingQuery(after=after, **query), 4):
        rows += page
        after = store.listing.cursor("r1", query.get("sort", "position"), page[-1].position)
    return rows


def test_both_homes_list_the_same(store: Store) -> None:
    put_run(store)
    queries: list[dict[str, Any]] = [{"where": where} for where in WHERES]
    queries += [{"where": "odd == '0'", "sort": sort, "descending": descending}
                for sort in SORTS for descending in (False, True)]  # fmt: skip
    queries += [{"sort": sort, "backward": True} for sort in SORTS]
    queries += [{"status": status} for status in ("scored", "error", "unscored", "failed")]
    queries += [{"search": words} for words in ("ANSWER 1", "c2", "odd: 1", "17?", "user", "nope")]
    in_rows = [pages(store, **query) for query in queries]
    about = store.listing.tags("r1"), store.listing.histogram("r1", 7), store.listing.kinds("r1")
    counts = [store.listing.count("r1", ListingQuery(**query)) for query in queries]
    assert counts == [len(rows) for rows in in_rows]
    assert about[2].cases == len(in_rows[0])
    assert move_to_parts(store, "r1", cases=9) == 3
    for query, wanted in zip(queries, in_rows, strict=True):
        assert pages(store, **query) == wanted, query
        assert store.listing.count("r1", ListingQuery(**query)) == len(wanted), query
    moved = store.listing.tags("r1"), store.listing.histogram("r1", 7), store.listing.kinds("r1")
    assert moved == about
    assert any(in_rows)


def test_both_homes_list_the_same_by_criteria(store: Store) -> None:
    put_run(store)
    wheres = ["k < 1", "j == None", "failed == 'k' and odd == '1'", "'j' in failed", "k - j > 1",
              "failed == None or k > 2", "not k < 1 and rate > 0"]  # fmt: skip
    queries: list[dict[str, Any]] = [{"where": where} for where in wheres]
    queries += [{"criterion": name, "descending": descending, "backward": backward, **more}
                for name in ("k", "j", "none") for descending in (False, True)
                for backward in (False, True) for more in ({}, {"where": "odd == '0'"})]  # fmt: skip
    in_rows = [pages(store, **query) for query in queries]
    names = store.criterion_shares.names("r1")
    assert names == ("j", "k")
    assert [row.position for row in in_rows[0]] == [0, 1, 2, 3, 4, 6]
    assert move_to_parts(store, "r1", cases=9) == 3
    assert store.criterion_shares.names("r1") == names
    for query, wanted in zip(queries, in_rows, strict=True):
        assert pages(store, **query) == wanted, query
        assert store.listing.count("r1", ListingQuery(**query)) == len(wanted), query
    with pytest.raises(UsageError, match="unknown name 'q'"):
        pages(store, where="q < 1")


def test_the_next_failure_is_the_first_of_the_list_after_its_cursor(store: Store) -> None:
    put_run(store)
    queries = [
        ListingQuery(
            where=where,
            search=search,
            sort=sort,
            descending=descending,
            after=store.listing.cursor("r1", sort, place),
        )
        for sort in ("position", "value", "id", "cost")
        for descending in (False, True)
        for where, search in (("", ""), ("odd == '0'", ""), ("rate > 2", ""), ("", "odd: 1"))
        for place in (0, 6, 15)
    ]  # fmt: skip

    def failures(query: ListingQuery) -> str | None:
        rows = store.listing.page("r1", query, 100)
        below = (row.case_id for row in rows if row.value is not None and row.value < row.full)
        return next(below, None)

    wanted = [failures(query) for query in queries]
    assert None in wanted
    assert len(set(wanted)) > 3
    assert [store.listing.next_failure("r1", query) for query in queries] == wanted
    move_to_parts(store, "r1", cases=9)
    assert [store.listing.next_failure("r1", query) for query in queries] == wanted


def test_the_next_failure_is_looked_for_only_near(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_run(store)
    rows = store.listing.page("r1", ListingQuery(), 100)
    below = [row.value is not None and row.value < row.full for row in rows]
    passed = [place for place in range(len(rows)) if not any(below[place - 2 : place])]
    assert passed
    monkeypatch.setattr("proctor.store.listing.MOST_PASSED", 2)
    for moved in (False, True):
        if moved:
            move_to_parts(store, "r1", cases=9)
        for place in range(2, len(rows)):
            back = ListingQuery(backward=True, after=store.listing.cursor("r1", "position", place))
            found = store.listing.next_failure("r1", back)
            assert (found is None) == (place in passed), (moved, place)


@pytest.mark.slow
def test_a_page_goes_on_after_a_case_that_is_not_listed(store: Store) -> None:
    put_run(store)
    queries = [
        ListingQuery(
            where=where,
            sort=sort,
            descending=descending,
            backward=backward,
            after=store.listing.cursor("r1", sort, place),
        )
        for descending in (False, True)
        for backward in (False, True)
        for sort in SORTS
        for where, place in (("odd == '1'", 4), ("odd == '0'", 5))
    ]
    in_rows = [store.listing.page("r1", query, 5) for query in queries]
    move_to_parts(store, "r1")
    assert [store.listing.page("r1", query, 5) for query in queries] == in_rows


def test_the_order_of_each_header_is_that_of_its_keys(store: Store) -> None:
    put_run(store)
    rows = pages(store)
    keys = {row.position: sort_keys_at(row.position) for row in rows}
    for moved in (False, True):
        if moved:
            move_to_parts(store, "r1", cases=9)
        for sort, name in KEY_OF_SORT.items():
            for descending in (False, True):
                listed = [getattr(keys[row.position], name) for row in pages(
                    store, sort=sort, descending=descending
                )]  # fmt: skip
                present = [key for key in listed if key is not None]
                assert present == sorted(present, reverse=descending), sort
                assert listed == present + [None] * (len(rows) - len(present)), sort
                assert len(set(present)) > 1, sort


@pytest.mark.parametrize("where", ["vaule < 1", "value < 'a'", "odd < 3", "'a' in value"])
@pytest.mark.slow
def test_a_wrong_filter_says_the_same(store: Store, where: str) -> None:
    put_run(store)
    with pytest.raises(UsageError) as in_rows:
        store.listing.page("r1", ListingQuery(where=where), 5)
    move_to_parts(store, "r1")
    with pytest.raises(UsageError) as in_parts:
        store.listing.page("r1", ListingQuery(where=where), 5)
    assert str(in_parts.value) == str(in_rows.value)
