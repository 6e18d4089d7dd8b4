"""τ-style tasks from the command line: checked, run with a scripted desk and user, converted."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.formats.tau.test_reader import NEW, OLD, written

from proctor.core.suite import ToolCall
from proctor.testing import Answer, FakeServer


def desk(messages: list[Any], body: Any) -> Answer:
    done = [message for message in messages if message["role"] == "tool"]
    if not done:
        call = ToolCall(name="renew", arguments={"loan": "L-1", "note": "x"}, id="1")
        return Answer(None, tool_calls=(call,))
    return Answer("Renewed, it is due on day 26.")


def user(messages: list[Any], body: Any) -> Answer:
    if messages[-1]["role"] == "tool":
        return Answer("Please renew L-1.")
    spoken = [m for m in messages if m["role"] == "assistant" and not m.get("tool_calls")]
    if spoken:
        return Answer("TASK_FINISHED")
    if "You are brief." in str(messages[0]):
        return Answer(None, tool_calls=(ToolCall(name="read_card", arguments={}, id="u"),))
    return Answer("Please renew L-1.")


@pytest.mark.slow
@pytest.mark.sandbox
def test_tasks_are_checked_and_run(cli: Any) -> None:
    folder = Path(cli.folder) / "desk"
    folder.mkdir()
    old = {**OLD, "actions": [{"name": "renew", "kwargs": {"loan": "L-1", "note": "x"}}]}
    other = {**OLD, "actions": []}
    written(folder, [NEW, old, other])
    assert cli("check", "desk").stdout.strip() == "desk: 3 cases, 0 errors"
    verdict = json.dumps({"reason": "r", "result": "yes"})
    with FakeServer(desk, roles={"user": user, "judge": verdict}) as server:
        done = cli.json(
            "run", "desk", "--model", f"openai-chat:d@{server.url}", "--cases",
            "--simulator", f"openai-chat:u@{server.url_of('user')}",
            "--judge", f"openai-chat:j@{server.url_of('judge')}",
        )  # fmt: skip
    values = {case["id"]: case["value"] for case in done["cases"]}
    assert values == {"7": 1.0, "task-1": 1.0, "task-2": 0.5}
    assert done["measures"]["pass^1"]["value"] == pytest.approx(2 / 3)
    cli("convert", "desk", "--to", "native", "--out", "native")
    assert "3 cases, 0 errors" in cli("check", "native").stdout
