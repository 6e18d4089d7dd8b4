"""Words, tokens and sentences."""

import pytest

from proctor.scorers.instructions.text_units import count_sentences, tokens, word_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0), ("One", 1), ("One.", 1), ("One. Two.", 2), ("One... two.", 1), ("One... Two.", 2),
        ("Mr. Smith left.", 1), ("e.g. this one.", 1), ("J. Smith left.", 1), ("He is 3. She is 4.", 2),
        ("1. First item\n2. Second item", 1), ("Really?! Yes.", 2), ("It is 3.5 m.", 1),
        ('"Go." He went.', 2), ("visit example.com now.", 1), ("What? no.", 1),
    ],
)  # fmt: skip
def test_sentences(text: str, count: int) -> None:
    assert count_sentences(text) == count


def test_words_and_tokens() -> None:
    assert word_count("don't go, 2 far") == 5
    assert tokens("IT'S well-known in the U.S. now") == [
        "IT", "'S", "well-known", "in", "the", "U.S.", "now",
    ]  # fmt: skip
