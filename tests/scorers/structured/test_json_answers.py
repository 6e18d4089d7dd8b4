"""JSON in answers: the whole, a fenced block, or an object in the text."""

from typing import Any

import pytest

from proctor.scorers.structured.json_answers import NotJson, json_in, parsed_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2]", [1, 2]),
        ("~~~json\n[1]\n~~~", [1]),
        ("  ```JSON\n[1]\n  ```", [1]),
        ("```json title=x\n[1]\n```", [1]),
        ('first {"a": 1}, then {"b": 2}', {"b": 2}),
        ('```json\n{broken\n```\n{"b": 2}', {"b": 2}),
        ("```text\nx\n```\n```json\n[1]\n```\n```json\nunclosed", [1]),
    ],
)
def test_json_is_found(text: str, value: Any) -> None:
    assert json_in(text, whole=False) == value
    if text != "[1, 2]":
        with pytest.raises(NotJson):
            json_in(text, whole=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expecting value at line 1, column 1"),
        ("[1\n2]", "at line 2, column 1"),
        ("[Infinity]", "Infinity is not JSON"),
        ("[1e400]", "1e400 is too large a number"),
        ("[" * 100_000, "it is nested too deep"),
    ],
)
def test_why_it_is_no_json(text: str, why: str) -> None:
    with pytest.raises(NotJson, match=why):
        parsed_json(text)
