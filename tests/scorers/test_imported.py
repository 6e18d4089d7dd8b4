"""Scores of another tool cannot be made again."""

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.scorers.imported import ImportedScore


@pytest.mark.parametrize(("tool", "words"), [("", "was given and"), ("inspect", "by inspect")])
def test_scoring_anew_fails_with_its_reason(tool: str, words: str) -> None:
    score = ImportedScore("accuracy", tool).score(ScoreContext.of("yes"))
    assert score.status is ScoreStatus.FAILED
    assert words in score.reason


@pytest.mark.parametrize(("bounded", "ends"), [(True, (0.0, 1.0)), (False, (None, None))])
def test_the_scale(bounded: bool, ends: tuple[float | None, float | None]) -> None:
    assert ImportedScore("length", bounded=bounded).points_range == ends
