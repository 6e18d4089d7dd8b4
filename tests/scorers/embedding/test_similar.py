"""Nearness in meaning, by an encoder that is small enough for a test."""

from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Spec
from proctor.scorers.embedding.similar import Similar
from proctor.testing import try_scorer

TINY = Path(__file__).resolve().parents[2] / "golden" / "colossal_tinybert"


def scorer(**params: Any) -> Similar:
    built: Similar = registry.build("scorer", Spec(name="similar", params=params))
    return built


@pytest.mark.torch
def test_the_same_text_is_nearest() -> None:
    one = scorer(model=str(TINY))
    same = ScoreContext.of("The sky is blue.", references=["No.", "The sky is blue."])
    other = ScoreContext.of("Paris", references=["The sky is blue."])
    empty = ScoreContext.of(" ", references=["The sky is blue."])
    scores = one.score_batch([same, other, empty])
    assert scores[0].points == pytest.approx(1.0, abs=1e-5)
    assert 0 <= (scores[1].points or 0) < 1
    assert scores[2].points == 0
    assert try_scorer(one, other).points == pytest.approx(scores[1].points, abs=1e-5)
    passed = scorer(model=str(TINY), threshold=0.999)
    assert [score.points for score in passed.score_batch([same, other])] == [1.0, 0.0]
    own = scorer(model=str(TINY), references=["Paris"])
    assert try_scorer(own, other).points == pytest.approx(1.0, abs=1e-5)


@pytest.mark.torch
def test_without_a_reference_it_is_unscored() -> None:
    score = try_scorer(scorer(model=str(TINY)), ScoreContext.of("x"))
    assert score.status is ScoreStatus.FAILED


def test_what_is_wrong_or_doubtful_is_said() -> None:
    assert list(scorer(threshold=2).problems()) == ["the threshold is from 0 to 1, not 2"]
    assert list(scorer(threshold=0.5).problems()) == []
    case = Case(id="c", messages=(), criteria=())
    assert "similar compares with references" in next(iter(scorer().doubts(case)))
