"""Paths into JSON values: read, written, compared and followed."""

from typing import Any

import pytest

from proctor.scorers.structured.json_paths import fits, path_text, read_path, values_at


@pytest.mark.parametrize(
    ("text", "path", "shown"),
    [
        ("a", ("a",), "a"),
        ("a.b", ("a", "b"), "a.b"),
        ("$.a.b", ("a", "b"), "a.b"),
        ("a[0].b", ("a", 0, "b"), "a[0].b"),
        ("[*].id", (None, "id"), "[*].id"),
        ("a.*.b", ("a", None, "b"), "a[*].b"),
        ("a[-1]", ("a", -1), "a[-1]"),
        ('["x.y"]', ("x.y",), "x.y"),
        ("0", ("0",), "0"),
    ],
)
def test_a_path_is_read_and_written(text: str, path: tuple[Any, ...], shown: str) -> None:
    assert read_path(text) == path
    assert path_text(path) == shown
    assert path_text(()) == "the value"


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        (("a",), ("a",), True),
        (("x", "a"), ("a",), True),
        (("a", "x"), ("a",), False),
        (("a", 3, "b"), ("a", None, "b"), True),
        (("a", 3, "b"), ("a", 4, "b"), False),
        (("a", "b"), ("a", "b"), True),
        (("z", "a", "b"), ("a", "b"), False),
        ((), ("a",), False),
    ],
)
def test_a_pattern_stands_for_paths(path: Any, pattern: Any, expected: bool) -> None:
    assert fits(path, pattern) is expected


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("a", [1]), ("b[*].n", [2, 3]), ("b[-1].n", [3]), ("b[5]", []), ("zz", []), ("a.b", []),
        ("*", [1, [{"n": 2}, {"n": 3}]]), ("b.n", []),
    ],
)  # fmt: skip
def test_a_path_leads_to_values(path: str, values: list[Any]) -> None:
    value = {"a": 1, "b": [{"n": 2}, {"n": 3}]}
    assert [part for _, part in values_at(value, read_path(path))] == values
