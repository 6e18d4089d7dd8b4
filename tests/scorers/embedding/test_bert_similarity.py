"""Similarity by an encoder: how it leans, and what it says where there is none."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from proctor import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.scorers.embedding.bert_similarity import BertSimilarity
from proctor.scorers.embedding.hedging import HedgingLanguage
from proctor.testing import try_scorer

TINY = Path(__file__).resolve().parents[2] / "golden" / "colossal_tinybert"


@pytest.mark.torch
def test_similarity_leans_on_recall() -> None:
    scorer = BertSimilarity(model=str(TINY))
    made = try_scorer(scorer, ScoreContext.of("the cat sat", references=["the cat sat down"]))
    told = made.detail
    assert made.points == pytest.approx(0.1 * told["precision"] + 0.9 * told["recall"])
    alike = try_scorer(scorer, ScoreContext.of("the cat", references=["a dog", "the cat"]))
    assert alike.points == pytest.approx(1.0, abs=1e-4)


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_it_is_said_what_is_missing() -> None:
    made = try_scorer(HedgingLanguage(), ScoreContext.of("x"))
    assert made.status is ScoreStatus.FAILED
    assert "torch" in made.reason
