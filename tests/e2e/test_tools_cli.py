"""Tools from the command line: an MCP server in the sandbox, a run that is repeated, a large run."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.suite import ToolCall
from proctor.testing import Answer, FakeServer

SERVER = Path(__file__).parents[1] / "dialogues" / "counting_server.py"
SUITE = """\
name: ledger
cases:
  - id: sum
    ask: Add 2 and 3.
    mcp: {command: python3 counting_server.py, files: [counting_server.py]}
    criteria:
      - number: 5
      - tool_calls: {calls: [add, add], in_order: true}
"""


def script(messages: list[Any], body: Any) -> Answer:
    results = [message for message in messages if message["role"] == "tool"]
    if len(results) == 2:
        return Answer(f"It is {results[-1]['content']}.")
    number = 2 + len(results)
    return Answer(None, tool_calls=(ToolCall(name="add", arguments={"n": number}),))


@pytest.mark.slow
@pytest.mark.sandbox
def test_an_mcp_server_serves_a_run_and_nothing_is_asked_twice(cli: Any) -> None:
    folder = Path(cli.folder)
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (folder / SERVER.name).write_bytes(SERVER.read_bytes())
    with FakeServer(script) as server:
        run = ("run", "suite.yaml", "--model", f"openai:m@{server.url}/v1", "--name", "r")
        first = cli.json(*run)
        asked = len(server.finished())
        again = cli.json(*run)
        assert len(server.finished()) == asked
    assert first["totals"]["rate"] == again["totals"]["rate"] == 1.0
    shown = cli.json("show", "r", "sum")["attempts"][0]
    roles = [message["role"] for message in shown["messages"]]
    assert roles == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert shown["messages"][0]["tool_calls"][0]["arguments"] == {"n": 2}


@pytest.mark.slow
@pytest.mark.parametrize("bulk", [(), ("--bulk",)])
def test_recorded_calls_are_scored_in_both_homes(cli: Any, bulk: tuple[str, ...]) -> None:
    folder = Path(cli.folder)
    tools = [{"name": "f", "parameters": {"type": "object"}}]
    cases = [
        {"id": f"c{n}", "ask": "Go.", "tools": tools if n % 2 else ["f", "g"],
         "response_format": {"type": "object"},
         "criteria": {"tool_calls": [{"name": "f", "arguments": {"n": n}}]}}
        for n in range(20)
    ]  # fmt: skip
    answers = [
        {"case": f"c{n}", "tool_calls": [{"name": "f", "arguments": {"n": n - n % 4 // 3}}]}
        for n in range(20)
    ]
    for name, rows in (("suite", cases), ("answers", answers)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    done = cli.json("run", "suite.jsonl", "--answers", "answers.jsonl", *bulk)
    assert done["totals"]["rate"] == 0.75
