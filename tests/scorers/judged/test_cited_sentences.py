"""Sentences and what they cite: numbers, ids, places of brackets, and what is no citation."""

from typing import Any

import pytest

from proctor.core.passages import Passage
from proctor.scorers.judged.cited_sentences import cited_sentences

PASSAGES = [Passage(text="a", id="doc a"), Passage(text="b", id="b7"), Passage(text="c")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It rained [1]. It snowed [2].", [("It rained.", (1,), ()), ("It snowed.", (2,), ())]),
        ("It rained. [1] It snowed.[2]", [("It rained.", (1,), ()), ("It snowed.", (2,), ())]),
        ("Both [1][3]. Also [1, 2]; so.", [("Both.", (1, 3), ()), ("Also; so.", (1, 2), ())]),
        ("By id [b7] and [doc a].", [("By id and.", (2, 1), ())]),
        ("Far [9] and near [3].", [("Far and near.", (3,), ("9",))]),
        ("Zero [0].", [("Zero.", (), ("0",))]),
        ("Text [sic] stays [note 1].", [("Text [sic] stays [note 1].", (), ())]),
        ("It costs 3.50 crowns [1]", [("It costs 3.50 crowns", (1,), ())]),
        ("Dr. Foe and A. Bar met [1].", [("Dr. Foe and A. Bar met.", (1,), ())]),
        ("Is it no? No. Yes! [1]", [("Is it no?", (), ()), ("No.", (), ()), ("Yes!", (1,), ())]),
        ("One\nTwo [1]\n\n[2]\n", [("One", (), ()), ("Two", (1, 2), ())]),
        ("下雨了【1】。下雪了。[2]晴", [("下雨了。", (1,), ()), ("下雪了。", (2,), ()), ("晴", (), ())]),
        ("[1]", []),
        ("", []),
    ],
)  # fmt: skip
def test_each_sentence_has_what_it_cites(answer: str, expected: Any) -> None:
    sentences = cited_sentences(answer, PASSAGES)
    assert [(one.text, one.passages, one.unknown) for one in sentences] == expected


def test_a_passage_whose_id_is_a_number_goes_by_its_id() -> None:
    (sentence,) = cited_sentences("So [2].", [Passage(text="a", id="2"), Passage(text="b", id="1")])
    assert sentence.passages == (1,)
