"""The plain process: no boundary, but the same contract for honest programs."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from proctor.core.program import MIB, SECRET, Limits, Program, Ran, Step
from proctor.sandboxes.plain_process import PlainProcess


def run(code: str, **given: Any) -> Ran:
    limits = Limits(**{"wall": 20, **given.pop("limits", {})})
    files = {"main.py": code.encode(), **given.pop("files", {})}
    steps = given.pop("steps", (Step(argv=("/usr/bin/env", "python3", "main.py")),))
    program = Program(steps=steps, files=files, limits=limits, **given)
    return asyncio.run(PlainProcess().run(program))


def test_it_says_that_it_is_no_boundary() -> None:
    assert PlainProcess().safe is False
    assert PlainProcess().tier == "process"
    assert list(PlainProcess().problems()) == []


@pytest.mark.parametrize(
    ("code", "limits", "expected"),
    [
        ("print('x')", {}, (0, True, None)),
        ("raise SystemExit(3)", {}, (3, False, None)),
        ("import os; os.kill(os.getpid(), 9)", {}, (-9, False, None)),
        ("import time; time.sleep(60)", {"wall": 1}, (None, False, "time")),
        ("while True: pass", {"cpu": 1.0, "wall": 100}, (None, False, "cpu")),
        ("while True: print('x' * 1000)", {"output": 100_000}, (None, False, "output")),
        ("open('a', 'wb').write(b'x' * 10**7)", {"file_size": MIB}, (1, False, None)),
    ],
)
@pytest.mark.sampled(5)
def test_limits_of_the_process_itself(
    code: str, limits: dict[str, Any], expected: tuple[int | None, bool, str | None]
) -> None:
    ran = run(code, limits=limits)
    assert (ran.code, ran.finished, ran.stopped) == expected, ran


def test_files_steps_input_and_secret() -> None:
    ran = run(
        f"import sys; open('out', 'w').write(sys.stdin.read()); print('{SECRET}')",
        stdin=b"given",
        keep=("out",),
        steps=(
            Step(argv=("/usr/bin/env", "python3", "main.py")),
            Step(argv=("ls",), hide=("main.py",)),
        ),
    )
    assert ran.finished
    assert ran.proved
    assert ran.stdout == "out\n"
    assert ran.files == {"out": b"given"}


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside"])
def test_files_stay_in_the_working_folder(name: str) -> None:
    ran = run("pass", files={name: b"x"})
    assert not ran.finished
    assert "not a place in the working folder" in ran.stderr


def test_the_environment_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_TEST_KEY", "a key of the grader")
    ran = run("import os; print(sorted(os.environ)); os.environ['A']", env={"A": "1"})
    assert ran.finished
    assert "PROCTOR_TEST_KEY" not in ran.stdout


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(os.listdir("/proc/self/fd"))
    run("import os, time\nif not os.fork(): time.sleep(60)", limits={"wall": 5})
    assert os.listdir(tmp_path) == []
    assert sorted(os.listdir("/proc/self/fd")) == before
