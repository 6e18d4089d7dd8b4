"""Seconds and money of attempts: limits, and numbers that are only shown."""

from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.scorer_pool import Scorers
from proctor.testing import try_scorer

CASE = Case(id="c", messages=(), criteria=())
SAID = (Message(role="assistant", content="Yes."),)


def scored(name: str, limit: float | None, **attempt: Any) -> Any:
    params = (
        {} if limit is None else {"latency": {"seconds": limit}, "cost": {"dollars": limit}}[name]
    )
    scorer = registry.build("scorer", Spec(name=name, params=params))
    assert list(scorer.problems()) == []
    made = Attempt(case_id="c", messages=SAID, **attempt)
    return try_scorer(scorer, ScoreContext(case=CASE, attempt=made))


@pytest.mark.parametrize(
    ("name", "limit", "attempt", "points", "out_of"),
    [
        ("latency", 2.0, {"seconds": 1.5}, 1.0, 1.0),
        ("latency", 2.0, {"seconds": 2.0}, 1.0, 1.0),
        ("latency", 2.0, {"seconds": 2.5}, 0.0, 1.0),
        ("latency", None, {"seconds": 2.5}, 2.5, None),
        ("latency", 2.0, {"meta": {"seconds": 1.5}}, 1.0, 1.0),
        ("latency", 2.0, {"meta": {"seconds": "2.5"}}, 0.0, 1.0),
        ("latency", 2.0, {"seconds": 3.0, "meta": {"seconds": 1.5}}, 0.0, 1.0),
        ("cost", 0.01, {"usage": {"candidate": {"cost": 0.01}}}, 1.0, 1.0),
        ("cost", 0.01, {"usage": {"candidate": {"cost": 0.02}}}, 0.0, 1.0),
        ("cost", None, {"usage": {"candidate": {"cost": 0.02}}}, 0.02, None),
        ("cost", 0.01, {"meta": {"cost": 0.005}}, 1.0, 1.0),
        ("cost", 0.01, {"usage": {"candidate": {"cost": 0.001}, "judge": {"cost": 9.0}}}, 1.0, 1.0),
    ],
)
def test_points(
    name: str, limit: float | None, attempt: dict[str, Any], points: float, out_of: float | None
) -> None:
    score = scored(name, limit, **attempt)
    assert (score.points, score.out_of) == (points, out_of)


@pytest.mark.parametrize(
    ("name", "attempt"),
    [
        ("latency", {}),
        ("latency", {"meta": {"seconds": "soon"}}),
        ("latency", {"meta": {"seconds": True}}),
        ("latency", {"meta": {"seconds": -1}}),
        ("cost", {}),
        ("cost", {"usage": {"candidate": {"calls": 3}}}),
        ("cost", {"usage": {"judge": {"cost": 3}}}),
    ],
)
def test_what_nobody_measured_is_unscored(name: str, attempt: dict[str, Any]) -> None:
    assert scored(name, 1.0, **attempt).status is ScoreStatus.FAILED


@pytest.mark.parametrize(("name", "key"), [("latency", "seconds"), ("cost", "dollars")])
def test_a_limit_is_not_negative(name: str, key: str) -> None:
    scorer = registry.build("scorer", Spec(name=name, params={key: -1}))
    assert list(scorer.problems()) == [f"{key} is 0 or more, not -1"]


def test_the_same_answer_in_another_time_has_another_score() -> None:
    criteria = tuple(
        Criterion(id=name, scorer=Spec(name=name)) for name in ("latency", "cost", "exact_match")
    )
    case = Case(id="c", messages=(), criteria=criteria, references=("Yes.",))
    slow, quick = (Attempt(case_id="c", messages=SAID, seconds=s) for s in (9.0, 1.0))
    keys = [Scorers().keys(case, attempt) for attempt in (slow, quick)]
    assert keys[0]["latency"] != keys[1]["latency"]
    assert keys[0]["cost"] != keys[1]["cost"]
    assert keys[0]["exact_match"] == keys[1]["exact_match"]
