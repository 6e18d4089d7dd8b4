"""Scores from what a dialogue noted."""

from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.scorer_pool import Scorers
from proctor.registry import build

CASE = Case(id="a", messages=(), criteria=())


@pytest.mark.parametrize(
    ("notes", "params", "status", "points", "out_of"),
    [
        ({"correct": True, "reason": "Done"}, {}, "scored", 1.0, 1.0),
        ({"correct": False, "reason": "Done"}, {}, "scored", 0.0, 1.0),
        ({"correct": None, "reason": "Done"}, {}, "not_applicable", None, None),
        ({"redundant": 2}, {"key": "redundant"}, "scored", 2.0, None),
        ({"rate": 0.5}, {"key": "rate"}, "scored", 0.5, None),
        ({"rate": float("nan")}, {"key": "rate"}, "failed", None, 1.0),
        ({"missing": []}, {"key": "missing"}, "failed", None, 1.0),
        ({}, {}, "failed", None, 1.0),
    ],
)
def test_a_note(
    notes: dict[str, Any], params: dict[str, str], status: str, points: float, out_of: float
) -> None:
    ctx = ScoreContext(case=CASE, attempt=Attempt(case_id="a", notes=notes))
    score = run_scorer(build("scorer", Spec(name="noted", params=params)), ctx)
    assert (score.status, score.points, score.out_of) == (status, points, out_of)
    if status != "failed":
        assert score.reason == notes.get("reason", "")


def test_another_ruling_on_the_same_words_is_another_score() -> None:
    """The words of two attempts may be equal and the judge's rulings on them not."""
    criterion = Criterion(id="correct", scorer=Spec(name="noted"))
    case = Case(id="a", messages=(Message(role="user", content="q"),), criteria=(criterion,))
    said = (Message(role="assistant", content="7"),)
    keys = {
        Scorers().keys(case, Attempt(case_id="a", messages=said, notes={"correct": ruling}))[
            "correct"
        ]
        for ruling in (True, False)
    }
    assert len(keys) == 2
