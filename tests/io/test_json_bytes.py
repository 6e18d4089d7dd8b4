"""JSON as bytes: any text comes back, and what is read from outside is finite and not too deep."""

import tracemalloc
from typing import Any

import pytest

from proctor.io.json_bytes import (
    MOST_DIGITS,
    MOST_NESTED,
    dumps,
    dumps_small,
    is_deep,
    is_writable,
    loads,
    loads_foreign,
)


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        "漢字",
        "half \ud800 a pair",
        {"\udfff": ["\ud83d"]},
        2**63,
        -0.0,
        [],
        {"a": {}},
    ],
)
def test_whatever_is_written_comes_back(value: Any) -> None:
    assert loads(dumps(value)) == loads_foreign(dumps(value)) == value
    assert loads(dumps(value).decode()) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[NaN]", "holds NaN"),
        ("[-Infinity]", "holds -Infinity"),
        ("[1e999]", "too large: 1e999"),
        ("[" + "9" * (MOST_DIGITS + 1) + "]", "a number of 401 digits"),
        ("[" * 200 + "]" * 200, "nested more than 100 levels"),
        ("[" * 100_000 + "]" * 100_000, "nested more than 100 levels"),
        ("{", "Expecting"),
        ("", "Expecting"),
        ("[1] x", "Extra data"),
    ],
)
def test_what_could_not_be_kept_is_refused_from_outside(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        loads_foreign(text)


def test_depth_is_counted_in_lists_and_objects_alike() -> None:
    assert not is_deep(nested(MOST_NESTED))
    assert is_deep(nested(MOST_NESTED + 1))
    assert not is_deep([[]] * 1000)
    assert not is_deep("text")
    assert loads_foreign(dumps(nested(MOST_NESTED))) == nested(MOST_NESTED)


def test_small_json_takes_little_memory() -> None:
    tracemalloc.start()
    try:
        held = [dumps_small({"texts": str(number)}) for number in range(500)]
        size = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert loads(held[7]) == {"texts": "7"}
    assert size < 500 * 400


@pytest.mark.parametrize(
    ("value", "expected"),
    [({"a": ["é", 1.5, None]}, True), ("\ud800", False), ({"\ud800": 1}, False), (2**70, False)],
)
def test_what_can_be_written_at_once(value: object, expected: bool) -> None:
    assert is_writable(value) is expected
