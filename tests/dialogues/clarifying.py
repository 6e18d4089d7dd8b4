"""A case, verdicts and a scripted dialogue for the tests of clarify."""

import json
from typing import Any

from proctor.contracts.judge import Judge
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Message, Spec
from proctor.judging import ModelJudge
from proctor.registry import build
from proctor.testing import ScriptedModel, hold_dialogue

FIRST, SECOND = "value of the first quantity", "value of the second quantity"
POINTS = [FIRST, SECOND]


def case(**changes: Any) -> Case:
    hidden: dict[str, Any] = {
        "question": "Add 3 and 4. What is the total?",
        "info": "Both numbers were removed.",
        "points": POINTS,
    }
    fields: dict[str, Any] = {
        "id": "sum",
        "messages": (Message(role="user", content="Add two quantities. What is the total?"),),
        "criteria": (),
        "references": ("7",),
        "hidden": hidden | changes.pop("hidden", {}),
    }
    return Case(**fields | changes)


def verdict(**changes: Any) -> str:
    made = {
        "is_final_answer": True,
        "is_correct": True,
        "all_required_points_resolved": True,
        "missing_required_points": [],
    }
    return json.dumps({**made, **changes})


ASKS = verdict(
    is_final_answer=False,
    is_correct=None,
    all_required_points_resolved=False,
    missing_required_points=POINTS,
)
HALF = verdict(
    is_final_answer=False,
    is_correct=None,
    all_required_points_resolved=False,
    missing_required_points=[SECOND],
)
DONE = verdict()


def hold(
    candidate: Any,
    rulings: Any,
    user: Any = (),
    *,
    asked: Case | None = None,
    language: str = "en",
    **params: Any,
) -> Attempt:
    """Hold a dialogue with three scripted parts."""
    dialogue = build("dialogue", Spec(name="clarify", params=params))
    judge = rulings if isinstance(rulings, Judge) else ModelJudge(model=ScriptedModel(rulings))
    simulator = user if isinstance(user, ScriptedModel) else ScriptedModel(user)
    return hold_dialogue(
        dialogue,
        asked or case(),
        candidate,
        judge=judge,
        simulator=simulator,
        language=language,
    )
