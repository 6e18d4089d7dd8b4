"""What a divided panel gives, and what a rating counts: said in the reason, and to be chosen."""

import json
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.fingerprint import digest
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Spec
from proctor.engine.run.settings import JudgeSettings as PanelSettings
from proctor.judging import ModelJudge, Panel
from proctor.registry import build
from proctor.testing import ScriptedModel, try_scorer

YES, NO = {"reason": "it does", "result": "yes"}, {"reason": "it does not", "result": "no"}
MET, UNMET = {"explanation": "m", "criteria_met": True}, {"explanation": "u", "criteria_met": False}


def judged(name: str, params: dict[str, Any], judge: Any) -> Score:
    from dataclasses import replace

    ctx = ScoreContext.of("an answer", prompt="a question", references=["r"], context=["c"])
    return try_scorer(build("scorer", Spec(name=name, params=params)), replace(ctx, judge=judge))


def panel(*verdicts: Any, tie: Any = "0", repeats: int = 1, **more: Any) -> Panel:
    """Return one judge for each list of verdicts."""
    scripts = [one if isinstance(one, list) else [one] for one in verdicts]
    judges = [
        ModelJudge(model=ScriptedModel([json.dumps(v) for v in one], name=str(n)), repeats=repeats)
        for n, one in enumerate(scripts)
    ]
    return Panel(judges=judges, tie=tie, **more)


@pytest.mark.parametrize(
    ("verdicts", "tie", "points"),
    [
        ([YES, NO], "0", 0.0),
        ([NO, YES], "0", 0.0),
        ([YES, NO], "half", 0.5),
        ([YES, NO], "unscored", None),
        ([YES, NO, YES, NO], "half", 0.5),
        ([YES, NO, YES, NO], "unscored", None),
        ([YES, NO, YES], "unscored", 1.0),
        ([YES, NO, NO], "half", 0.0),
        ([YES, YES], "unscored", 1.0),
    ],
)
def test_a_tie_of_judges_gives_what_was_chosen(
    verdicts: list[Any], tie: str, points: float | None
) -> None:
    score = judged("judged", {"question": "Is it?"}, panel(*verdicts, tie=tie))
    assert score.points == points
    divided = verdicts.count(YES) == verdicts.count(NO)
    assert ("divided" in score.reason) is divided
    if points is None:
        assert score.status is ScoreStatus.FAILED
        assert "a tie is unscored (--tie)" in score.reason
    elif divided:
        half = len(verdicts) // 2
        assert f"{half} to {half}, and a tie gives {points:g} (--tie)" in score.reason
    assert [row["points"] for row in score.detail["panel"]] == [
        float(one is YES) for one in verdicts
    ]


@pytest.mark.parametrize(
    ("name", "params", "one", "other"),
    [
        ("rubric", {"criterion": "c"}, MET, UNMET),
        ("judged_correct", {}, {"result": "correct"}, {"result": "incorrect"}),
        ("hallucination", {}, {"result": "supported"}, {"result": "hallucination"}),
        ("qa_correctness", {}, {"result": "correct"}, {"result": "incorrect"}),
        ("scoring_point", {"statement": "s"}, {"is_hit": "yes"}, {"is_hit": "no"}),
    ],
)
def test_every_criterion_that_passes_or_fails_knows_ties(
    name: str, params: dict[str, Any], one: Any, other: Any
) -> None:
    for tie, points in {"0": 0.0, "half": 0.5, "unscored": None}.items():
        score = judged(name, params, panel(one, other, tie=tie))
        assert (score.points, "divided" in score.reason) == (points, True), score


def test_a_judge_that_is_of_two_minds_leaves_it_to_the_others() -> None:
    for tie, points in {"0": 0.0, "half": 1.0, "unscored": 1.0}.items():
        divided, sure = [YES, NO], [YES, YES]
        asked = panel(divided, sure, tie=tie, repeats=2)
        assert judged("judged", {"question": "Is it?"}, asked).points == points, tie
    both = panel([YES, NO], [NO, YES], tie="half", repeats=2)
    score = judged("judged", {"question": "Is it?"}, both)
    assert "divided" in score.reason
    alone = panel([YES, NO], tie="half", repeats=2)
    assert judged("judged", {"question": "Is it?"}, alone).points == 0.5


def test_numbers_are_folded_and_never_tied() -> None:
    rated = [{"reason": "r", "rating": 1}, {"reason": "r", "rating": 5}]
    score = judged("rating", {"question": "How?"}, panel(*rated, tie="unscored", combine="mean"))
    assert score.points == 3.0


def test_only_another_choice_than_the_default_changes_keys() -> None:
    keys = [digest(panel(YES, NO, tie=tie).identity) for tie in ("0", "half", "unscored")]
    assert len({*keys}) == 3
    assert keys[0] == digest(panel(YES, NO).identity)
    assert "tie" not in panel(YES, NO).identity
    assert not PanelSettings(tie="half").may_tie


@pytest.mark.parametrize(
    ("rating", "params", "points", "out_of"),
    [
        (1, {}, 1.0, None),
        (1, {"scale": "range"}, 1.0, None),
        (1, {"counts": True}, 1.0, 5.0),
        (3, {"counts": True, "scale": "share"}, 3.0, 5.0),
        (1, {"counts": True, "scale": "range"}, 0.0, 4.0),
        (3, {"counts": True, "scale": "range"}, 2.0, 4.0),
        (5, {"counts": True, "scale": "range"}, 4.0, 4.0),
        (0, {"counts": True, "scale": "range", "low": -2, "high": 2}, 2.0, 4.0),
    ],
)
def test_what_a_rating_counts(
    rating: int, params: dict[str, Any], points: float, out_of: float | None
) -> None:
    verdict = {"reason": "fair", "rating": rating}
    score = judged("rating", {"question": "How good?", **params}, panel(verdict))
    assert (score.points, score.out_of) == (points, out_of)
    if out_of is None:
        assert score.reason == "fair"
    else:
        assert f"which counts {points:g} of {out_of:g} points: fair" in score.reason
        assert f"rated {rating} from" in score.reason


def test_a_scale_whose_top_is_worth_nothing_is_an_error() -> None:
    params = {"question": "How bad?", "low": -4, "high": 0, "counts": True}
    scorer = build("scorer", Spec(name="rating", params=params))
    assert "scale: range" in " ".join(scorer.problems())
    ranged = build("scorer", Spec(name="rating", params={**params, "scale": "range"}))
    assert list(ranged.problems()) == []
