"""Hedging, told by a threshold."""

from pathlib import Path

import pytest

from proctor import ScoreContext
from proctor.origins.arthur.scorers import (
    ArthurHedgingLanguage,
)
from proctor.scorers.embedding.hedging import HedgingLanguage
from proctor.testing import try_scorer

TINY = Path(__file__).resolve().parents[2] / "golden" / "colossal_tinybert"


@pytest.mark.torch
def test_hedging_is_told_by_a_threshold() -> None:
    sentence = HedgingLanguage().sentence
    scorer = HedgingLanguage(model=str(TINY), threshold=0.99)
    said = try_scorer(scorer, ScoreContext.of(f"{sentence} But the sky is blue."))
    assert (said.points, said.detail["threshold"]) == (1.0, 0.99)
    assert said.detail["value"] == pytest.approx(1.0, abs=1e-4)
    other = try_scorer(scorer, ScoreContext.of("Paris."))
    assert other.points == 0.0
    old = ArthurHedgingLanguage(model=str(TINY))
    assert try_scorer(old, ScoreContext.of("Paris.")).points == other.detail["value"]
