"""FATA by its document: the official request, one inquiry, one answer."""

import json
from typing import Any

import pytest

from proctor.contracts.dialogue import Turns
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.cause import Cause, cause_of
from proctor.core.suite import Case, Message, Spec
from proctor.errors import ModelError
from proctor.judging import ModelJudge
from proctor.registry import build
from proctor.testing import ScriptedCandidate, ScriptedModel, hold_dialogue

# The text of the document, word for word.
REQUEST = """\
User request: Add two quantities. What is the total?.
To better assist me, before offering advice, please adopt the perspective of an expert in the relevant field
and ask questions to help you identify any missing key information.
Please ensure the problem is structured clearly and expressed concisely, with example guidance,
just like how experts ask users questions during consultations to gather key information before providing solutions.

After I provide additional information, please then offer a more personalized and practical solution as an expert in that field.
If all key information has already been provided, please directly give the solution.
Note: Maintain a positive attitude, and do not request phone numbers, ID numbers, or other sensitive data."""

CASE = Case(
    id="sum",
    messages=(Message(role="user", content="Add two quantities. What is the total?"),),
    criteria=(),
    references=("7",),
    hidden={"question": "Add 3 and 4.", "info": "Both were removed.", "points": ["3", "4"]},
)


def verdict(asks: bool, reply: str | None = None, correct: Any = None) -> str:
    made = {"needs_more_info": asks, "user_reply": reply, "is_correct": correct, "reason": "r"}
    return f"Reasoning: so.\n```json\n{json.dumps(made)}\n```"


def hold(candidate: Any, rulings: Any, *, language: str = "en", **params: Any) -> Attempt:
    dialogue = build("dialogue", Spec(name="fata", params=params))
    model = rulings if isinstance(rulings, ScriptedModel) else ScriptedModel(rulings)
    judge = ModelJudge(model=model)
    return hold_dialogue(dialogue, CASE, candidate, judge=judge, language=language)


ENDS: list[tuple[list[Any], list[Any], dict[str, Any]]] = [
    (["7"], [verdict(False, correct=True)],
     {"reason": "FinalAnswerEvaluated", "correct": True, "clarified": False, "final": True}),
    (["Which?", "7"], [verdict(True, "3 and 4"), verdict(False, correct=True)],
     {"reason": "FinalAnswerEvaluated", "correct": True, "clarified": True, "final_turn": 2}),
    (["Which?", "8"], [verdict(True, "3 and 4"), verdict(False, correct=False)],
     {"correct": False, "kept_asking": False, "skipped": False}),
    (["Which?", "Sure?"], [verdict(True, "3 and 4"), verdict(True)],
     {"reason": "KeptAskingOnLastTurn", "correct": False, "kept_asking": True, "final": False}),
    (["Which?"], ["no JSON"] * 10,
     {"reason": "JudgeJSONParseFailed", "correct": None, "skipped": True}),
    (["Which?"], [verdict(True)] * 10,
     {"reason": "JudgeResultInvalid", "skipped": True}),
    (["7"], [verdict(False)] * 10,
     {"reason": "JudgeResultInvalid", "skipped": True}),
    (["7"], [verdict(False, correct="true"), verdict(False, correct=True)],
     {"reason": "FinalAnswerEvaluated", "correct": True}),
    (["7"], [ModelError("down")], {"reason": "JudgeUnreachable", "skipped": True}),
    (["Which?", None], [verdict(True, "3 and 4")],
     {"reason": "NoAnswer", "correct": False, "asked": True, "skipped": False}),
]  # fmt: skip


@pytest.mark.parametrize(("candidate", "rulings", "wanted"), ENDS)
def test_how_it_ends(candidate: list[Any], rulings: list[Any], wanted: dict[str, Any]) -> None:
    attempt = hold(candidate, rulings)
    assert {name: attempt.notes[name] for name in wanted} == wanted
    status = AttemptStatus.STOPPED if attempt.notes["skipped"] else AttemptStatus.ANSWERED
    if wanted.get("reason") == "NoAnswer":
        status = AttemptStatus.UNANSWERED
    assert attempt.status is status


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_official_request_is_sent_and_not_kept(language: str) -> None:
    candidate = ScriptedCandidate(["Which?", "7"])
    rulings = [verdict(True, "3 and 4"), verdict(False, correct=True)]
    attempt = hold(candidate, rulings, language=language)
    first, second = candidate.conversations
    assert [message.content for message in first] == [REQUEST]
    assert [message.content for message in second] == [REQUEST, "Which?", "3 and 4"]
    assert [message.content for message in attempt.messages] == ["Which?", "3 and 4", "7"]
    assert attempt.notes["turns"][0]["user"] == "3 and 4"


def test_guidance_is_added_to_the_first_request() -> None:
    candidate = ScriptedCandidate(["Which?", "7"])
    rulings = [verdict(True, "3 and 4"), verdict(False, correct=True)]
    hold(candidate, rulings, guidance="weak")
    assert candidate.conversations[0][0].content.startswith(f"{REQUEST}\n\nIf anything")
    assert candidate.conversations[1][0].content == REQUEST


def test_the_judge_is_told_everything_and_the_contract() -> None:
    model = ScriptedModel([verdict(True, "3"), verdict(True)])
    hold("Which?", model)
    first, last = (request.messages[0].content for request in model.requests)
    for text in ("needs_more_info", "user_reply", "is_correct", "reason", "Add 3 and 4.",
                 "Both were removed.", "Which?"):  # fmt: skip
        assert text in first
    assert "{{" not in first
    assert ("last turn" in first, "last turn" in last) == (False, True)


def test_a_reply_that_gives_away_the_answer_is_asked_for_again() -> None:
    model = ScriptedModel(
        [
            verdict(True, "3 and 4, which makes 7"),
            verdict(True, "3 and 4"),
            verdict(False, correct=True),
        ]
    )
    attempt = hold(["Which?", "7"], model)
    assert attempt.messages[1].content == "3 and 4"
    assert attempt.notes["flags"] == [{"turn": 1, "kind": "AnswerGivenAway", "again": False}]
    assert len(model.requests[1].messages) == 3
    assert attempt.notes["turns"][0]["refused"] == ["3 and 4, which makes 7"]
    assert len(attempt.notes["turns"]) == 2


def test_a_reply_that_gives_it_away_twice_stops_the_attempt() -> None:
    attempt = hold("Which?", [verdict(True, "it is 7")] * 2)
    assert attempt.status is AttemptStatus.STOPPED
    assert attempt.notes["reason"] == "SimulatorLeak"
    assert cause_of(attempt) is Cause.SIMULATOR


def test_what_the_plan_is_told() -> None:
    dialogue = build("dialogue", Spec(name="fata", params={"tries": 3}))
    assert dialogue.turns(CASE) == Turns(candidate=(1, 2, 2), judge=(1, 2, 9))
    assert list(dialogue.problems(CASE)) == []
    assert dialogue.consults == {"judge"}
    assert dialogue.prompt_key("en") != dialogue.prompt_key("zh")
