"""A run that is killed, interrupted, or started twice ends with the same numbers."""

import json
import signal
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from waiting import PATIENCE, until

CASES, ATTEMPTS = 10, 60
SLOW = """\
\"\"\"A scorer that takes its time and writes down each attempt it judges.\"\"\"

import os
import time
from dataclasses import dataclass

from proctor import Scorer


@dataclass(frozen=True)
class Slow(Scorer):
    log: str

    def score(self, ctx):
        # What is to be disturbed must not be over before that.
        time.sleep(0.05 if os.environ.get("SLOWLY") else 0.01)
        with open(self.log, "a") as file:
            file.write(f"{ctx.case.id}/{ctx.output}\\n")
        return len(ctx.output) % 2
"""


def prepare(cli: Any) -> list[str]:
    cli.write("slow.py", SLOW)
    cli.env["PYTHONPATH"] = str(cli.folder)
    log = json.dumps(str(cli.folder / "log"))
    rows = [
        f"  - {{id: c{n}, ask: Q{n}, criteria: {{'slow:Slow': {{log: {log}}}}}}}"
        for n in range(CASES)
    ]
    cli.write("suite.yaml", "name: slow\ncases:\n" + "\n".join(rows) + "\n")
    cli.answers(
        {"case": f"c{n}", "output": "x" * (n * 7 + k)}
        for n in range(CASES)
        for k in range(1, ATTEMPTS + 1)
    )
    return [
        "run",
        "suite.yaml",
        "--answers",
        "answers.jsonl",
        "--allow-import",
        "--json",
        "--cases",
    ]


def start(cli: Any, args: list[str], **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        cli.command(*args), cwd=cli.folder, env={**cli.env, **more}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def stored(folder: Path) -> set[str]:
    path = folder / ".proctor" / "proctor.db"
    if not path.exists():
        return set()
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return {row[0] for row in connection.execute("SELECT key FROM scores")}
    except sqlite3.OperationalError:
        return set()


def wait_for_scores(process: subprocess.Popen[str], folder: Path) -> int:
    def scores() -> int:
        found = len(stored(folder))
        assert found or process.poll() is None, process.communicate()
        return found

    return until(scores)


def undisturbed(cli: Any, args: list[str]) -> Any:
    return json.loads(cli(*args, "--store", "calm.db").stdout)


def judged(folder: Path) -> Counter[str]:
    return Counter((folder / "log").read_text().splitlines())


def same(one: Any, other: Any) -> bool:
    return all(one[part] == other[part] for part in ("totals", "groups", "cases", "measures"))


@pytest.mark.slow
def test_killed_and_started_again(cli: Any) -> None:
    args = prepare(cli)
    with start(cli, args, SLOWLY="yes") as process:
        before = wait_for_scores(process, cli.folder)
        process.kill()
        # Its grading processes have the same streams: they are gone, too, when nobody has them.
        process.communicate(timeout=PATIENCE)
    kept = len(stored(cli.folder))
    assert before <= kept < CASES * ATTEMPTS
    (cli.folder / "log").unlink()
    made = json.loads(cli(*args).stdout)
    again = judged(cli.folder)
    assert set(again.values()) == {1}
    assert len(again) == CASES * ATTEMPTS - kept
    assert made["totals"]["attempts"] == CASES * ATTEMPTS
    assert same(made, undisturbed(cli, args))


@pytest.mark.slow
def test_interrupted_and_started_again(cli: Any) -> None:
    args = prepare(cli)
    with start(cli, args, SLOWLY="yes") as process:
        wait_for_scores(process, cli.folder)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    kept = len(stored(cli.folder))
    assert kept > 0
    cli("list", "runs")
    assert "interrupted" in cli("report", "@last", code=2).stderr
    (cli.folder / "log").unlink()
    made = json.loads(cli(*args).stdout)
    assert len(judged(cli.folder)) == CASES * ATTEMPTS - kept
    assert made["totals"]["attempts"] == CASES * ATTEMPTS


@pytest.mark.slow
def test_two_processes_on_the_same_run(cli: Any) -> None:
    args = prepare(cli)
    first = start(cli, args)
    wait_for_scores(first, cli.folder)
    second = start(cli, args)
    made = []
    for process in (first, second):
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        made.append(json.loads(out))
    assert same(made[0], made[1])
    assert same(made[0], json.loads(cli(*args).stdout))
    assert made[0]["totals"]["attempts"] == CASES * ATTEMPTS
