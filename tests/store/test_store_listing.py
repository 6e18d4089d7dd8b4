"""Lists of a run's cases: what a filter means, and pages that miss and repeat nothing."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from proctor.core.case_value import ValueStatus
from proctor.core.expression import Expression, Several
from proctor.errors import UsageError
from proctor.store import listing
from proctor.store.queries import KEY_OF_SORT, Cursor, ListingQuery, Sort
from proctor.store.rows import ResultRow, SortKeys
from proctor.store.store import Store

VALUES = [None, 0.0, 1.0, 0.5, 0.5, None, 2.0, 0.5, 0.25, 1.0]
LANGS: list[tuple[str, ...]] = [("python",), ("c++", "python"), (), ("go",), ("Rust 100%",)]


def row(position: int, value: float | None) -> ResultRow:
    lang = LANGS[position % len(LANGS)]
    return ResultRow(
        position=position,
        case_id=f"case-{9 - position}",
        status=ValueStatus.UNSCORED if value is None else ValueStatus.SCORED,
        value=value,
        full=2.0,
        weight=1.0 + position,
        low=0.0,
        high=2.0,
        spread=0.0,
        tags={"lang": lang} if lang else {},
        sort_keys=KEYS[position % len(KEYS)],
    )


KEYS = [
    SortKeys(),
    SortKeys(3, 120, 1.5, 0.25, 40, 7, "judge: wrong year", "lang: go"),
    SortKeys(1, 2**40, 0.5, 0.0, 40, 900, "a", None),
    SortKeys(1, 7, None, None, 9, 7, None, "lang: c"),
]


ROWS = [row(position, value) for position, value in enumerate(VALUES)]


@pytest.fixture
def filled(store: Store) -> Store:
    store.results.put("r", ROWS)
    store.results.put("other", [row(n, 1.0) for n in range(50)])
    return store


def names(found: ResultRow) -> dict[str, Any]:
    lang = found.tags.get("lang")
    return {
        "id": found.case_id,
        "value": found.value,
        "full": found.full,
        "rate": None if found.value is None else found.value / found.full,
        "weight": found.weight,
        "status": found.status.value,
        "lang": None if lang is None else Several(lang),
    }


@pytest.mark.parametrize(
    "where",
    [
        "value < 1",
        "value == None",
        "value != None",
        "not value < 1",
        "rate >= 0.5",
        "0 < value <= 0.5",
        "value * 2 + 1 > full",
        "-value < -0.5",
        "status == 'unscored' or weight > 8",
        "id == 'case-3'",
        "id in ['case-3', 'case-4', 'x']",
        "'se-1' in id",
        "lang == 'python'",
        "'python' == lang",
        "lang != 'python'",
        "lang == None",
        "not lang == None and value == 0.5",
        "lang in ['go', 'c++']",
        "value / 0.5 == 1",
        "value not in [0.5, 1]",
        "id > 'case-5'",
        "'python' not in lang",
        "lang not in ['go']",
        "True",
        "",
    ],
)
@pytest.mark.sampled(4)
def test_the_database_finds_what_the_expression_means(filled: Store, where: str) -> None:
    found = [one.position for one in filled.listing.page("r", ListingQuery(where=where), 100)]
    wanted = Expression(where or "True")
    assert found == [one.position for one in ROWS if wanted.holds(names(one))]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("vaule < 1", "did you mean 'value'"),
        ("value < 'a'", "a text cannot be compared with a number"),
        ("lang < 3", "compare it with a text"),
        ("value", "compare something"),
        ("'a' in value", "contains no text"),
        ("id + 1 == 2", "only numbers"),
        ("__import__('os')", "not allowed"),
        ("not " * 60 + "value < 1", "too deep"),
        ("value == 1" + "0" * 400, "only numbers and texts"),
        ("value == 1j", "only numbers and texts"),
    ],
)
@pytest.mark.sampled(2)
def test_a_wrong_filter_says_why(filled: Store, where: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        filled.listing.page("r", ListingQuery(where=where), 10)


@pytest.mark.parametrize(
    ("search", "positions"),
    [
        ("CASE-3", [6]),
        ("c++", [1, 6]),
        ("100%", [4, 9]),
        ("_", []),
        ("rust", [4, 9]),
        ("nothing", []),
    ],
)
def test_search(filled: Store, search: str, positions: list[int]) -> None:
    assert [
        r.position for r in filled.listing.page("r", ListingQuery(search=search), 100)
    ] == positions


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("sort", get_args(Sort))
@pytest.mark.parametrize("size", [1, 3, 10])
@pytest.mark.sampled(3)
def test_pages_miss_and_repeat_nothing(
    filled: Store, sort: Any, descending: bool, size: int
) -> None:
    for backward in (False, True):
        found: list[ResultRow] = []
        after = None
        while page := filled.listing.page(
            "r",
            ListingQuery(sort=sort, descending=descending, after=after, backward=backward),
            size,
        ):
            found += page
            after = filled.listing.cursor("r", sort, page[-1].position)
        wanted = in_order(sort, descending)
        assert found == (wanted[::-1] if backward else wanted)


@pytest.mark.parametrize("near", [0, 1, 4, 1_000])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("where", ["lang != 'go'", "lang == 'python'", "value < 1", "value > 9"])
def test_matches_in_order_are_the_same_however_far_one_looks_first(
    filled: Store, monkeypatch: pytest.MonkeyPatch, where: str, descending: bool, near: int
) -> None:
    monkeypatch.setattr(listing, "MOST_NEAR", near)
    expression = Expression(where)
    sorts: tuple[Sort, ...] = ("value", "id")
    for sort in sorts:
        wanted = [one for one in in_order(sort, descending) if expression.holds(names(one))]
        request = ListingQuery(where=where, sort=sort, descending=descending)
        for size in (1, 2, 100):
            found, after = list[ResultRow](), None
            while True:
                page = filled.listing.page("r", replace(request, after=after), size)
                found += page
                if len(page) < size:
                    break
                after = filled.listing.cursor("r", sort, page[-1].position)
            assert [one.position for one in found] == [one.position for one in wanted]
        assert filled.listing.count("r", request) == len(wanted)


def in_order(sort: Any, descending: bool) -> list[ResultRow]:
    """Return the rows as a list of this order has them."""
    orders: dict[str, Any] = {
        "position": lambda r: r.position,
        "value": lambda r: (-1.0 if r.value is None else r.value, r.position),
        "id": lambda r: r.case_id,
        "state": lambda r: (r.status.value, r.position),
    }
    if sort in orders:
        return sorted(ROWS, key=orders[sort], reverse=descending)
    name = KEY_OF_SORT[sort]
    present = [row for row in ROWS if getattr(row.sort_keys, name) is not None]
    missing = [row for row in ROWS if getattr(row.sort_keys, name) is None]
    present.sort(key=lambda r: (getattr(r.sort_keys, name), r.position), reverse=descending)
    return present + (missing[::-1] if descending else missing)


def test_every_page_is_found_by_an_index(filled: Store) -> None:
    if filled.database.engine.dialect.name != "sqlite":
        pytest.skip("the plan is SQLite's")
    seen: list[str] = []
    from sqlalchemy import event

    event.listen(
        filled.database.engine,
        "before_cursor_execute",
        lambda *args: seen.append((args[2], args[3])),
    )
    for sort in get_args(Sort):
        for after in (None, filled.listing.cursor("r", sort, 3)):
            for descending in (False, True):
                request = ListingQuery(sort=sort, after=after, descending=descending)
                filled.listing.page("r", request, 5)
    with filled.database.read() as connection:
        for text, values in list(seen):
            if text.startswith("SELECT"):
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values).all()
                assert all("SCAN" not in step[3] and "B-TREE" not in step[3] for step in plan), text


def test_tags_and_histogram(filled: Store) -> None:
    assert filled.listing.tags("r") == ["lang"]
    assert filled.listing.tags("none") == []
    assert filled.listing.histogram("r", 4) == [0, 2, 3, 2, 1]
    assert filled.listing.histogram("none", 4) == [0, 0, 0, 0, 0]


def test_cases_are_counted_after_a_cursor_and_up_to_a_limit(filled: Store) -> None:
    count = filled.listing.count
    assert count("r", ListingQuery()) == 10
    assert count("r", ListingQuery(), 3) == 4
    assert count("r", ListingQuery(status="failed")) == 7
    assert count("r", ListingQuery(sort="value", after=Cursor(0.5, 4))) == 4
    assert count("r", ListingQuery(sort="value", descending=True, after=Cursor(0.5, 4))) == 5
    kinds = filled.listing.kinds("r")
    assert (dict(kinds.by_status), kinds.failed, kinds.cases) == (
        {"scored": 8, "unscored": 2}, 7, 10,
    )  # fmt: skip
