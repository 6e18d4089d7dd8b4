"""Values of columns: escaped on the way in, and usable on the way out whatever is stored."""

import math
from typing import Any

import pytest

from proctor.store.cells import READERS, read_number, read_text, read_whole
from proctor.store.rows import escape, unescape


@pytest.mark.parametrize(
    "text", ["", "plain", "a\x00b", "\x10", "\x100041", "\ud800 x \udfff", "巴"]
)
def test_every_text_comes_back(text: str) -> None:
    escaped = escape(text)
    assert "\x00" not in escaped
    escaped.encode()
    assert unescape(escaped) == text
    assert read_text(escaped) == text


@pytest.mark.parametrize(
    ("stored", "text", "number", "whole"),
    [
        (None, None, None, None),
        ("x", "x", math.nan, -1),
        (b"\xff", "\ufffd", math.nan, -1),
        (5, "5", 5.0, 5),
        (0.5, "0.5", 0.5, -1),
        (math.inf, "inf", math.nan, -1),
    ],
)
def test_what_others_stored_is_read(stored: Any, text: Any, number: Any, whole: Any) -> None:
    assert read_text(stored) == text
    assert read_whole(stored) == whole
    found = read_number(stored)
    assert found == number or (math.isnan(number) and found is not None and math.isnan(found))


def test_a_truth_is_none_or_one_of_two() -> None:
    assert [READERS["truth"](value) for value in (None, 0, 1)] == [None, False, True]
