"""Texts as the original cuts them, and metrics of pairs in English, each by its own formula."""

import pytest

from proctor.origins.colossal.overlap import (
    ColossalPairs,
    ColossalText,
    prepared,
    rouge_chinese_words,
    rouge_words,
    tokens,
)


def pairs(*texts: tuple[str, str]) -> ColossalPairs:
    made = [
        (ColossalText(answer, "en"), ColossalText(reference, "en")) for answer, reference in texts
    ]
    return ColossalPairs(made, 4)


def test_texts_are_prepared_before_they_are_cut() -> None:
    text = ColossalText("Well-known: FACT", "en")
    assert (text.tokens, text.characters) == (["wellknown", "fact"], "wellknownfact")
    assert text.rouge == ["wellknown", "fact"]


def test_every_pair_has_its_values_in_order() -> None:
    both = pairs(("a b c d", "a b c d"), ("x y", "a b"))
    same, other = both.bleu()
    assert same["bleu4"] == pytest.approx(1.0)
    assert other["bleu1"] == 0.0
    assert [row["recall"] for row in both.prf()] == [1.0, 0.0]
    assert both.rouge()[0]["rougeL"] == pytest.approx(1.0)
    assert both.rouge()[1]["rougeL"] == 0.0
    assert both.distinct()[0]["distinct"] == pytest.approx(1.0, abs=1e-5)
    assert len(both.chrf()) == 2


def test_place_by_place_means_that_order_counts() -> None:
    (turned,) = pairs(("b a", "a b")).prf()
    assert set(turned.values()) == {0.0}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Well-known:  FACT;", "wellknown fact"),
        ("你好，世界。", "你好世界"),
        ("a.b!c?", "a.b!c?"),
        ("“quoted” — dash", "quoted dash"),
        ("\n \t", ""),
    ],
)
def test_most_punctuation_is_deleted_and_words_run_together(text: str, result: str) -> None:
    assert prepared(text) == result


def test_english_is_cut_at_spaces_and_rouge_loses_all_but_letters_and_digits() -> None:
    assert tokens("a b.c", "en") == ["a", "b.c"]
    assert rouge_words("naïve b2-c 漢") == ["na", "ve", "b2", "c"]


def test_six_dots_end_a_sentence_in_chinese_rouge() -> None:
    assert rouge_chinese_words(["a", "b"]) == ["a", "b"]
    assert rouge_chinese_words(["a......b", "c"]) == ["a......", "b", "c"]
    assert rouge_chinese_words(["a......"]) == ["a......"]
