"""Texts that are nearly the same, among others that are not."""

import random

import pytest

from proctor.stats.near_duplicates import joined_groups, near_duplicates

LONG = "How do I sort a list of dictionaries by the value of a key in Python without a loop"


@pytest.mark.parametrize(
    ("texts", "groups"),
    [
        ([], []),
        (["", "  ", "?"], []),
        (["same words here now", "Same  words, here now", "SAME WORDS HERE NOW"], [[0, 2]]),
        ([LONG, "other", f"{LONG}?", "more"], [[0, 2]]),
        (["17 + 25?", "17 + 26?", "18 + 25?"], []),
        ([LONG, LONG.replace("Python", "Java").replace("sort", "filter")], []),
    ],
)
def test_groups(texts: list[str], groups: list[list[int]]) -> None:
    assert near_duplicates(texts) == groups


LANDS = ["Peru", "Chile", "Japan", "Kenya", "Norway", "Spain", "Ghana", "Nepal"]


@pytest.mark.parametrize(("words", "alike"), [(21, False), (26, False), (27, True), (40, True)])
def test_one_other_word_counts_by_the_length_of_the_texts(words: int, alike: bool) -> None:
    """In the midst of n words it makes n - 5 of n + 1 sequences those of both: 80 % from 29 on."""
    half = [f"word{place}" for place in range(words // 2)]
    rest = [f"more{place}" for place in range(words - words // 2 + 1)]
    texts = [" ".join([*half, land, *rest]) for land in LANDS]
    assert near_duplicates(texts) == ([list(range(len(LANDS)))] if alike else [])


def test_twins_among_many() -> None:
    draw = random.Random(3)
    texts = [" ".join(draw.choices("abcdefghijklmnop", k=25)) for _ in range(400)]
    texts[300] = texts[7] + " q"
    texts[301] = "r " + texts[7]
    texts[50] = texts[60]
    assert near_duplicates(texts) == [[7, 300, 301], [50, 60]]


def test_groups_of_several_ways_are_joined() -> None:
    assert joined_groups(6, [[0, 1], [4, 5]], [[1, 3]]) == [[0, 1, 3], [4, 5]]
    assert joined_groups(0) == []
