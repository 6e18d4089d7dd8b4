"""What a supervisor keeps and reports: output cut in the middle, and limits that were passed."""

import base64
import json
import os
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.sandboxes import limits_watch
from proctor.sandboxes.limits_watch import (
    MAX_NODES,
    MOST_CAPTURED,
    CapturedOutput,
    Police,
    feed,
    read_some,
    written,
)


def test_an_output_keeps_its_beginning_and_its_end() -> None:
    output = CapturedOutput()
    for piece in (b"start ", b"x" * MOST_CAPTURED, b"x" * MOST_CAPTURED, b" end"):
        output.add(piece)
    text = output.text()
    assert output.size == 2 * MOST_CAPTURED + 10
    assert text.startswith("start ")
    assert text.endswith(" end")
    assert f"[... {output.size - MOST_CAPTURED} bytes left out ...]" in text
    short = CapturedOutput()
    short.add(b"a\xffb")
    assert short.text() == "a\ufffdb"


def test_a_pipe_is_read_until_its_end() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    output = CapturedOutput()
    assert output.read(reading) is None
    os.write(writing, b"abc")
    assert output.read(reading) == 3
    os.close(writing)
    assert output.read(reading) == 0
    os.close(reading)
    assert read_some(reading) == b""
    assert output.text() == "abc"


def test_input_is_written_as_far_as_it_goes() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    data = b"x" * 200_000
    left, pipe = feed(writing, data)
    while pipe is not None and len(left) < len(data):
        data = left
        left, pipe = feed(writing, left)
    assert 0 < len(left) < 200_000
    assert pipe == writing
    os.close(reading)
    assert feed(writing, left) == (b"", None)
    other, end = os.pipe()
    assert feed(end, b"abc") == (b"", None)
    assert os.read(other, 9) == b"abc"
    os.close(other)


def police(**limits: float) -> Police:
    return Police(**{"memory": 1e18, "processes": 1e9, "cpu": 1e9, **limits}, places=())


@pytest.mark.parametrize(
    ("limits", "offence"),
    [
        ({}, None),
        ({"processes": -1}, "processes"),
        ({"cpu": -1.0}, "cpu"),
        ({"memory": -1}, "memory"),
    ],
)
def test_the_limit_that_is_passed_is_named(limits: dict[str, float], offence: str | None) -> None:
    watch = police(**limits)
    assert watch.offence() is None
    watch.next = 0.0
    assert watch.offence() == offence


@pytest.mark.parametrize(
    ("code", "limit"),
    [(0, None), (1, None), (None, None), (-signal.SIGXCPU, "cpu"), (-signal.SIGXFSZ, "disk"),
     (-signal.SIGKILL, None)],
)  # fmt: skip
def test_how_a_program_ended_tells_its_limit(
    monkeypatch: pytest.MonkeyPatch, code: int | None, limit: str | None
) -> None:
    monkeypatch.setattr(limits_watch, "killed_for_memory", lambda: False)
    assert police().verdict(code) == limit
    if code == -signal.SIGKILL:
        monkeypatch.setattr(limits_watch, "killed_for_memory", lambda: True)
        assert police().verdict(code) == "memory"
        assert police(cpu=-1.0).verdict(code) == "cpu"


def test_a_place_without_room_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def status(free: int, files: int, free_files: int) -> object:
        return SimpleNamespace(f_bavail=free, f_files=files, f_ffree=free_files)

    watch = Police(1e18, 1e9, 1e9, places=("/place",))
    for found, full in (
        (status(9, 10, 5), False),
        (status(9, 0, 0), False),
        (status(0, 10, 5), True),
        (status(9, 10, 0), True),
        (status(9, MAX_NODES + 9, 8), True),
    ):
        monkeypatch.setattr(os, "statvfs", lambda _, found=found: found)
        assert watch.full() is full
        assert watch.verdict(1) == ("disk" if full else None)
    assert not Police(1e18, 1e9, 1e9, places=()).full()


def test_the_report_is_json_whatever_is_in_it() -> None:
    report: dict[str, Any] = {
        "code": None, "step": 1, "finished": False, "seconds": 0.5, "stopped": "time",
        "out": 'a"\n\ud800', "err": "", "not_started": "no tool", "files": {"ü": "AA=="},
    }  # fmt: skip
    read = json.loads(written(report))
    assert (read["code"], read["stopped"], read["finished"]) == (None, "time", False)
    assert base64.b64decode(read["out"]) == b'a"\n?'
    assert read["files"] == {base64.b64encode("ü".encode()).decode(): "AA=="}
    whole = json.loads(written({**report, "code": 3, "stopped": None, "finished": True}))
    assert (whole["code"], whole["stopped"], whole["finished"]) == (3, None, True)
