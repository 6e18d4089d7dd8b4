"""The alignment against the textbook's table, with the same rule for ties."""

from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.scorers.overlap.alignment import NOWHERE, align


def textbook(left: str, right: str) -> list[int]:
    """Fill the whole table, then walk back: equal goes diagonally, a tie drops the left element."""
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            best = max(table[i - 1][j], table[i][j - 1])
            table[i][j] = table[i - 1][j - 1] + 1 if a == b else best
    partner = [NOWHERE] * len(left)
    i, j = len(left), len(right)
    while i and j:
        if left[i - 1] == right[j - 1]:
            partner[i - 1] = j - 1
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return partner


@settings(max_examples=300, deadline=None)
@given(st.text("abc ", max_size=30), st.text("abcd ", max_size=40))
def test_small_alphabets(left: str, right: str) -> None:
    assert align(left, right) == textbook(left, right)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_texts(left: str, right: str) -> None:
    assert align(left, right) == textbook(left, right)


def test_words_align_as_letters_do() -> None:
    assert align(["the", "cat"], ["a", "cat", "the", "cat"]) == [2, 3]


def test_ends() -> None:
    assert align("", "abc") == []
    assert align("abc", "") == [NOWHERE] * 3
