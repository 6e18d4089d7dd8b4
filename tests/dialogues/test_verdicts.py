"""Verdicts of an arbiter: strict types, nothing left open, and reconciled with themselves."""

from typing import Any

import pytest
from pydantic import ValidationError

from proctor.dialogues.verdicts import (
    AnswerVerdict,
    ClarifyVerdict,
    FataLastVerdict,
    FataVerdict,
    decided,
)

CLARIFY = {
    "is_final_answer": False,
    "is_correct": None,
    "all_required_points_resolved": True,
    "missing_required_points": [],
}
FATA = {"reason": "r", "needs_more_info": True, "user_reply": "So.", "is_correct": None}


@pytest.mark.parametrize(
    ("model", "good", "change"),
    [
        (ClarifyVerdict, CLARIFY, {"is_final_answer": "false"}),
        (ClarifyVerdict, CLARIFY, {"all_required_points_resolved": 1}),
        (ClarifyVerdict, CLARIFY, {"missing_required_points": "size"}),
        (AnswerVerdict, CLARIFY, {"is_final_answer": True}),
        (FataVerdict, FATA, {"user_reply": " "}),
        (FataVerdict, FATA, {"user_reply": None}),
        (FataVerdict, FATA, {"needs_more_info": False}),
        (FataLastVerdict, FATA, {"needs_more_info": False}),
    ],
)
def test_a_verdict_that_leaves_something_open_is_none(
    model: Any, good: dict[str, Any], change: dict[str, Any]
) -> None:
    assert model.model_validate({**good, "more": "is not looked at"})
    with pytest.raises(ValidationError):
        model.model_validate({**good, **change})


def test_the_last_verdict_needs_no_reply() -> None:
    assert FataLastVerdict(**{**FATA, "user_reply": None}).needs_more_info
    assert ClarifyVerdict(**{**CLARIFY, "is_final_answer": True}).is_correct is None


def match(name: str, points: Any) -> str | None:
    return name.lower() if name.lower() in points else None


@pytest.mark.parametrize(
    ("changes", "points", "resolved", "missing"),
    [
        ({}, ("size", "colour"), True, ()),
        ({"missing_required_points": ["SIZE"]}, ("size", "colour"), False, ("size",)),
        ({"missing_required_points": ["COLOUR", "size"]}, ("size", "colour"), False,
         ("size", "colour")),
        ({"missing_required_points": ["weight"]}, ("size",), True, ()),
        ({"all_required_points_resolved": False}, ("size",), False, ()),
        ({"all_required_points_resolved": False}, (), True, ()),
    ],
)  # fmt: skip
def test_points_are_resolved_only_if_none_of_the_list_is_missing(
    changes: dict[str, Any], points: tuple[str, ...], resolved: bool, missing: tuple[str, ...]
) -> None:
    decision = decided(ClarifyVerdict(**{**CLARIFY, **changes}), points, match)
    assert (decision.resolved, decision.missing) == (resolved, missing)


def test_only_a_final_answer_is_correct_or_not() -> None:
    early = decided(ClarifyVerdict(**{**CLARIFY, "is_correct": True}), (), match)
    assert (early.final, early.correct, early.asked_points) == (False, None, None)
    final = {**CLARIFY, "is_correct": True, "is_final_answer": True, "asked_points": ["size"]}
    late = decided(ClarifyVerdict(**final), (), match)
    assert (late.final, late.correct, late.asked_points) == (True, True, ("size",))
    assert late.verdict["is_correct"] is True
