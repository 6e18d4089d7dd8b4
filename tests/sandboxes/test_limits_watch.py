"""What a supervisor keeps and reports: output cut in the middle, and limits that were passed."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.sandboxes import limits_watch
from proctor.sandboxes.limits_watch import (
    MAX_NODES,
    MOST_CAPTURED,
    CapturedOutput,
    Police,
    ProcessorTime,
    cores,
    feed,
    of_session,
    read_some,
    written,
)
from waiting import until


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
        "code": None, "step": 1, "finished": False, "seconds": 0.5, "stopped": "time", "short": False,
        "out": 'a"\n\ud800', "err": "", "not_started": "no tool", "files": {"ü": "AA=="},
    }  # fmt: skip
    read = json.loads(written(report))
    assert (read["code"], read["stopped"], read["finished"]) == (None, "time", False)
    assert base64.b64decode(read["out"]) == b'a"\n?'
    assert read["files"] == {base64.b64encode("ü".encode()).decode(): "AA=="}
    whole = json.loads(written({**report, "code": 3, "stopped": None, "finished": True}))
    assert (whole["code"], whole["stopped"], whole["finished"]) == (3, None, True)


@contextmanager
def processes(text: str, number: int = 1) -> Iterator[list[str]]:
    """Run a Python text in so many processes."""
    argv = [sys.executable, "-I", "-S", "-c", text]
    started = [subprocess.Popen(argv, start_new_session=True) for _ in range(number)]
    try:
        yield [str(process.pid) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_process_that_waits_for_the_clock_is_idle_and_never_short(tmp_path: Path) -> None:
    told: list[bool] = []
    begun = tmp_path / "begun"
    with processes(f"import time; open({str(begun)!r}, 'w').close(); time.sleep(60)") as pids:
        until(begun.exists)
        until(lambda: ") S " in Path(f"/proc/{pids[0]}/stat").read_text())
        counted = ProcessorTime(lambda: pids, tell=told.append)
        counted.PERIOD = 0.05  # type: ignore[misc]
        counted.look()
        for _ in range(4):
            time.sleep(0.06)
            counted.watch()
    assert told == [True]
    assert counted.was_short(0.5, 10) is False


def test_a_program_is_not_idle_while_processes_that_nobody_sees_compute_for_it() -> None:
    told: list[bool] = []
    used = iter(range(100))
    counted = ProcessorTime(lambda: [str(os.getpid())], lambda: float(next(used)), told.append)
    counted.PERIOD = 0.01  # type: ignore[misc]
    for _ in range(5):
        time.sleep(0.011)
        counted.watch()
    assert told == []


def test_without_a_count_of_the_kernel_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    read = limits_watch.fields_of
    monkeypatch.setattr(
        limits_watch, "fields_of", lambda path: None if "schedstat" in path else read(path)
    )
    counted = ProcessorTime(lambda: [str(os.getpid())])
    counted.look()
    assert counted.was_short(0.001, 0.001) is None


@pytest.mark.parametrize(
    ("seen", "used", "wall", "short"),
    [
        ((5.0, 1.5), 5.0, 10, True),
        ((5.0, 0.5), 5.0, 10, False),
        ((0.5, 0.2), 5.0, 10, True),  # like the rest, which was over before it could be seen
        ((0.5, 0.01), 5.0, 10, False),
        ((0.0, 2.0), 0.0, 10, True),  # never had a core at all
        ((0.0, 0.0), 0.0, 10, False),
    ],
)
def test_short_is_who_waited_a_tenth_of_the_time(
    seen: tuple[float, float], used: float, wall: float, short: bool
) -> None:
    counted = ProcessorTime(list)
    counted.begun -= 10
    counted.has_threads, counted.gone, counted.used = True, seen, used
    assert counted.was_short(wall, 30) is short


def test_threads_that_keep_each_other_from_the_processors_are_not_short() -> None:
    counted = ProcessorTime(list)
    counted.begun -= 10
    counted.has_threads, counted.used = True, 10.0 * cores() - 0.5
    counted.gone = (counted.used, 300.0)
    assert counted.was_short(10, 10) is False


def test_each_step_has_a_time_of_its_own() -> None:
    counted = ProcessorTime(list)
    counted.begun -= 40
    counted.has_threads, counted.used, counted.gone = True, 5.0, (5.0, 2.0)
    counted.next_step()
    assert counted.was_short(1, 30) is False
    counted.gone = (5.0, 2.2)
    assert counted.was_short(1, 30) is True


@pytest.mark.slow
def test_the_kernel_counts_who_waits_for_a_core() -> None:
    spin = "while True: pass"
    with processes(spin) as pids, processes(spin, 3 * cores()):
        counted = ProcessorTime(lambda: of_session(int(pids[0])))
        time.sleep(2)
        counted.look()
    assert counted.was_short(2, 2) is True
    counted.look()
    assert counted.was_short(2, 2) is True  # what has ended still counts


def test_a_session_has_the_processes_that_were_started_in_it() -> None:
    text = "import os, time; os.fork(); time.sleep(60)"
    with processes(text) as (pid,):
        until(lambda: len(of_session(int(pid))) >= 2)
        members = of_session(int(pid))
        assert pid in members
        assert len(members) == 2
        os.killpg(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(("quiet", "short"), [(3.0, False), (1.0, True)])
def test_one_that_was_idle_for_longer_than_it_waited_was_not_short(
    quiet: float, short: bool
) -> None:
    counted = ProcessorTime(list)
    counted.begun -= 10
    counted.has_threads, counted.used, counted.gone = True, 1.0, (1.0, 2.0)
    counted.idle, counted.quiet_since = True, time.monotonic() - quiet
    assert counted.was_short(10, 10) is short
