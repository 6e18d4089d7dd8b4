"""Calls of tools are read from rounds, whichever agent told of them."""

import pytest

from proctor.core.attempt import Attempt
from proctor.core.rounds import ROUNDS
from proctor.core.suite import Json, Message, ToolCall
from proctor.scorers.agents.calls import AgentCall, agent_calls


def post(sender: str, to: str, text: str, *attached: Json) -> Json:
    return {"send_from": sender, "send_to": to, "message": text, "attachment_list": list(attached)}


def attempt(*posts: Json) -> Attempt:
    return Attempt(case_id="c", messages=(), notes={ROUNDS: [{"post_list": list(posts)}]})


ASKED = {"type": "function", "content": {"name": "bash", "arguments": '{"command": "ls"}'}}


@pytest.mark.parametrize(
    ("posts", "expected"),
    [
        ([post("User", "Planner", "hi"), post("Planner", "User", "ho")], []),
        (
            [post("Planner", "Bash", '{"command": "ls"}'), post("Bash", "Planner", "a.py")],
            [AgentCall("Bash", '{"command": "ls"}', "a.py")],
        ),
        (
            [post("Planner", "Read", "x"), post("Planner", "Grep", "y"), post("Grep", "Planner", "z")],
            [AgentCall("Read", "x"), AgentCall("Grep", "y", "z")],
        ),
        ([post("Model", "Planner", "", ASKED)], [AgentCall("bash", '{"command":"ls"}')]),
        (
            [post("Model", "Planner", "", ASKED), post("Planner", "bash", "pwd")],
            [AgentCall("bash", "pwd")],
        ),
    ],
)  # fmt: skip
def test_rounds(posts: list[Json], expected: list[AgentCall]) -> None:
    assert agent_calls(attempt(*posts)) == expected


def test_tool_calls_of_a_dialogue() -> None:
    said = Message(
        role="assistant", content="", tool_calls=(ToolCall(name="f", arguments={"a": 1}),)
    )
    assert agent_calls(Attempt(case_id="c", messages=(said,))) == [AgentCall("f", '{"a":1}')]


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (AgentCall("Bash", '{"command": "ls -l", "description": "look"}'), "ls -l"),
        (AgentCall("shell", "/bin/bash -lc 'make test'"), "/bin/bash -lc 'make test'"),
        (AgentCall("exec_command", '{"cmd": "ls"}'), "ls"),
        (AgentCall("shell", '["bash", "-lc", "a b"]'), "bash -lc 'a b'"),
        (AgentCall("Read", '{"file_path": "a"}'), ""),
        (AgentCall("Read", "a"), ""),
    ],
)
def test_commands(call: AgentCall, command: str) -> None:
    assert call.command == command
