"""Texts as the original prepares and cuts them, with what it deletes on the way."""

import pytest

from proctor.origins.colossal.overlap_texts import (
    prepared,
    rouge_chinese_words,
    rouge_words,
    tokens,
)


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
