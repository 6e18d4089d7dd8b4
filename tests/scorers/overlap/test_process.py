"""A process beside this one: started when it is needed, once, and never left behind."""

import io
import subprocess
from typing import Any

import pytest

from proctor.scorers.overlap import process as text_process
from proctor.scorers.overlap.process import TextProcess


class _Process:
    def __init__(self) -> None:
        self.ended: int | None = None
        self.stdin, self.stdout = io.BytesIO(), io.BytesIO()
        self.waited = False

    def poll(self) -> int | None:
        return self.ended

    def kill(self) -> None:
        self.ended = -9

    def wait(self) -> None:
        self.waited = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[_Process]:
    processes: list[_Process] = []

    def popen(argv: Any, **how: Any) -> _Process:
        assert "proctor.scorers.overlap.process" in argv
        assert how["stdin"] == how["stdout"] == subprocess.PIPE
        assert "OPENAI_API_KEY" not in how["env"]
        processes.append(_Process())
        return processes[-1]

    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-this-test")
    monkeypatch.setattr(text_process.child_processes, "popen", popen)
    return processes


def test_it_is_started_once_and_again_when_it_died(started: list[_Process]) -> None:
    own = TextProcess()
    assert started == []
    assert own._started() is own._started() is started[0]
    started[0].ended = 1
    assert own._started() is started[1]
    assert started[0].waited
    assert started[0].stdin.closed


def test_nothing_is_left_when_it_is_closed(started: list[_Process]) -> None:
    own = TextProcess()
    own.close()
    own._started()
    own.close()
    own.close()
    (process,) = started
    assert (process.ended, process.waited) == (-9, True)
    assert process.stdin.closed
    assert process.stdout.closed


def test_a_pipe_that_broke_keeps_nobody_from_ending_it(started: list[_Process]) -> None:
    own = TextProcess()
    own._started()

    def broken() -> None:
        raise BrokenPipeError

    started[0].stdin.close = broken  # type: ignore[method-assign]
    own.close()
    assert started[0].waited
