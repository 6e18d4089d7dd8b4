"""Answers against their context: whose passages count, and what is left unscored."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import ScoreStatus
from proctor.scorers.judged.against_context import Hallucination, QaCorrectness, context_of
from proctor.testing import ScriptedJudge, try_scorer


def context(*passages: str, noted: Any = None, judge: Any = None) -> ScoreContext:
    ctx = ScoreContext.of("Paris", prompt="Capital?", context=passages)
    notes = {} if noted is None else {"context": noted}
    return replace(ctx, attempt=replace(ctx.attempt, notes=notes), judge=judge)


@pytest.mark.parametrize(
    ("noted", "text"),
    [
        (None, "of\n\ncase"),
        ("own", "own"),
        (["own", 2], "own\n\n2"),
        ([], "of\n\ncase"),
        ("", "of\n\ncase"),
    ],
)
def test_the_passages_of_the_attempt_go_before_those_of_the_case(noted: Any, text: str) -> None:
    assert context_of(context("of", "case", noted=noted)) == text


@pytest.mark.parametrize(
    ("scorer", "result", "points"),
    [
        (QaCorrectness(), "correct", 1.0),
        (QaCorrectness(), "incorrect", 0.0),
        (QaCorrectness(), "cannot tell", None),
        (Hallucination(), "supported", 1.0),
        (Hallucination(), "hallucination", 0.0),
    ],
)
def test_what_the_judge_finds_is_the_score(
    scorer: Scorer, result: str, points: float | None
) -> None:
    judge = ScriptedJudge([{"result": result, "reason": "so"}])
    score = try_scorer(scorer, context("Paris is it.", judge=judge))
    assert score.points == points
    ((message,),) = judge.conversations
    assert "Paris is it." in message.content
    if points is None:
        assert score.detail["category"] == "invalid"
        assert score.out_of == 1.0


@pytest.mark.parametrize("scorer", [QaCorrectness(), Hallucination()])
def test_without_a_context_nobody_is_asked(scorer: Scorer) -> None:
    judge = ScriptedJudge([])
    score = try_scorer(scorer, context(judge=judge))
    assert (score.status, score.reason) == (ScoreStatus.FAILED, "there is no context to go by")
    assert judge.conversations == []
    assert list(type(scorer)(tries=0).problems()) == [  # type: ignore[call-arg]
        "0 tries: a judge must be asked at least once"
    ]
