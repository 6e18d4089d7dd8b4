"""Shared n-grams by packed numbers, against plain counting."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from proctor.scorers.overlap import ngrams


def plainly(left: Sequence[Any], right: Sequence[Any], order: int) -> list[int]:
    found = []
    for n in range(1, order + 1):
        one, two = (
            Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))
            for text in (left, right)
        )
        found.append(sum((one & two).values()))
    return found


@pytest.mark.parametrize("order", [1, 2, 4, 6])
@pytest.mark.parametrize("kinds", [1, 2, 5, 40, 3000])
@pytest.mark.parametrize("at_once", [20, 1 << 15])
def test_tokens_and_characters(
    order: int, kinds: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ngrams, "_AT_ONCE", at_once)
    random = Random(order * kinds)
    signs = [chr(code) for code in range(kinds)] + ["\ud800", "\U0001f600"]

    def text() -> list[str]:
        return random.choices(signs, k=random.randint(0, 40))

    lists = [(text(), text()) for _ in range(30)]
    wanted = [plainly(*pair, order) for pair in lists]
    assert ngrams.shared(lists, order) == wanted
    assert ngrams.shared([("".join(a), "".join(b)) for a, b in lists], order) == wanted


def test_more_kinds_than_fit_into_a_number() -> None:
    random = Random(1)
    signs = [chr(code) for code in random.sample(range(0x4E00, 0x9FD5), 3000)]
    left = "".join(random.choices(signs, k=4000))
    right = left[:1000] + "".join(random.choices(signs, k=3000))
    assert len({*left, *right}) > 2**10
    pairs = [("ab", "ab"), (left, right), ("", "")]
    assert ngrams.shared(pairs, 6) == [plainly(*pair, 6) for pair in pairs]


def test_no_pairs() -> None:
    assert ngrams.shared([], 4) == []
    assert ngrams.shared([([], []), ([], ["a"])], 2) == [[0, 0], [0, 0]]
