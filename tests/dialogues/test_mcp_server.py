"""An MCP server of a suite in the real sandbox: its tools are offered, its calls are made."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialogue import DialogueContext
from proctor.core.attempt import Attempt
from proctor.core.exchange import Reply
from proctor.core.suite import Case, Message, Spec, Tool, ToolCall
from proctor.errors import ModelError
from proctor.registry import build
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.testing import ScriptedCandidate

SERVER = (Path(__file__).parent / "counting_server.py").read_text(encoding="utf-8")
CASE = Case(id="c", messages=(Message(role="user", content="Go."),), criteria=())

pytestmark = pytest.mark.sandbox


def calling(*calls: tuple[str, Any]) -> Reply:
    made = [ToolCall(name=n, arguments=a, id=f"{n}{i}") for i, (n, a) in enumerate(calls)]
    return Reply(text=None, tool_calls=tuple(made))


def held(
    replies: list[Any], *, case: Case = CASE, source: str = SERVER, **how: Any
) -> tuple[Attempt, ScriptedCandidate]:
    server = {"command": "python3 server.py", "files": {"server.py": source}, "timeout": 20}
    params = {"mcp": {**server, **how.pop("mcp", {})}, **how}
    dialogue = build("dialogue", Spec(name="tool_loop", params=params))
    candidate = ScriptedCandidate(replies)

    async def hold() -> Attempt:
        sandbox = Bubblewrap()
        try:
            ctx = DialogueContext(case=case, index=0, candidate=candidate, sandbox=sandbox)
            return await dialogue.hold(ctx)
        finally:
            await sandbox.close()

    return asyncio.run(hold()), candidate


def test_tools_are_listed_and_calls_are_made_in_one_state() -> None:
    replies = [calling(("add", {"n": 2}), ("add", {"n": 3})), calling(("total", {})), "Five."]
    attempt, candidate = held(replies)
    names = [tool.name for tool in candidate.model.requests[0].tools]
    assert names == ["add", "total", "fail", "picture", "nonsense"]
    assert candidate.model.requests[0].tools[0].parameters["required"] == ["n"]
    assert [m.content for m in attempt.messages if m.role == "tool"] == ["2", "5", "total: 5"]
    assert attempt.output == "Five."
    assert "mcp_changed" not in attempt.notes


@pytest.mark.slow
def test_what_a_server_says_otherwise() -> None:
    replies = [
        calling(("fail", {}), ("picture", {}), ("nonsense", {}), ("none", {}), ("add", {"n": "x"})),
        "Well.",
    ]
    attempt, _ = held(replies, results=[{"name": "add", "result": "scripted"}])
    texts = [m.content for m in attempt.messages if m.role == "tool"]
    assert texts[0] == "it failed"
    assert texts[1] == '[image, not shown]\n{"n": 1}'
    assert texts[2] == json.dumps({"error": "no such tool"})
    assert "no result for this call of 'none'" in texts[3]
    assert texts[4] == "scripted"


@pytest.mark.slow
def test_a_tool_of_the_case_hides_one_of_the_server() -> None:
    case = Case(id="c", messages=CASE.messages, criteria=(), tools=(Tool(name="add"),))
    _, candidate = held(["Hi."], case=case)
    tools = candidate.model.requests[0].tools
    assert [tool.name for tool in tools] == ["add", "total", "fail", "picture", "nonsense"]
    assert tools[0] == Tool(name="add")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "mcp", "words"),
    [
        ("raise SystemExit('no luck')", {}, "it ended with status 1: no luck"),
        ("import time; time.sleep(60)", {"timeout": 2}, "it passed the limit on time"),
        (SERVER, {"command": "there-is-none"}, "there-is-none: No such file"),
        ("print('hello')", {}, "it ended with status 0"),
        (
            "import socket; socket.create_connection(('192.0.2.1', 80), 5)",
            {},
            "Network is unreachable",
        ),
    ],
)
def test_a_server_that_does_not_work_is_no_fault_of_the_candidate(
    source: str, mcp: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModelError, match="the MCP server") as caught:
        held(["Hi."], source=source, mcp=mcp)
    assert words in str(caught.value)


@pytest.mark.slow
def test_a_server_that_answers_otherwise_when_asked_again_is_noted() -> None:
    source = SERVER.replace('"total: "', 'str(__import__("os").urandom(9).hex()) + ": "')
    replies = [calling(("total", {})), calling(("total", {})), "Hm."]
    attempt, _ = held(replies, source=source)
    assert attempt.notes["mcp_changed"] is True


def test_without_a_sandbox_no_server_is_started() -> None:
    dialogue = build("dialogue", Spec(name="tool_loop", params={"mcp": {"command": "x"}}))
    ctx = DialogueContext(case=CASE, index=0, candidate=ScriptedCandidate())
    with pytest.raises(ModelError, match="needs a sandbox"):
        asyncio.run(dialogue.hold(ctx))
