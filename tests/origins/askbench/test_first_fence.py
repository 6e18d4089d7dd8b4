"""The first fence of a reply: read as the original reads it, whatever comes after."""

from typing import Any

import pytest

from proctor.origins.askbench.first_fence import first_json, read_first_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" [1] \n", [1]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Words.\n```json {"a": 1} ```\n```json {"a": 2} ```', {"a": 1}),
        ('"text"', "text"),
    ],
)
def test_the_first_fence_or_the_whole_reply_is_read(text: str, value: Any) -> None:
    assert read_first_json(text) == first_json(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "0", "words", 'x {"a": 1}', '```\n{"a": 1}\n```',
     '```json\nnone\n``` {"a": 1}', "[" * 100_000],
)  # fmt: skip
def test_what_is_no_json_or_empty_is_nothing(text: str) -> None:
    assert first_json(text) is None
    with pytest.raises(ValueError):  # noqa: PT011 - what json says is not ours
        read_first_json(text)
