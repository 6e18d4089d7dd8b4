"""JSON objects in a reply: the outermost ones, where they stand, what is broken or doubled."""

from typing import Any

import pytest

from proctor.judging.json_objects import objects, plainly


def found(text: str) -> list[Any]:
    return [(text[one.start : one.end], one.value) for one in objects(text)]


def values(text: str) -> list[Any]:
    return [one.value for one in objects(text)]


def test_the_outermost_objects_come_in_their_order_with_their_places() -> None:
    text = 'First {"a": {"b": 1}}, then [{"c": 2}] and {}.'
    assert found(text) == [
        ('{"a": {"b": 1}}', {"a": {"b": 1}}),
        ('[{"c": 2}]', [{"c": 2}]),
        ("{}", {}),
    ]
    assert [one.is_object for one in objects(text)] == [True, False, True]


@pytest.mark.parametrize(
    "text", ["", "no braces", "{x: 1}", "[1, 2]", "f(){ return 1 }", "${name}"]
)
def test_what_is_no_object_is_passed_over(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    "broken",
    ["{'a': 1}", '{"a": 1,}', '{"a": NaN}', '{"a": 1e999}', '{"a" 1}', "{“a”: 1}"],
)
def test_a_broken_object_has_a_place_and_no_value(broken: str) -> None:
    assert found(f"x {broken} y") == [(broken, None)]


def test_what_stands_inside_something_broken_is_not_looked_into() -> None:
    assert found('{"a": {"b": 1}, x} {"c": 2}') == [
        ('{"a": {"b": 1}, x}', None),
        ('{"c": 2}', {"c": 2}),
    ]
    assert found('[{"a": }] {"b": 2}') == [('{"a": }', None), ('{"b": 2}', {"b": 2})]
    open_end = '{"a": "x {"b": 1}'
    assert found(open_end) == [(open_end, None)]


def test_too_deep_is_broken_and_many_broken_ones_come_to_an_end() -> None:
    deep = '{"a":' * 200 + "1" + "}" * 200
    assert values(deep) == [None]
    assert len(values("{'a'} " * 1000)) == 200


@pytest.mark.parametrize(
    ("text", "doubled"),
    [
        ('{"a": 1, "b": 2}', ()),
        ('{"a": 1, "a": 2}', ("a",)),
        ('{"a": 1, "A": 2}', ("A",)),
        ('{"a b": 1, "a  b": 2}', ("a  b",)),
        ('{"a": {"x": 1, "x": 2}}', ()),
    ],
)
def test_keys_that_look_the_same_are_doubled(text: str, doubled: tuple[str, ...]) -> None:
    (one,) = objects(text)
    assert one.doubled == doubled


def test_texts_are_compared_as_they_look() -> None:
    assert plainly("  Ａ\nB ") == "a b"
    assert plainly({"A ": ["Ｘ", 1, None]}) == {"a": ["x", 1, None]}
    assert plainly(True) is True
