"""Python agents in a process: what the driver is told first, and what keeps one from starting."""

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from proctor.agents import python_process
from proctor.agents.process import Broken
from proctor.agents.python_process import DRIVER, Driven
from proctor.contracts.agent import Workspace
from proctor.core.suite import Case
from proctor.errors import ModelError
from proctor.io import json_bytes


@dataclass(kw_only=True)
class _Agent(Driven):
    identity: Any = "agent"
    label: str = "agent"

    def begin(self, workspace: Workspace) -> dict[str, Any]:
        return {"kind": "python"}


@dataclass
class _Process:
    report: dict[str, Any]
    sent: list[Any] = field(default_factory=list)
    closed: bool = False

    def write(self, data: bytes, *, last: bool = False) -> None:
        self.sent.append(json_bytes.loads(data))

    async def line(self) -> bytes:
        return json_bytes.dumps(self.report)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give what a process was started with; ``report`` is what it says first."""
    seen: dict[str, Any] = {"report": {}}

    async def start(argv: list[str], **how: Any) -> _Process:
        seen.update(argv=argv, how=how, process=_Process(seen["report"]))
        process: _Process = seen["process"]
        return process

    monkeypatch.setattr(python_process.AgentProcess, "start", start)
    return seen


def workspace(folder: Path) -> Workspace:
    return Workspace(case=Case(id="c", messages=(), criteria=()), index=0, folder=folder)


def test_what_keeps_an_agent_from_starting_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    assert _Agent().problems() == []
    wrong = _Agent(env={"A": "$NOT_SET"}, interpreter="no-such-python", timeout=0)
    assert wrong.problems() == [
        "the environment variable NOT_SET is not set",
        "there is no Python 'no-such-python'",
        "timeout is a number of seconds above 0",
    ]


def test_the_driver_is_told_where_it_works(tmp_path: Path, started: dict[str, Any]) -> None:
    agent = _Agent(processes=3, output=99)

    async def work() -> None:
        await agent._started(workspace(tmp_path), {"kind": "python"})

    asyncio.run(work())
    assert started["argv"] == [sys.executable, "-u", str(DRIVER)]
    how = started["how"]
    assert (how["folder"], how["bounds"].processes, how["bounds"].output) == (tmp_path, 3, 99)
    assert how["env"]["PYTHONDONTWRITEBYTECODE"] == "1"
    (first,) = started["process"].sent
    assert (first["kind"], first["path"]) == ("python", [str(Path.cwd())])
    assert not started["process"].closed


def test_a_session_begins_with_its_own_name(tmp_path: Path, started: dict[str, Any]) -> None:
    async def work() -> str:
        session: Any = await _Agent().open(workspace(tmp_path))
        await session.start()
        return str(session.name)

    name = asyncio.run(work())
    (first,) = started["process"].sent
    assert first["given"] == {"case": "c", "folder": str(tmp_path), "session": name}


def test_an_agent_that_cannot_be_loaded_is_let_go_of(
    tmp_path: Path, started: dict[str, Any]
) -> None:
    started["report"] = {"missing": "no module named x", "traceback": "line 3"}
    with pytest.raises(Broken, match="no module named x") as caught:
        asyncio.run(_Agent()._started(workspace(tmp_path), {}))
    assert caught.value.traceback == "line 3"
    assert started["process"].closed
    with pytest.raises(ModelError, match="agent: no module named x"):
        asyncio.run(_Agent().check())


def test_a_check_starts_the_agent_and_ends_it(started: dict[str, Any]) -> None:
    asyncio.run(_Agent().check())
    assert started["process"].closed
    assert started["process"].sent[0]["check"] is True
    assert not started["how"]["folder"].exists()
