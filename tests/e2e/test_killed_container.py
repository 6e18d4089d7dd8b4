"""Containers that are killed from outside: the environment's fault, and made again by that cause."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.test_whose_fault import outcomes
from sandboxes.test_container_environment import engine, image

__all__ = ["image"]

pytestmark = [pytest.mark.container, pytest.mark.slow]
GREETING = Path(__file__).parents[1] / "data" / "harbor" / "greeting"
WAITS = "sleep 600"


def task_with(folder: Path, tests: str = "") -> Path:
    """Write a task that has much time, with tests of its own."""
    task = folder / "tasks" / "greeting"
    shutil.copytree(GREETING, task)
    if tests:
        (task / "tests" / "test.sh").write_text(tests)
    about = task / "task.toml"
    about.write_text(about.read_text().replace("timeout_sec = 20", "timeout_sec = 900"))
    return folder / "tasks"


def container_below(pid: int, running: str) -> str:
    """Return the container of a process below another in which these words run; empty for none."""
    listed = subprocess.run(
        ["ps", "-wweo", "pid,ppid,args"], capture_output=True, text=True, check=True
    )
    rows = {}
    for line in listed.stdout.splitlines()[1:]:
        own, parent, args = line.split(None, 2)
        rows[int(own)] = (int(parent), args.split())
    for own, (_, words) in rows.items():
        above = own
        while above in rows and above != pid:
            above = rows[above][0]
        if above == pid and "--name" in words and "run" in words:
            name = words[words.index("--name") + 1]
            inside = engine("top", name, "args")
            if inside.returncode == 0 and running in inside.stdout:
                return name
    return ""


def killed_while(argv: list[str], folder: Path, running: str) -> Any:
    """Run a command, kill its container once these words run in it, and return the report."""
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + 120
            while not (name := container_below(process.pid, running)):
                assert time.monotonic() < end, "it did not begin"
                assert process.poll() is None, "it ended before"
                time.sleep(0.1)
            assert engine("kill", "--signal", "KILL", name).returncode == 0
            return json.loads(process.communicate(timeout=180)[0])
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.fixture
def command(image: str) -> Callable[..., list[str]]:
    def words(tasks: Path, agent: str, *more: str) -> list[str]:
        argv = [sys.executable, "-m", "proctor", "run", str(tasks), "--agent", agent]
        return [*argv, "--sandbox", f"docker:{image}", "--cases", "--json", *more]

    return words


def report_of(argv: list[str], folder: Path) -> Any:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def test_a_container_killed_while_the_agent_works(
    command: Callable[..., list[str]], tmp_path: Path
) -> None:
    """Kill it once, and let the same command mend that once the agent need not wait any more."""
    seen = tmp_path / "seen"
    seen.mkdir()
    works = f"echo hello >hello.txt; test -e {seen}/quick || {WAITS}"
    argv = command(
        task_with(tmp_path), f"exec:bash -c '{works}'", "--agent-option", f'needs=["{seen}"]'
    )
    report = killed_while(argv, tmp_path, WAITS)
    assert outcomes(report) == {"greeting": ("error", "environment")}
    assert report["totals"]["rate"] is None, "nothing is 0 for another's fault"
    (seen / "quick").touch()
    left = report_of([*argv, "--again", "provider"], tmp_path)
    assert outcomes(left) == {"greeting": ("error", "environment")}, "another cause is left alone"
    mended = report_of([*argv, "--again", "environment"], tmp_path)
    assert outcomes(mended) == {"greeting": ("scored", None)}
    assert mended["totals"]["rate"] == 1.0


def test_a_container_killed_while_tests_run(
    command: Callable[..., list[str]], tmp_path: Path
) -> None:
    tasks = task_with(tmp_path, f"{WAITS}\necho 1 >/logs/verifier/reward.txt\n")
    report = killed_while(command(tasks, "oracle"), tmp_path, WAITS)
    assert outcomes(report) == {"greeting": ("unscored", "environment")}
    (case,) = report["cases"]
    assert (case["value"], case["low"], case["high"]) == (None, 0.0, 1.0)
