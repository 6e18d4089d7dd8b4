"""Suites in the store: back as they went in, once, with their sources and in pages."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from proctor.core.fingerprint import case_key, suite_key
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.errors import StoreError
from proctor.store.schema import cases as case_table
from proctor.store.schema import suites as suite_table
from proctor.store.store import Store

AWKWARD = "NUL \x00, lone \ud83d and \udc00, escape \x10 \x100000, 漢字 😀 \u2028 '\"\\%"


def make_case(name: str, source: str = "") -> Case:
    return Case(
        id=name,
        messages=(Message(role="user", content=f"What is {name}?"),),
        criteria=(
            Criterion(
                id="says",
                scorer=Spec(name="keywords", params={"rules": [{"any": ["a", {"text": "b"}]}]}),
                weight=2.0,
            ),
            Criterion(id="tone", scorer=Spec(name="contains", params={"texts": []}), weight=0.0),
        ),
        references=("one", ""),
        context=("a passage",),
        hidden={"fact": None, "n": 3},
        dialogue=Spec(name="clarify", params={"turns": 3}),
        tags={"lang": ("python", "c"), "type": ("debug",)},
        weight=0.5,
        full_score=2.0,
        null_score=-1.0,
        min_points=0.0,
        max_points=3.0,
        out_of=4.0,
        source=source,
    )


def make_suite(name: str, cases: tuple[Case, ...]) -> Suite:
    return Suite(
        name=name,
        cases=cases,
        version="2",
        description="of nothing",
        reduce="avg_max_10",
        measures=(Spec(name="accuracy", params={"at": 0.5}),),
        dialect="infibench",
        compat="original",
    )


def put(store: Store, suite: Suite) -> str:
    keyed = [(case_key(case), case) for case in suite.cases]
    key = suite_key(suite, [key for key, _ in keyed])
    store.suites.put(suite, key, keyed)
    return key


def test_a_suite_comes_back(store: Store) -> None:
    suite = make_suite("first", (make_case("b", "b.yaml"), make_case("a"), make_case(AWKWARD)))
    key = put(store, suite)
    assert store.suites.get(key) == suite
    assert [position for position, _, _ in store.suites.iter_cases(key)] == [0, 1, 2]
    row = store.suites.newest()[0]
    assert (row.key, row.name, row.version, row.dialect) == (key, "first", "2", "infibench")
    assert row.cases == 3
    assert row.created > 0


def test_a_suite_put_twice_is_there_once_with_its_new_description(store: Store) -> None:
    suite = make_suite("first", (make_case("a"), make_case("b")))
    key = put(store, suite)
    created = store.suites.newest()[0].created
    again = Suite(**{f: getattr(suite, f) for f in suite.__slots__} | {"description": "better"})
    assert put(store, again) == key
    assert store.suites.get(key) == again
    assert [row.created for row in store.suites.newest()] == [created]


def test_a_case_shared_by_suites_keeps_its_source_in_each(store: Store) -> None:
    one = make_suite("one", (make_case("a", "one.yaml"),))
    two = make_suite("two", (make_case("x"), make_case("a", "two.yaml")))
    keys = put(store, one), put(store, two)
    assert store.suites.get(keys[0]) == one
    assert store.suites.get(keys[1]) == two
    assert {row.key for row in store.suites.newest()} == set(keys)


@pytest.mark.slow
def test_cases_are_paged(store: Store) -> None:
    cases = [(f"key{number}", make_case(f"c{number}")) for number in range(1203)]
    store.suites.put(make_suite("long", ()), "long", cases)
    assert [(key, case) for _, key, case in store.suites.iter_cases("long")] == cases
    for after, limit, expected in [
        (-1, 3, range(3)),
        (499, 2, range(500, 502)),
        (600, 501, range(601, 1102)),
        (1200, None, range(1201, 1203)),
        (1202, None, range(0)),
        (5, 0, range(0)),
        (-1, 1000, range(1000)),
    ]:
        found = store.suites.iter_cases("long", after=after, limit=limit)
        assert [position for position, _, _ in found] == list(expected)


def test_an_unknown_suite_is_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="no suite 'nowhere'"):
        store.suites.get("nowhere")
    assert list(store.suites.iter_cases("nowhere")) == []


def test_an_imported_suite_never_takes_the_place_of_one_s_own(store: Store) -> None:
    def written(source: str, *, imported: bool, description: str = "") -> tuple[bool, str, str]:
        suite = make_suite("first", (make_case("a", source),))
        suite = replace(suite, description=description)
        store.suites.put(suite, "k" * 12, [("case", suite.cases[0])], imported=imported)
        (row,) = store.suites.newest()
        kept = store.suites.get("k" * 12)
        return row.imported, kept.cases[0].source, kept.description

    assert written("theirs", imported=True, description="x") == (True, "theirs", "x")
    assert written("others", imported=True, description="y") == (True, "theirs", "x")
    assert written("mine", imported=False, description="z") == (False, "mine", "z")
    assert written("theirs", imported=True, description="x") == (False, "mine", "z")


def test_a_suite_is_found_by_the_beginning_of_its_key(store: Store) -> None:
    for key in ("abcdefgh1", "abcdefgh12", "abcd%fgh1"):
        store.suites.put(make_suite(key, ()), key, [])

    def found(key: str) -> list[str]:
        return [row.key for row in store.suites.matching(key)]

    assert found("abcdefgh") == ["abcdefgh1", "abcdefgh12"]
    assert found("abcdefgh1") == ["abcdefgh1"]
    assert found("abcd%fgh") == ["abcd%fgh1"]
    assert found("abcdefg") == found("xxxxxxxx") == []


def test_a_case_that_was_damaged_says_so_and_keeps_its_place(store: Store) -> None:
    suite = make_suite("first", (make_case("a", "a.yaml"), make_case("b")))
    key = put(store, suite)
    with store.database.write() as connection:
        connection.execute(update(case_table).where(case_table.c.key == case_key(suite.cases[0]))
                           .values(document="[]"))  # fmt: skip
        connection.execute(update(suite_table).values(document="{"))
    first, second = (case for _, _, case in store.suites.iter_cases(key))
    assert (first.id, first.criteria, first.source) == ("a", (), "a.yaml")
    assert "damaged" in first.messages[0].content
    assert second == suite.cases[1]
    with pytest.raises(StoreError, match="is damaged in the store"):
        store.suites.header(key)
