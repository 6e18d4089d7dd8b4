"""One question, one reply, and what is kept of it."""

from typing import Any

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.core.exchange import Reply, Usage
from proctor.core.suite import Case, Message, Spec, ToolCall
from proctor.errors import BudgetError, ModelError
from proctor.registry import build
from proctor.testing import ScriptedCandidate, hold_dialogue

CASE = Case(
    id="q",
    messages=(Message(role="system", content="Be brief."), Message(role="user", content="2+2?")),
    criteria=(),
)
USED = Usage(calls=1, prompt_tokens=5, completion_tokens=2)
CALL = (ToolCall(name="f", arguments={"n": 1}, id="1"),)
ORIGINAL = {"failed_as": "Error", "null_as": "None"}


@pytest.mark.parametrize(
    ("reply", "params", "status", "output", "notes"),
    [
        (Reply(text="4", finish="stop"), {}, "answered", "4", {"finish": "stop"}),
        (Reply(text="4"), {}, "answered", "4", {}),
        (
            Reply(text="4 is", finish="length"),
            {},
            "answered",
            "4 is",
            {"finish": "length", "truncated": [1]},
        ),
        (Reply(text=None, thinking="hm"), {}, "unanswered", "", {"thinking": "hm"}),
        (Reply(text=" \n"), {}, "unanswered", "", {}),
        (Reply(text=None), ORIGINAL, "answered", "None", {}),
        (Reply(text=""), ORIGINAL, "answered", "", {}),
        (Reply(text=None, tool_calls=CALL), {}, "answered", "", {}),
        (Reply(text="See.", tool_calls=CALL), {}, "answered", "See.", {}),
        (Reply(text=None, tool_calls=CALL), ORIGINAL, "answered", "", {}),
        (ModelError("down"), ORIGINAL, "answered", "Error", {}),
    ],
)
def test_a_reply(
    reply: Any, params: dict[str, str], status: str, output: str, notes: dict[str, Any]
) -> None:
    candidate = ScriptedCandidate([reply])
    dialogue = build("dialogue", Spec(name="single_turn", params=params))
    attempt = hold_dialogue(dialogue, CASE, candidate)
    assert attempt.status is AttemptStatus(status)
    assert attempt.output == output
    assert attempt.notes == notes
    assert candidate.conversations == [CASE.messages]


def test_calls_of_tools_are_kept_and_can_be_told_apart() -> None:
    calls = (ToolCall(name="f"), ToolCall(name="f", arguments={"n": 2}))
    dialogue = build("dialogue", Spec(name="single_turn"))
    attempt = hold_dialogue(dialogue, CASE, [Reply(text=None, tool_calls=calls)])
    assert [call.id for call in attempt.messages[0].tool_calls] == ["call_1_1", "call_1_2"]
    kept = hold_dialogue(dialogue, CASE, [Reply(text=None, tool_calls=CALL)])
    assert kept.messages[0].tool_calls == CALL


def test_what_it_took_is_kept() -> None:
    reply = Reply(text="4", thinking="two and two", usage=USED, seconds=0.25)
    attempt = hold_dialogue(build("dialogue", Spec(name="single_turn")), CASE, [reply])
    assert attempt.usage == {"candidate": {"calls": 1, "prompt_tokens": 5, "completion_tokens": 2}}
    assert attempt.seconds == 0.25
    assert attempt.messages[0].thinking == "two and two"


@pytest.mark.parametrize(
    ("error", "params"),
    [(ModelError("down"), {}), (BudgetError("spent"), {}), (BudgetError("spent"), ORIGINAL)],
)
def test_errors_that_pass(error: ModelError, params: dict[str, str]) -> None:
    dialogue = build("dialogue", Spec(name="single_turn", params=params))
    with pytest.raises(type(error)):
        hold_dialogue(dialogue, CASE, [error])
