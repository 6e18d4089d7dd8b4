"""Paths into JSON, and templates of requests."""

from typing import Any

import pytest

from proctor.agents.endpoint import DEFAULT, filled, find, first, parse, places

DATA = {"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}]}, "x y": "z", "n": None}


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("$", [DATA]),
        ("$.a.b[0].c", [1]),
        ("$.a.b[-1].d", [3]),
        ("$.a.b[*].c", [1, 2]),
        ("$['x y']", ["z"]),
        ('$["a"]["b"][1]', [{"c": 2}]),
        ("$.a.*", [DATA["a"]["b"]]),  # type: ignore[index]
        ("$.a.b[7]", []),
        ("$.a.b[-4]", []),
        ("$.a.b.c", []),
        ("$.missing", []),
        ("$.n", [None]),
    ],
)
def test_paths(path: str, wanted: list[Any]) -> None:
    assert find(path, DATA) == wanted


def test_first_passes_over_nothing() -> None:
    assert first("$.n", DATA) is None
    assert first("$.a.b[*].d", DATA) == 3


@pytest.mark.parametrize("path", ["a.b", "$..a", "$.a[?(@.b)]", "$[", "$.a[1:2]", ""])
def test_other_paths_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="the path"):
        parse(path)


VALUES = {
    "message": 'say "hi" {{session}}',
    "session": None,
    "history": [{"role": "user"}],
    "turn": 2,
}


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("{{message}}", 'say "hi" {{session}}'),
        ({"q": ["{{ message }}", 1]}, {"q": ['say "hi" {{session}}', 1]}),
        ("{{history}}", [{"role": "user"}]),
        ("{{session}}", None),
        ("id={{session}} turn={{turn}}", "id= turn=2"),
        ("all: {{history}}", 'all: [{"role": "user"}]'),
        ("{{unknown}}", "{{unknown}}"),
        (True, True),
    ],
)
def test_templates_are_filled(template: Any, wanted: Any) -> None:
    assert filled(template, VALUES) == wanted


def test_places() -> None:
    assert places(DEFAULT) == {"message", "session", "history", "case"}
    assert places({"a": ["x {{b}} {{c}}", 1]}) == {"b", "c"}
