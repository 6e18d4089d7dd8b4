"""Tools that are called, the results that are written down for them, and how it ends."""

import json
from typing import Any

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.core.exchange import Reply
from proctor.core.suite import Case, Message, Spec, Tool, ToolCall
from proctor.registry import build
from proctor.testing import ScriptedCandidate, hold_dialogue

TOOLS = (Tool(name="f"), Tool(name="g"))
CASE = Case(id="c", messages=(Message(role="user", content="Go."),), criteria=(), tools=TOOLS)
NONE = json.dumps({"error": "there is no result for this call of 'f'"})


def loop(*results: Any, **how: Any) -> Any:
    return build("dialogue", Spec(name="tool_loop", params={"results": list(results), **how}))


def calling(*calls: tuple[str, Any], text: str | None = None) -> Reply:
    made = tuple(
        ToolCall(name=name, arguments=arguments, id=f"{name}{place}")
        for place, (name, arguments) in enumerate(calls)
    )
    return Reply(text=text, tool_calls=made)


def results_of(candidate: ScriptedCandidate) -> list[str]:
    last = candidate.conversations[-1]
    return [message.content for message in last if message.role == "tool"]


F1, F2 = ("f", {"n": 1}), ("f", {"n": 2})


@pytest.mark.parametrize(
    ("results", "in_order", "replies", "given"),
    [
        ([{"name": "f", "result": "one"}], False, [calling(F1)], ["one"]),
        ([{"name": "f", "result": {"t": 3}}], False, [calling(F1)], ['{"t": 3}']),
        ([{"name": "f", "result": None}], False, [calling(F1)], ["null"]),
        ([{"name": "f", "error": "down"}], False, [calling(F1)], ['{"error": "down"}']),
        ([{"name": "g", "result": "one"}], False, [calling(F1)], [NONE]),
        # Results of one tool are given one after the other, the last one again and again.
        ([{"name": "f", "result": "a"}, {"name": "f", "result": "b"}], False,
         [calling(F1), calling(F1), calling(F1)], ["a", "b", "b"]),
        # Those for the same arguments come first, whatever their place.
        ([{"name": "f", "result": "any"}, {"name": "f", "arguments": {"n": 2.0}, "result": "two"}],
         False, [calling(F2), calling(F1), calling(F2)], ["two", "any", "two"]),
        ([{"name": "f", "arguments": {"n": 2}, "result": "two"}], False, [calling(F1)], [NONE]),
        # Several calls of one reply.
        ([{"name": "f", "result": "a"}, {"name": "g", "result": "b"}], False,
         [calling(("g", {}), F1)], ["b", "a"]),
        ([{"name": "f", "result": "a"}, {"name": "g", "result": "b"}], True,
         [calling(F1, ("g", {}))], ["a", "b"]),
        # In order, a call out of turn gets no result, and does not use one up.
        ([{"name": "g", "result": "b"}, {"name": "f", "result": "a"}], True,
         [calling(F1), calling(("g", {})), calling(F1)], [NONE, "b", "a"]),
        ([{"name": "f", "result": "a"}], True, [calling(F1), calling(F1)], ["a", NONE]),
    ],
)  # fmt: skip
def test_calls_are_given_their_results(
    results: list[Any], in_order: bool, replies: list[Reply], given: list[str]
) -> None:
    candidate = ScriptedCandidate([*replies, "Done."])
    attempt = hold_dialogue(loop(*results, in_order=in_order), CASE, candidate)
    assert results_of(candidate) == given
    assert (attempt.status, attempt.output) == (AttemptStatus.ANSWERED, "Done.")


def test_the_transcript_has_every_call_and_its_result() -> None:
    candidate = ScriptedCandidate([calling(F1, ("g", {}), text="Let me see."), "Done."])
    attempt = hold_dialogue(loop({"name": "f", "result": "1"}), CASE, candidate)
    assert [(m.role, m.content, len(m.tool_calls), m.tool_call_id) for m in attempt.messages] == [
        ("assistant", "Let me see.", 2, ""),
        ("tool", "1", 0, "f0"),
        ("tool", NONE.replace("'f'", "'g'"), 0, "g1"),
        ("assistant", "Done.", 0, ""),
    ]
    assert candidate.model.requests[0].tools == TOOLS


def test_a_candidate_that_only_calls_tools_has_answered_in_the_end() -> None:
    replies = [calling(F1), calling(F1), calling(F1)]
    attempt = hold_dialogue(loop({"name": "f", "result": "1"}, max_turns=3), CASE, replies)
    assert attempt.status is AttemptStatus.ANSWERED
    assert attempt.notes["ended"] == "it still called tools in its reply number 3"
    assert [message.role for message in attempt.messages] == [
        "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("replies", "status", "notes"),
    [
        (["Hi."], "answered", {"finish": "stop"}),
        ([Reply(text=None, thinking="hm")], "unanswered", {"thinking": "hm"}),
        ([calling(F1), Reply(text=None)], "answered",
         {"ended": "it said nothing after the results"}),
    ],
)  # fmt: skip
def test_how_it_ends(replies: list[Any], status: str, notes: dict[str, Any]) -> None:
    attempt = hold_dialogue(loop({"name": "f", "result": "1"}), CASE, replies)
    assert attempt.status is AttemptStatus(status)
    assert attempt.notes == notes


@pytest.mark.parametrize(
    ("choice", "later"), [("required", "auto"), ("f", "auto"), ("auto", "auto"), ("none", "none")]
)
def test_a_choice_that_forces_a_call_holds_for_the_first_reply(choice: str, later: str) -> None:
    case = Case(id="c", messages=CASE.messages, criteria=(), tools=TOOLS, tool_choice=choice)
    candidate = ScriptedCandidate([calling(F1), "Done."])
    hold_dialogue(loop({"name": "f", "result": "1"}), case, candidate)
    assert [request.tool_choice for request in candidate.model.requests] == [choice, later]


@pytest.mark.parametrize(
    ("how", "tools", "words"),
    [
        ({"max_turns": 0}, TOOLS, ["max_turns is from 1 to 1000, not 0"]),
        ({"max_turns": 1001}, TOOLS, ["max_turns is from 1 to 1000, not 1001"]),
        ({}, (), ["there are results of tools, and no 'tools' that could be called"]),
        ({"results": [{"name": "h", "result": 1}]}, TOOLS,
         ["there is a result of 'h', which is none of the 'tools'"]),
        ({"mcp": {"command": "x"}, "results": [{"name": "h", "result": 1}]}, (), []),
        ({"mcp": {"command": " "}}, TOOLS, ["the MCP server has an empty command"]),
        ({"mcp": {"command": "'x"}}, TOOLS,
         ["the command of the MCP server cannot be read: No closing quotation"]),
        ({"mcp": {"command": "x", "files": {"../y": ""}}}, TOOLS,
         ["'../y' is no name inside of the MCP server's folder"]),
        ({"mcp": {"command": "x", "timeout": 0}}, TOOLS,
         ["the timeout of the MCP server is from 0 to 300 s, not 0"]),
    ],
)  # fmt: skip
def test_what_a_case_lacks(how: dict[str, Any], tools: tuple[Tool, ...], words: list[str]) -> None:
    case = Case(id="c", messages=(), criteria=(), tools=tools)
    assert list(build("dialogue", Spec(name="tool_loop", params=how)).problems(case)) == words


def test_how_many_replies_to_expect() -> None:
    assert loop(max_turns=4).turns(CASE).candidate == (1, 2, 4)
    assert loop(max_turns=1).turns(CASE).candidate == (1, 1, 1)
