"""From a ruling to a score: what a verdict is worth, ties, and no verdict at all."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.judge import Judge, Ruling
from proctor.contracts.scorer import ScoreContext
from proctor.core.exchange import Usage
from proctor.core.score import Score, ScoreStatus
from proctor.errors import JudgeError
from proctor.scorers.judged.asking_judge import Correctness, Decision, Question, decide, unaskable
from proctor.testing import ScriptedJudge

QUESTION = Question(
    prompt="judge_rubric",
    verdict=Correctness,
    untrusted={"conversation": "c", "answer": "a", "criterion": "k"},
    trusted={"points": "1"},
    out_of=2.0,
    detail={"about": "x"},
)
RIGHT = Correctness(result="correct", reason="so")
WRONG = Correctness(result="incorrect", reason="no")


def meaning(verdict: Correctness) -> Decision:
    return Decision(points=2.0 * (verdict.result == "correct"), reason=verdict.reason)


class _Judge(Judge):
    identity = "panel"

    def __init__(self, ruling: Ruling[Any], tie: Any = "0") -> None:
        self.ruling, self.tie = ruling, tie

    async def ask(self, *_: Any, **__: Any) -> Ruling[Any]:
        return self.ruling


def scored(judge: Judge | None) -> Score:
    ctx = replace(ScoreContext.of("a"), judge=judge)
    return asyncio.run(decide(ctx, QUESTION, meaning))


def test_a_verdict_is_worth_what_it_means_and_leaves_its_record() -> None:
    score = scored(ScriptedJudge([{"result": "correct", "reason": "so"}]))
    assert (score.points, score.out_of, score.reason) == (2.0, 2.0, "so")
    assert (score.detail["about"], score.detail["result"]) == ("x", "correct")


def test_no_judge_and_no_verdict_are_failed_scores_out_of_the_same() -> None:
    assert scored(None) == Score.failed(
        "there is no judge to ask (fix: name one with --judge)", out_of=2.0
    )
    error = JudgeError("nothing readable", raw=("a", "b"), usage=Usage(calls=2))
    lost = scored(ScriptedJudge([error]))
    assert (lost.status, lost.out_of) == (ScoreStatus.FAILED, 2.0)
    assert "nothing readable" in lost.reason
    assert (lost.detail["tries"], lost.detail["raw"], lost.detail["about"]) == (2, ["a", "b"], "x")
    assert lost.detail["usage"]["calls"] == 2


PANEL = tuple(Ruling(verdict=verdict) for verdict in (RIGHT, WRONG, WRONG, RIGHT, None))


@pytest.mark.parametrize(("tie", "points"), [("0", 0.0), ("half", 1.0), ("unscored", None)])
def test_an_even_split_is_worth_what_was_chosen(tie: str, points: float | None) -> None:
    score = scored(_Judge(Ruling(verdict=WRONG, tied=True, panel=PANEL), tie))
    assert score.points == points
    assert (score.status is ScoreStatus.FAILED) == (points is None)
    assert "the judges are divided, 2 to 2" in score.reason
    assert score.detail["tie"] == tie


def test_every_judge_of_a_panel_is_kept_with_its_points() -> None:
    score = scored(_Judge(Ruling(verdict=RIGHT, panel=PANEL)))
    assert score.points == 2.0
    assert [member["points"] for member in score.detail["panel"]] == [2.0, 0.0, 0.0, 2.0, None]
    assert "tie" not in score.detail


def test_what_keeps_a_judge_from_being_asked() -> None:
    assert list(unaskable(3, question="Nice?")) == []
    assert list(unaskable(0, question=" ", rule="x")) == [
        "0 tries: a judge must be asked at least once",
        "the question is empty",
    ]
