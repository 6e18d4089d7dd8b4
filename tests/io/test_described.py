"""Values in words: what kind of thing each is, and its beginning."""

from typing import Any

import pytest

from proctor.io.described import describe


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x" * 50, f"the string {'x' * 40!r}…"),
        (None, "nothing"),
        (True, "true"),
        (False, "false"),
        (3, "the number 3"),
        (0.5, "the number 0.5"),
        (10**100, "the number of about 100 digits"),
        ([1], "a list"),
        ((), "a list"),
        ({}, "a mapping"),
    ],
)
def test_a_value_in_words(value: Any, words: str) -> None:
    assert describe(value) == words
