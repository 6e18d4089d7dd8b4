"""The command ``proctor serve``: a real server with programs, its token, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from waiting import PATIENCE

QUIZ = """\
name: quiz
cases:
  - {id: capital, ask: "Capital of France?", criteria: {contains: Paris}}
"""
PROGRAMS = """\
name: programs
cases:
  - id: double
    ask: Write double(x).
    criteria:
      - unit_tests: {tests: [{content: "assert double(2) == 4", timeout: 2}]}
"""
DOUBLE = "def double(x):\n    return 2 * x\n"
ENDLESS = "def double(x):\n    while True: pass\n"
FORKS = "import os\nwhile True: os.fork()\n"
TOKEN = "a-token-of-enough-letters"


@contextmanager
def served(
    suite: Path, *more: str, token: str = "", number: int = signal.SIGTERM, code: int = 0
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start the server; give its address, and see it end in order."""
    command = [sys.executable, "-m", "proctor.cli.main", "serve", str(suite), "--port", "0"]
    environment = {**os.environ, "PROCTOR_SERVE_TOKEN": token}
    with subprocess.Popen(
        [*command, "--json", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert set(ready) == {"address", "suite", "cases"}
        try:
            yield ready["address"].replace("0.0.0.0", "127.0.0.1"), process
        finally:
            if process.poll() is None and number:
                process.send_signal(number)
            _, trouble = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in trouble, trouble
    assert process.returncode == code


def ask(address: str, data: Any, **headers: str) -> list[Any]:
    request = urllib.request.Request(
        f"{address}/score",
        data=json.dumps(data).encode(),
        headers={"Content-Type": "application/json", **headers},
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return [json.loads(line) for line in response.read().splitlines()]


@pytest.mark.slow
def test_it_scores_on_this_machine_without_a_token(tmp_path: Path) -> None:
    suite = tmp_path / "quiz.yaml"
    suite.write_text(QUIZ, encoding="utf-8")
    with served(suite, number=signal.SIGINT) as (address, _):
        assert address.startswith("http://127.0.0.1:")
        assert ask(address, {"case": "capital", "output": "Paris"})[0]["value"] == 1.0
        with urllib.request.urlopen(f"{address}/healthz") as response:
            assert json.load(response)["graded"] == 1


@pytest.mark.slow
def test_elsewhere_a_token_is_needed(tmp_path: Path) -> None:
    suite = tmp_path / "quiz.yaml"
    suite.write_text(QUIZ, encoding="utf-8")
    one = {"case": "capital", "output": "Paris"}
    with served(suite, "--host", "0.0.0.0", token=TOKEN) as (address, _):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(address, one)
        assert ask(address, one, Authorization=f"Bearer {TOKEN}")[0]["value"] == 1.0
    with served(suite, "--host", "0.0.0.0") as (address, process):
        assert process.stderr is not None
        found = re.search(r"the token is (\S+)", process.stderr.readline())
        assert found is not None
        assert ask(address, one, Authorization=f"Bearer {found[1]}")[0]["value"] == 1.0


@pytest.mark.slow
@pytest.mark.sandbox
def test_programs_without_end_and_fork_bombs_hurt_nobody(tmp_path: Path) -> None:
    suite = tmp_path / "programs.yaml"
    # Time enough for all that end, even on a machine that does much else.
    suite.write_text(PROGRAMS.replace("timeout: 2", "timeout: 8"), encoding="utf-8")
    with served(suite) as (address, _):
        outputs = [ENDLESS, FORKS, *[f"# {number}\n{DOUBLE}" for number in range(40)], "x" * 10**6]
        rows = [{"case": "double", "output": output} for output in outputs]
        results = sorted(ask(address, {"outputs": rows}), key=lambda row: row["index"])
    assert [row["value"] for row in results] == [0.0, 0.0, *[1.0] * 40, 0.0]


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("signals", [1, 2])
def test_what_is_under_way_is_completed_unless_told_twice(tmp_path: Path, signals: int) -> None:
    suite = tmp_path / "programs.yaml"
    # Nobody waits for a program that is given up: it must not be over before that.
    text = PROGRAMS if signals == 1 else PROGRAMS.replace("timeout: 2", "timeout: 100")
    suite.write_text(text, encoding="utf-8")
    with served(suite, number=0, code=0 if signals == 1 else 130) as (address, process):
        assert process.stderr is not None
        body = json.dumps({"outputs": [{"case": "double", "output": ENDLESS}]}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{address}/score", data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=120) as response:
            process.send_signal(signal.SIGTERM)
            if signals == 1:
                assert json.loads(response.read())["value"] == 0.0
            else:
                # Two signals at once may be one.
                assert "1 outputs are completed" in process.stderr.readline()
                process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--token-env", "NOBODY_SET_THIS"), "NOBODY_SET_THIS"),
        (("--deadline", "0"), "--deadline"),
        (("--host", "203.0.113.7"), "cannot listen"),
        (("--limit", "0"), "--limit"),
    ],
)
@pytest.mark.sampled(4)
def test_what_is_wrong_is_said(
    proctor: str, tmp_path: Path, more: tuple[str, ...], words: str
) -> None:
    (tmp_path / "quiz.yaml").write_text(QUIZ, encoding="utf-8")
    done = subprocess.run(
        [proctor, "serve", "quiz.yaml", *more],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
