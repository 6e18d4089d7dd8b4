"""How close the length of an answer comes to that of the reference."""

from typing import Any

import pytest

from proctor import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.origins.arthur.scorers import (
    ArthurWordCountMatch,
)
from proctor.scorers.counts.word_count import WordCountMatch
from proctor.scorers.embedding.bert_similarity import BertSimilarity
from proctor.testing import try_scorer


@pytest.mark.parametrize(
    ("reference", "output", "compat", "points"),
    [
        ("one two three four", "one two three", "", 0.75),
        ("one two", "one two three four", "", 0.0),
        ("one two", "one two three four five", "", 0.0),
        ("", "", "", 1.0),
        ("", "", "original", None),
        ("", "word", "", 0.0),
        ("", "word", "original", 0.0),
    ],
)
def test_word_counts(reference: str, output: str, compat: Any, points: float | None) -> None:
    ctx = ScoreContext.of(output, references=[reference])
    assert try_scorer((ArthurWordCountMatch if compat else WordCountMatch)(), ctx).points == points


def test_counts_need_a_reference() -> None:
    for scorer in (WordCountMatch(), BertSimilarity()):
        assert try_scorer(scorer, ScoreContext.of("x")).status is ScoreStatus.FAILED
