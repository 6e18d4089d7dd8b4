"""Plain search: what it finds in ids, tags, questions and answers, and where it has no index."""

from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import ValueStatus
from proctor.core.run import Run
from proctor.core.suite import Case, Message, Spec, Suite
from proctor.store import pairs, searched_places, searching
from proctor.store.queries import Cursor, ListingQuery, PairCursor, PairQuery
from proctor.store.rows import ResultRow, RunAttempt
from proctor.store.store import Store

SAID = [
    "The quick brown Fox",
    "a fox, and 50% of a fox_tail",
    '"quoted" AND (NEAR) * ^ words: OR -minus',
    "今天天气很好，我们去公园",
    "ÄRGER und straße",
    "NUL \x00 and half \ud800 a pair",
    "nothing of that kind",
    "' OR 1=1; DROP TABLE runs; --",
]


def put(store: Store, run_id: str, said: list[str], values: list[float] | None = None) -> Run:
    cases = [
        (
            f"k{n}",
            Case(
                id=f"case-{n}",
                messages=(Message(role="user", content=f"Question {n}?"),),
                criteria=(),
            ),
        )
        for n in range(len(said))
    ]
    suite = Suite(name="s", cases=tuple(case for _, case in cases))
    store.suites.put(suite, "suite-key", cases)
    run = Run(id=run_id, name=run_id, suite="s", suite_key="suite-key", candidate=Spec(name="x"))
    store.runs.save(run)
    for place, text in enumerate(said):
        key = f"{run_id}-{place}"
        store.attempts.put([(key, Attempt.of(f"case-{place}", text))])
        store.attempts.link(run_id, [RunAttempt(position=place, index=0, attempt_key=key)])
    store.results.put(run_id, rows(values or [float(n % 2) for n in range(len(said))]))
    return run


def rows(values: list[float]) -> list[ResultRow]:
    return [
        ResultRow(
            position=place, case_id=f"case-{place}", status=ValueStatus.SCORED, value=value,
            full=1.0, weight=1.0, low=value, high=value, spread=0.0,
            tags={"parity": (("even", "odd")[place % 2],)},
        )
        for place, value in enumerate(values)
    ]  # fmt: skip


def whole(store: Store, run_id: str) -> None:
    while not store.search.index(run_id, 3):
        pass


def found(store: Store, words: str, **more: Any) -> list[int]:
    return [row.position for row in store.listing.page("r", ListingQuery(search=words, **more), 50)]


@pytest.fixture(params=["indexed", "not indexed"])
def filled(request: pytest.FixtureRequest, store: Store) -> Store:
    put(store, "r", SAID)
    put(store, "other", SAID[::-1])
    if request.param == "indexed":
        whole(store, "r")
        state = store.search.index_state("r")
        assert state is not None
        assert (state.cases, state.whole) == (len(SAID), True)
    return store


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("fox", [0, 1]),
        ("FOX", [0, 1]),
        ("brown fox", [0]),
        ("brownfox", []),
        ("50% of", [1]),
        ("fox_", [1]),
        ('"quoted" AND', [2]),
        ("(near) * ^", [2]),
        ('"', [2]),
        ('"""', []),
        ("天气很好", [3]),
        ("天气", [3]),
        ("气", [3]),
        ("ärger", [4]),
        ("STRASSE", []),
        ("straße", [4]),
        ("\x00 and", [5]),
        ("\ud800 a p", [5]),
        ("drop table", [7]),
        ("' or 1=1", [7]),
        ("case-3", [3]),
        ("question 6", [6]),
        ("parity: odd", [1, 3, 5, 7]),
        ("* OR text:", []),
        ("x" * 5000, []),
    ],
)
@pytest.mark.sampled(16)
def test_what_is_found(filled: Store, words: str, places: list[int]) -> None:
    assert found(filled, words) == places
    assert found(filled, words, descending=True) == places[::-1]
    assert sorted(found(filled, words, sort="value")) == places


def test_a_search_is_filtered_sorted_and_goes_on(filled: Store) -> None:
    assert found(filled, "question", where="value == 1") == [1, 3, 5, 7]
    assert found(filled, "fox", status="error") == []
    assert found(filled, "question", sort="id", descending=True) == list(range(7, -1, -1))
    page = filled.listing.page("r", ListingQuery(search="question"), 3)
    assert [row.position for row in page] == [0, 1, 2]
    assert found(filled, "question", after=Cursor(None, 2)) == [3, 4, 5, 6, 7]
    assert found(filled, "question", descending=True, after=Cursor(None, 2)) == [1, 0]


def test_what_changed_is_searched_as_it_is_now(store: Store) -> None:
    put(store, "r", SAID)
    whole(store, "r")
    store.attempts.put([("new", Attempt.of("case-0", "a lynx instead"))])
    store.attempts.link("r", [RunAttempt(position=0, index=0, attempt_key="new")])
    store.results.put("r", rows([0.0] * len(SAID)))
    assert store.search.index_state("r") is None
    whole(store, "r")
    assert found(store, "lynx") == [0]
    assert found(store, "fox") == [1]
    store.runs.delete("r")
    assert store.search.find("lynx", 10) == []


def test_what_is_left_behind_is_cleared_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_LEFT_BEHIND", 10)
    for _ in range(4):
        put(store, "r", SAID)
        whole(store, "r")
    with store.database.read() as connection:
        numbers = connection.exec_driver_sql("SELECT count(*), max(number) FROM searched").one()
    assert numbers[0] < 4
    assert found(store, "fox") == [0, 1]


def test_cases_of_all_runs(store: Store) -> None:
    put(store, "old", SAID)
    put(store, "new", SAID)
    assert store.search.find("brown", 10) == []
    assert store.search.unindexed(["old", "new"]) == ["old", "new"]
    whole(store, "old")
    whole(store, "new")
    assert store.search.unindexed(["old", "new"]) == []
    found_ = [(one.run_id, one.case_id) for one in store.search.find("brown", 10)]
    assert found_ == [("new", "case-0"), ("old", "case-0")]
    assert len(store.search.find("question", 3)) == 3


def test_a_database_without_trigrams_finds_ids_and_tags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_SQLITE", "CREATE VIRTUAL TABLE search_texts USING none(text)")
    monkeypatch.setattr(searching, "SMALL", 3)
    with Store.open(str(tmp_path / "x.db")) as store:
        put(store, "r", SAID)
        assert store.search.index("r")
        assert store.search.unable
        assert not store.search.can_search("fox")
        assert found(store, "fox") == []
        assert found(store, "CASE-3") == [3]
        assert found(store, "odd") == [1, 3, 5, 7]


def test_a_store_that_cannot_be_written_is_searched(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(str(path)) as store:
        put(store, "r", SAID)
    with Store.open(str(path)) as store:
        with store.database.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA query_only=ON")
        assert store.search.index("r")
        assert found(store, "fox") == [0, 1]


def test_two_fill_the_same_index(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "x.db")) as one, Store.open(str(tmp_path / "x.db")) as two:
        put(one, "r", SAID)
        for store in (one, two, two, one, one, two):
            store.search.index("r", 2)
        whole(one, "r")
        assert found(two, "question") == list(range(8))
        state = one.search.index_state("r")
        assert state is not None
        assert state.cases == 8


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.slow
def test_pairs_are_listed_those_that_changed_first(
    store: Store, indexed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = put(store, "a", SAID, [0, 1, 0, 1, 0, 1, 0, 1])
    two = put(store, "b", [*SAID[:-1], "a fox at last"], [1, 1, 0, 0, 0, 1, 1, 1])
    if indexed:
        whole(store, "a")
        whole(store, "b")

    def listed(limit: int = 50, **wanted: Any) -> list[int]:
        seen: list[int] = []
        after: PairCursor | None = PairCursor()
        while after is not None:
            page, after = store.paired_listing.page(one, two, PairQuery(**wanted), limit, after)
            seen += [row.position for row in page]
        return seen

    assert listed() == listed(1) == [0, 3, 6, 1, 2, 4, 5, 7]
    for most, window in ((1000, 50_000), (1, 50_000), (1, 3), (0, 1)):
        monkeypatch.setattr(searched_places, "MOST_AT_ONCE", most)
        monkeypatch.setattr(pairs, "WINDOW", window)
        for limit in (50, 1):
            assert listed(limit, search="fox") == [0, 1, 7], (most, window)
            assert listed(limit, search="fox", change="better") == [0]
            assert listed(limit, search="fox", where="parity == 'odd'") == [1, 7]
    assert listed(where="difference < 0 or parity == 'odd'") == [3, 1, 5, 7]
    assert listed(where="first == 1 and second == 1 and id != 'case-1'") == [5, 7]
    assert store.results.values_of("b", ["case-0", "case-3", "none"]) == {
        "case-0": (1.0, 1.0),
        "case-3": (0.0, 1.0),
    }
