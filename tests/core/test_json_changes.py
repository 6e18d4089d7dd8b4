"""Changes between JSON values: the second always follows from the first and the changes."""

import json
import random
from typing import Any

import pytest

from proctor.core.json_changes import changes_between, path_words, with_changes


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [{"path": ["a"], "before": 1, "after": 2}]),
        ({"a": 1}, {}, [{"path": ["a"], "before": 1}]),
        ({}, {"a": None}, [{"path": ["a"], "after": None}]),
        ({"a": {"b": 1}}, {"a": {"b": True}}, [{"path": ["a", "b"], "before": 1, "after": True}]),
        ([1, 2], [1], [{"path": [1], "before": 2}]),
        ([1], [1, 2, 3], [{"path": [1], "after": 2}, {"path": [2], "after": 3}]),
        ([1, 2, 3], [2], [{"path": [0], "before": 1, "after": 2},
                          {"path": [2], "before": 3}, {"path": [1], "before": 2}]),
        (1, [1], [{"path": [], "before": 1, "after": [1]}]),
    ],
)  # fmt: skip
def test_what_changed(before: Any, after: Any, changes: Any) -> None:
    assert changes_between(before, after) == changes
    assert with_changes(before, changes) == after


def value(draw: random.Random, depth: int = 3) -> Any:
    kind = draw.choice(["number", "text", "null", *(["list", "object"] * 2 if depth else [])])
    if kind == "list":
        return [value(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind == "object":
        return {draw.choice("abcd"): value(draw, depth - 1) for _ in range(draw.randrange(4))}
    return {"number": draw.choice([0, 1, 1.5, True]), "text": draw.choice("xy"), "null": None}[kind]


def test_the_second_value_follows_from_the_changes() -> None:
    draw = random.Random(7)
    for _ in range(2000):
        before, after = value(draw), value(draw)
        kept = json.dumps(before)
        made = with_changes(before, changes_between(before, after))
        assert json.dumps(made, sort_keys=True) == json.dumps(after, sort_keys=True)
        assert json.dumps(before) == kept


def test_paths_are_written_for_people() -> None:
    assert path_words(["loans", "L-7", "due"]) == "loans.L-7.due"
    assert path_words(["queue", 0, "id"]) == "queue[0].id"
    assert path_words([]) == "the whole"
