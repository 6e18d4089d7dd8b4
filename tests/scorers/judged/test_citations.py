"""Citations: what they are worth, alone and with others, and those that cite nothing."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.scorers.judged.citations import Citations
from proctor.testing import ScriptedJudge, try_scorer


def rulings(*results: str) -> dict[str, Any]:
    rows = [{"number": number, "result": result} for number, result in enumerate(results, 1)]
    return {"rulings": rows}


@pytest.mark.parametrize(
    ("scorer", "answer", "results", "points", "reason"),
    [
        (Citations(), "A [1]. B [2].", ("supports", "no"), 0.5, "1 of 2 citations are right; not supported: passage 2 and “B.”"),
        (Citations(), "A [1].", ("in part",), 0.5, "0 of 1 citations are right"),
        (Citations(), "A [1][2].", ("in part", "in part"), 1.0, "0 of 2 citations are right"),
        (Citations(), "A [1]. B.", ("supports",), 1.0, "1 of 1 citations are right"),
        (Citations("wrong"), "A [1]. B.", ("supports",), 0.5, "1 of 1 citations are right; 1 sentences cite nothing"),
        (Citations(), "A [1]. B [7].", ("supports",), 0.5, "1 of 2 citations are right; no such passage: 7"),
        (Citations(), "A [7].", None, 0.0, "0 of 1 citations are right; no such passage: 7"),
        (Citations(), "A. B.", None, 0.0, "the answer cites nothing"),
    ],
)  # fmt: skip
def test_points_are_the_share_of_right_citations(
    scorer: Citations, answer: str, results: Any, points: float, reason: str
) -> None:
    judge = ScriptedJudge([] if results is None else [rulings(*results)])
    ctx = replace(ScoreContext.of(answer, context=["P1", "P2"]), judge=judge)
    score = try_scorer(scorer, ctx)
    assert (score.points, score.reason) == (points, reason)
    assert len(judge.conversations) == (results is not None)


def test_the_judge_sees_sentences_without_brackets_and_which_passage_each_cites() -> None:
    judge = ScriptedJudge([rulings("supports", "no")])
    ctx = replace(ScoreContext.of("It rained [2, 1].", context=["P1", "P2"]), judge=judge)
    score = try_scorer(Citations(), ctx)
    shown = judge.conversations[0][0].content
    assert "<<citation 1 of passage 2 " in shown
    assert "<<citation 2 of passage 1 " in shown
    assert "It rained." in shown
    assert "[2, 1]" not in shown
    assert [one["passages"] for one in score.detail["claims"]] == [[2], [1]]
