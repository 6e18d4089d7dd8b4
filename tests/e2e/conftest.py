"""The command line in a folder of its own; in a process of its own where that matters."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from proctor.cli import main
from proctor.scorers.text.comparisons import Matches
from proctor.scorers.text.keywords import Keywords

SUITE = """\
name: small
measures: [accuracy]
reduce: avg
cases:
  - id: capital
    ask: Capital of France?
    criteria: Paris
    tags: {topic: geography, level: easy}
  - id: sum
    ask: 17 + 25?
    criteria: {number: 42}
    tags: {topic: arithmetic, level: easy}
  - id: words
    ask: Say one and two.
    criteria:
      - keywords: [one, two]
    tags: {topic: words, level: [easy, hard]}
    null_score: 0.25
  - id: silent
    ask: Anything?
    criteria: something
    null_score: 0.5
"""
ANSWERS = [
    {"case": "capital", "output": "Paris."},
    {"case": "capital", "output": "Lyon."},
    {"case": "sum", "output": "42"},
    {"case": "sum", "output": "42"},
    {"case": "words", "output": "one"},
    {"case": "words", "output": ""},
]


@dataclass
class Cli:
    """Start ``proctor`` in a folder."""

    folder: Path
    env: dict[str, str]
    program: str

    def __call__(self, *args: str, code: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
        if more or "PYTHONPATH" in self.env:
            done = self.start(*args, **more)
        else:
            done = self.here(*args)
        assert done.returncode == code, (done.returncode, done.stdout[-3000:], done.stderr[-3000:])
        assert "Traceback" not in done.stderr
        return done

    def start(self, *args: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Call it in another process."""
        return subprocess.run(
            [self.program, *args],
            cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=120, check=False,
            **more,
        )  # fmt: skip

    def here(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Call the same code in this process, which saves a second."""
        out, err = io.StringIO(), io.StringIO()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with (
                mock.patch.dict(os.environ, self.env, clear=True),
                redirect_stdout(out),
                redirect_stderr(err),
            ):
                code = main._run(list(args))
        finally:
            os.chdir(before)
        return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())

    def json(self, *args: str, code: int = 0) -> Any:
        return json.loads(self(*args, "--json", code=code).stdout)

    def command(self, *args: str) -> list[str]:
        """Return what starts a new process, such as can be killed."""
        return [sys.executable, "-m", "proctor.cli.main", *args]

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def answers(self, rows: Iterable[dict[str, Any]], name: str = "answers.jsonl") -> str:
        return self.write(name, "".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up endless patterns sooner, where the command line is called in this process."""
    for scorer in (Keywords, Matches):
        monkeypatch.setattr(scorer, "time_limit", 1.0)


@pytest.fixture(scope="session")
def make_cli(proctor: str) -> Callable[[Path], Cli]:
    def make(folder: Path) -> Cli:
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("PROCTOR") and key != "PYTHONPATH"
        }
        return Cli(folder, {**env, "PYTHONWARNINGS": "error"}, proctor)

    return make


@pytest.fixture
def cli(tmp_path: Path, make_cli: Callable[[Path], Cli]) -> Cli:
    return make_cli(tmp_path)


@pytest.fixture
def small(cli: Cli) -> Cli:
    """Give a command line with a small suite and answers beside it."""
    cli.write("suite.yaml", SUITE)
    cli.answers(ANSWERS)
    return cli


@pytest.fixture
def run_small(small: Cli) -> Callable[..., Any]:
    return lambda *more, code=0: small.json(
        "run", "suite.yaml", "--answers", "answers.jsonl", *more, code=code
    )
