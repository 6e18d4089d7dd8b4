"""What tests of agents share: a desk, a way to talk, and a look at what is left running."""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.agent import Agent, Workspace
from proctor.core.rounds import Round
from proctor.core.suite import Case, Spec
from waiting import PATIENCE

Talk = Callable[..., list[Round]]


def agent(kind: str, **params: Any) -> Agent:
    built: Agent = registry.build("candidate", Spec(name=kind, params=params))
    assert list(built.problems()) == []
    return built


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be the folder where Proctor was started."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "working"
    folder.mkdir()
    return Workspace(case=Case(id="c1", messages=(), criteria=()), index=0, folder=folder)


@pytest.fixture
def talk(workspace: Workspace) -> Talk:
    """Send messages to an agent in one session, and return its rounds."""

    def held(kind: str, *messages: str, **params: Any) -> list[Round]:
        async def hold() -> list[Round]:
            examined = agent(kind, **params)
            session = await examined.open(workspace)
            try:
                return [await session.send(message) for message in messages]
            finally:
                await session.close()
                await examined.close()

        return asyncio.run(hold())

    return held


def carrying(mark: str) -> set[int]:
    """Return the processes that have a mark in their environment."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                environ = Path(f"/proc/{name}/environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in environ:
                found.add(int(name))
    return found


@pytest.fixture(autouse=True)
def nothing_left_running(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look for processes that a test has started: agents inherit the environment."""
    mark = secrets.token_hex(12)
    monkeypatch.setenv("PROCTOR_TEST_OF_AGENTS", mark)
    yield
    # What was killed may take a moment to be gone.
    until = time.monotonic() + PATIENCE
    while (left := carrying(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == set(), [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
