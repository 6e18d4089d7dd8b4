"""Passages of cases and answers: whose count, in which shapes, and what cannot be read."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, brought
from proctor.core.passages import (
    Passage,
    own_passages,
    passages_of,
    relevance_of,
    retrieved_ids,
)
from proctor.core.suite import Case, Message

CASE = Case(
    id="c",
    messages=(Message(role="user", content="?"),),
    criteria=(),
    context=("of the case", " ", "another"),
)


def attempt(meta: Any = None, notes: Any = None) -> Attempt:
    return Attempt(case_id="c", meta=meta or {}, notes=notes or {})


@pytest.mark.parametrize(
    ("meta", "notes", "expected"),
    [
        ({}, {}, [("of the case", ""), ("another", "")]),
        ({"context": "own"}, {}, [("own", "")]),
        ({"context": ["own", " ", "two"]}, {}, [("own", ""), ("two", "")]),
        ({"context": [{"id": "d1", "text": "own"}, {"text": "two"}]}, {}, [("own", "d1"), ("two", "")]),
        ({"context": {"id": 7, "text": "one"}}, {}, [("one", "7")]),
        ({"context": '["a", {"id": "x", "text": "b"}]'}, {}, [("a", ""), ("b", "x")]),
        ({"context": "[sic] a text"}, {}, [("[sic] a text", "")]),
        ({"context": "[no json]"}, {}, [("[no json]", "")]),
        ({"context": "[" * 99_999 + "]" * 99_999}, {}, [("[" * 99_999 + "]" * 99_999, "")]),
        ({"context": "of the file"}, {"context": "noted"}, [("noted", "")]),
        ({"context": []}, {}, [("of the case", ""), ("another", "")]),
        ({"context": [2]}, {}, [("2", "")]),
    ],
)  # fmt: skip
def test_an_attempts_own_passages_go_before_those_of_the_case(
    meta: Any, notes: Any, expected: list[tuple[str, str]]
) -> None:
    passages = passages_of(CASE, attempt(meta, notes))
    assert list(passages) == [Passage(text=text, id=name) for text, name in expected]


@pytest.mark.parametrize("value", [3, True, [True], [{"id": "x"}], [["nested"]], {"text": 3}])
def test_what_is_no_passage_is_said_to_be_none(value: Any) -> None:
    with pytest.raises(ValueError, match="fix: write a text, or a list of texts"):
        passages_of(CASE, attempt({"context": value}))


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"retrieved": ["d2", "d1", "d2", 7]}, ("d2", "d1", "7")),
        ({"retrieved": '["d2", "d1"]'}, ("d2", "d1")),
        ({"retrieved": "d2"}, ("d2",)),
        ({"retrieved": [{"id": "d3", "score": 0.5}]}, ("d3",)),
        ({"retrieved": []}, ()),
        ({"context": [{"id": "d1", "text": "a"}, {"text": "b"}]}, ("d1",)),
        ({"context": ["a", "b"]}, None),
        ({"retrieved": ["d9"], "context": [{"id": "d1", "text": "a"}]}, ("d9",)),
        ({}, None),
    ],
)
def test_ids_are_those_retrieved_or_those_of_the_passages(meta: Any, expected: Any) -> None:
    assert retrieved_ids(attempt(meta)) == expected


@pytest.mark.parametrize("value", [[True], [None], 3.5, [{"text": "x"}]])
def test_what_is_no_id_is_said_to_be_none(value: Any) -> None:
    with pytest.raises(ValueError, match=r"id of a passage|cannot be read"):
        retrieved_ids(attempt({"retrieved": value}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a", "b"], {"a": 1.0, "b": 1.0}),
        ("a", {"a": 1.0}),
        ({"a": 3, "b": 0, "c": 0.5}, {"a": 3.0, "c": 0.5}),
        ([], {}),
    ],
)
def test_relevance_is_one_or_a_grade(value: Any, expected: dict[str, float]) -> None:
    assert relevance_of(value) == expected


@pytest.mark.parametrize("value", [{"a": "high"}, {"a": -1}, {"a": True}])
def test_a_grade_is_a_number_from_zero(value: Any) -> None:
    with pytest.raises(ValueError, match="the grade of 'a' is no number from 0"):
        relevance_of(value)


@pytest.mark.parametrize(
    ("meta", "shown"),
    [
        ({}, []),
        ({"context": "a"}, ["a"]),
        ({"context": [{"id": "d1", "text": "a"}, "b"]}, ["d1: a", "b"]),
        ({"context": 3}, ["3"]),
    ],
)
def test_people_see_ids_and_what_cannot_be_read(meta: Any, shown: list[str]) -> None:
    assert own_passages(attempt(meta)) == shown


def test_what_an_attempt_brought_is_nothing_where_it_says_nothing() -> None:
    assert brought(attempt({"file": "x"}, {"ended": "y"})) == {}
    own = brought(attempt({"context": "f", "retrieved": ["a"]}, {"context": "n"}))
    assert own == {"context": "n", "retrieved": ["a"]}
