"""Scorers that count, column by column."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from column_checks import COLUMNS, assert_same
from level import LEVEL
from proctor import ScoreContext, Scorer
from proctor.origins.arthur.scorers import ArthurReadability, ArthurWordCountMatch
from proctor.scorers.counts.readability import Readability
from proctor.scorers.counts.specificity import Specificity
from proctor.scorers.counts.word_count import WordCountMatch

SCORERS = st.sampled_from(
    [
        *(Readability(), Readability(counts=True), ArthurReadability()),
        *(WordCountMatch(), ArthurWordCountMatch(), Specificity()),
    ]
)


@pytest.mark.scaled
@settings(max_examples=LEVEL.of(quick=10, ci=80, full=3000), deadline=None)
@given(COLUMNS, st.lists(SCORERS, min_size=6, max_size=6))
@pytest.mark.slow
def test_texts_of_all_kinds(contexts: list[ScoreContext], scorers: list[Scorer]) -> None:
    assert_same(scorers[: len(contexts)], contexts)
