"""A hundred agents at once: none is lost, and no process, mount or folder is left."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

TASK = Path(__file__).parents[1] / "data" / "harbor" / "greeting"
ATTEMPTS = 100
AGENT = "exec:bash -c 'echo hello >hello.txt; sleep 1; echo done'"
FLAT = 100 * 1024
"""KiB by which the driver may grow between its first and its last attempts."""


def mounts(place: Path) -> list[str]:
    """Return what is mounted below a folder."""
    return [
        line for line in Path("/proc/self/mounts").read_text().splitlines() if str(place) in line
    ]


def processes(place: Path) -> list[str]:
    """Return the processes that have something to do with a folder."""
    listed = subprocess.run(["ps", "-wweo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if str(place) in line]


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in KiB; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.sandbox
def test_a_hundred_attempts_at_once(tmp_path: Path) -> None:
    place = tmp_path / "places"
    place.mkdir()
    argv = [sys.executable, "-m", "proctor", "run", str(TASK), "--agent", AGENT, "--json"]
    argv += ["--attempts", str(ATTEMPTS), "--agent-option", f"concurrency={ATTEMPTS}", "--cases"]
    argv += ["--concurrency", str(ATTEMPTS)]
    env = {**os.environ, "TMPDIR": str(place)}
    sizes: list[int] = []
    with subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as driver:

        def watch() -> None:
            while size := memory_of(driver.pid):
                sizes.append(size)
                time.sleep(0.25)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        report = json.loads(driver.communicate(timeout=900)[0])
    (case,) = report["cases"]
    statuses = [attempt["status"] for attempt in case["attempts"]]
    assert statuses == ["scored"] * ATTEMPTS
    assert report["totals"]["rate"] == 1.0
    assert (os.listdir(place), mounts(place), processes(place)) == ([], [], [])
    settled = sizes[len(sizes) // 3 :]
    assert max(settled) - min(settled) < FLAT, (min(settled), max(settled))
    print(f"driver: {max(sizes) // 1024} MiB at most, {len(sizes)} looks")
