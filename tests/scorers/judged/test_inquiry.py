"""Several judges asked several questions: ties, and what a panel costs."""

import json
from dataclasses import replace

import pytest

from proctor.contracts.judge import Tie
from proctor.contracts.scorer import ScoreContext
from proctor.core.exchange import Request
from proctor.core.score import ScoreStatus
from proctor.judging.judges import ModelJudge, Panel
from proctor.scorers.judged.inquiry import cut
from proctor.scorers.judged.rag import ContextRelevance, Faithfulness
from proctor.testing import ScriptedModel, try_scorer


def judge(name: str, *results: str) -> ModelJudge:
    """Return a judge that finds two claims and rules on them in its own way."""
    rows = ", ".join(
        f'{{"number": {number}, "reason": "", "result": "{result}"}}'
        for number, result in enumerate(results, 1)
    )

    def line(request: Request) -> str:
        if '{"claims"' in request.messages[0].content:
            return json.dumps({"claims": [f"{name} says A.", f"{name} says B."]})
        return f'{{"rulings": [{rows}]}}'

    return ModelJudge(model=ScriptedModel(line, name=name))


@pytest.mark.parametrize(("tie", "points"), [("0", 0.5), ("half", 0.75), ("unscored", None)])
def test_a_claim_over_which_judges_are_divided_is_worth_what_a_tie_is(
    tie: Tie, points: float | None
) -> None:
    panel = Panel(
        judges=[judge("one", "supported", "supported"), judge("two", "supported", "not said")],
        tie=tie,
    )
    ctx = replace(ScoreContext.of("A. B.", prompt="?", context=["P"]), judge=panel)
    score = try_scorer(Faithfulness(), ctx)
    assert score.points == points
    assert score.detail["usage"]["calls"] == 4
    if points is None:
        assert score.status is ScoreStatus.FAILED
        assert "the judges are divided" in score.reason
    else:
        assert [one.get("tied", False) for one in score.detail["claims"]] == [False, True]
        assert len(score.detail["asked"][1]["panel"]) == 2


def test_most_judges_decide() -> None:
    panel = Panel(
        judges=[
            judge("one", "relevant", "irrelevant"),
            judge("two", "relevant", "relevant"),
            judge("three", "irrelevant", "relevant"),
        ]
    )
    ctx = replace(ScoreContext.of("A.", prompt="?", context=["P", "Q"]), judge=panel)
    assert try_scorer(ContextRelevance(), ctx).points == 1.0


def test_a_judge_that_leaves_a_claim_out_is_asked_again() -> None:
    replies = iter(
        (
            '{"claims": ["A.", "B."]}',
            '{"rulings": [{"number": 1, "reason": "", "result": "supported"}]}',
            '{"rulings": [{"number": 1, "result": "supported"}, {"number": 2, "result": "supported"}]}',
        )
    )
    model = ScriptedModel(lambda request: next(replies))
    ctx = replace(ScoreContext.of("A. B.", context=["P"]), judge=ModelJudge(model=model))
    score = try_scorer(Faithfulness(), ctx)
    assert (score.points, score.detail["usage"]["calls"]) == (1.0, 3)
    assert (
        "exactly one ruling for each number from 1 to 2" in model.requests[-1].messages[-1].content
    )


def test_a_start_is_one_line_of_a_text() -> None:
    assert cut("a\n b", 10) == "a b"
    assert cut("abcdef ghi", 8) == "abcdef…"
