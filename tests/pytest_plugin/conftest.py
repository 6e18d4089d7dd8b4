"""Sessions of pytest with the plugin, in a folder of their own."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Session:
    """A folder in which pytest is called."""

    folder: Path

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def __call__(self, *args: str, code: int = 0) -> str:
        """Call pytest, and return what it printed."""
        hidden = ("PROCTOR", "PYTEST", "COLUMNS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        command = [sys.executable, "-m", "pytest", "-p", "proctor.pytest_plugin", *args]
        done = subprocess.run(
            command, cwd=self.folder, env=kept, capture_output=True, text=True, timeout=180,
            check=False,
        )  # fmt: skip
        assert done.returncode == code, (done.returncode, done.stdout[-4000:], done.stderr[-4000:])
        return done.stdout

    def outcomes(self, *args: str, code: int = 0) -> dict[str, str]:
        """Call pytest, and return what became of each test, by its name."""
        text = self("-v", *args, code=code)
        found = re.findall(
            r"^(?:\[gw\d+\] \[ *\d+%\] )?(\S+::.*?) (PASSED|FAILED|SKIPPED)", text, re.M
        )
        swapped = re.findall(
            r"^\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|SKIPPED) (\S+::.*?) *$", text, re.M
        )
        return {**dict(found), **{name: word for word, name in swapped}}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return Session(tmp_path)


@pytest.fixture
def quiz(session: Session) -> Session:
    """Give a folder with a suite of four cases, one of which is answered wrongly."""
    session.write(
        "quiz.suite.yaml",
        "name: quiz\n"
        "cases:\n"
        + "".join(
            f"  - {{id: c{n}, ask: {n} + {n}, criteria: {{number: {2 * n}}}}}\n" for n in range(4)
        ),
    )
    session.write(
        "quiz.answers.jsonl",
        "".join(f'{{"case": "c{n}", "output": "{2 * n + (n == 2)}"}}\n' for n in range(4)),
    )
    return session
