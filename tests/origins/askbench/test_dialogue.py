"""The dialogue as the original holds it: lenient verdicts, and a user whom nobody checks."""

import asyncio
from typing import Any

import pytest

from proctor.contracts.dialogue import DialogueContext
from proctor.core.exchange import Sampling
from proctor.core.suite import Case, Message
from proctor.dialogues.conversation import Conversation
from proctor.dialogues.ledger import Ledger
from proctor.errors import BudgetError, ModelError
from proctor.origins.askbench.dialogue import (
    AskBenchClarify,
    AskBenchUser,
    decided_leniently,
    read_object,
)
from proctor.testing import ScriptedCandidate, ScriptedModel


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ('{"a": NaN}', {"a": "NaN"}),
        ('x ```json {"a": 1} ``` {"b": 2}', {"a": 1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_the_first_fence_or_the_whole_reply_is_the_verdict(text: str, given: Any) -> None:
    assert read_object(text).given == given


@pytest.mark.parametrize("text", ["", "{}", "[1]", "yes", 'x {"a": 1}', "[" * 100_000])
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        read_object(text)


@pytest.mark.parametrize(
    ("verdict", "points", "final", "correct", "resolved"),
    [
        ({"is_final_answer": "false", "is_correct": 0}, ("p",), True, False, True),
        ({"is_final_answer": 0, "is_correct": 1}, ("p",), False, None, True),
        ({"missing_required_points": ["p"]}, ("p",), False, None, False),
        ({"missing_required_points": ["p"]}, (), False, None, True),
        ({"missing_required_points": ["p"], "all_required_points_resolved": True}, ("p",),
         False, None, True),
        ({"all_required_points_resolved": "no"}, ("p",), False, None, True),
    ],
)  # fmt: skip
def test_a_verdict_is_taken_by_the_truth_of_anything(
    verdict: dict[str, Any], points: tuple[str, ...], final: bool, correct: Any, resolved: bool
) -> None:
    decision = decided_leniently(verdict, points)
    assert (decision.final, decision.correct, decision.resolved) == (final, correct, resolved)


def answered(said: Any) -> str:
    case = Case(id="c", messages=(Message(role="user", content="q"),), criteria=())
    ctx = DialogueContext(
        case=case, index=0, candidate=ScriptedCandidate(), simulator=ScriptedModel([said])
    )
    user = AskBenchUser("plain", Sampling())
    return asyncio.run(user.answer(Conversation(ctx), Ledger.of(case)))


def test_whatever_the_user_says_is_taken() -> None:
    assert answered("the answer is 4") == "the answer is 4"
    assert answered("") == ""
    assert answered(None) == "None"
    assert answered(ModelError("gone")) == "Error"
    with pytest.raises(BudgetError):
        answered(BudgetError("spent"))


def test_in3_is_never_strict() -> None:
    assert not AskBenchClarify(scenario="in3", strict=True)._is_strict
    assert AskBenchClarify(scenario="plain", strict=True)._is_strict
    assert AskBenchClarify(scenario="in3", guidance="fata")._guidance == "none"
