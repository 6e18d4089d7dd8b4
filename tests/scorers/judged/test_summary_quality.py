"""Summaries compared in both orders: whoever wins only by where it stands does not win."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score, ScoreStatus
from proctor.errors import JudgeError
from proctor.scorers.judged.summary_quality import SummaryQuality
from proctor.testing import ScriptedJudge, try_scorer


def scored(*verdicts: Any, references: tuple[str, ...] = ("Xref",)) -> tuple[Score, ScriptedJudge]:
    lines = [
        one if isinstance(one, Exception) else {"better": one, "reason": f"r{place}"}
        for place, one in enumerate(verdicts)
    ]
    judge = ScriptedJudge(lines)
    ctx = replace(ScoreContext.of("Xmine", prompt="Text.", references=references), judge=judge)
    return try_scorer(SummaryQuality(), ctx), judge


@pytest.mark.parametrize(
    ("first", "second", "points", "category", "agreed"),
    [
        ("second", "first", 1.0, "candidate", True),
        ("first", "second", 0.0, "reference", True),
        ("tie", "tie", 0.5, "equal", True),
        ("first", "first", 0.5, "equal", False),
        ("second", "tie", 0.5, "equal", False),
    ],
)
def test_both_orders_must_agree(
    first: str, second: str, points: float, category: str, agreed: bool
) -> None:
    score, judge = scored(first, second)
    assert (score.points, score.detail["category"]) == (points, category)
    assert [order["first"] for order in score.detail["orders"]] == ["reference", "candidate"]
    assert ("depends on the order" in score.reason) is not agreed
    shown = [messages[0].content for messages in judge.conversations]
    assert shown[0].index("Xref") < shown[0].index("Xmine")
    assert shown[1].index("Xmine") < shown[1].index("Xref")
    assert "usage" in score.detail


@pytest.mark.parametrize(
    ("verdicts", "asked"), [((JudgeError("unclear"),), 1), (("tie", JudgeError("unclear")), 2)]
)
def test_without_both_verdicts_there_is_no_score(verdicts: tuple[Any, ...], asked: int) -> None:
    score, judge = scored(*verdicts)
    assert (score.status, len(judge.conversations)) == (ScoreStatus.FAILED, asked)


def test_nothing_to_compare_with_asks_nobody() -> None:
    score, judge = scored(references=())
    assert score.status is ScoreStatus.FAILED
    assert judge.conversations == []
    assert list(SummaryQuality(tries=0).problems())
