"""Ctrl-C in every kind of run, and a store or a clock that fails: a clear message, nothing lost.

`.ci/run` interrupts every kind of run, and kills runs of all kinds at a few random moments
(tests/killing.py), which `make full` does more often and --seed at other moments.
"""

import contextlib
import json
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from killing import BULK, KINDS, campaign, children, rows_of
from level import LEVEL
from needs import problem, unmet
from proctor.testing import FakeServer
from waiting import until

KILLS = LEVEL.of(quick=0, ci=5, full=200)
BULK_KILLS = LEVEL.of(quick=0, ci=3, full=100)
ENDED = 60.0
"""Seconds: 2 are promised where nothing else goes on; what the run waits for takes 100."""
ENDLESS = "```\ndef f(x):\n    while True: pass\n```"

SUITES = {
    "answers": "{keywords: [{text: '(a+)+$', regex: true}]}",
    "collecting": "[one, two, three]",
    "model": "yes",
    "judged": "{judged: It is so}",
    "programs": "{unit_tests: {tests: [{content: f(1), timeout: 100}]}}",
    "agent": "yes",
}


def served(kind: str) -> FakeServer:
    latency = (100.0, 100.0) if kind == "model" else (0.0, 0.0)
    return FakeServer(roles={"cand": lambda messages, body: "yes"}, latency=latency)


def arguments(kind: str, cli: Any, server: FakeServer, judge: FakeServer) -> list[str]:
    if kind in ("model", "judged"):
        asked = ["--model", f"openai:fake@{server.url_of('cand')}"]
        return (
            [*asked, "--judge", f"openai:j@{judge.url_of('cand')}"] if kind == "judged" else asked
        )
    if kind == "agent":
        cli.write("agent.sh", "sleep 100.5\n")
        return ["--agent", f"exec:sh {cli.folder / 'agent.sh'}"]
    answer = {"answers": "a" * 60 + "!", "programs": ENDLESS}.get(kind, "one")
    count = 200_000 if kind == "collecting" else 1
    cli.answers(
        {"case": "c0", "output": f"{answer}" + " " * (n > 0) + str(n) * (n > 0)}
        for n in range(count)
    )
    return ["--answers", "answers.jsonl"]


def at_work(kind: str, pid: int, server: FakeServer, judge: FakeServer, folder: Path) -> list[int]:
    """Return the processes that do the work, once it is being done; the first is the run's own."""
    if kind in ("model", "judged"):
        return [pid] if (server if kind == "model" else judge).calls else []
    if kind == "collecting":
        store = folder / ".proctor" / "proctor.db"
        try:
            with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
                found = connection.execute("SELECT count(*) FROM attempts").fetchone()[0]
        except sqlite3.OperationalError:
            return []
        return [pid] if found else []
    mark = {"answers": "proctor.executors.worker", "programs": "", "agent": "100.5"}[kind]
    found = children(pid, mark)
    if kind == "programs" and len(found) < 3:
        return []
    return [pid, *found] if found else []


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("kind", SUITES)
def test_an_interrupt_ends_a_run_soon(cli: Any, kind: str) -> None:
    if kind == "programs" and (reason := problem("sandbox")):
        unmet("sandbox", reason)
    cases = "".join(f"  - {{id: c{n}, ask: Why, criteria: {SUITES[kind]}}}\n" for n in range(3))
    cli.write("suite.yaml", f"name: slow\ncases:\n{cases}")
    slow = FakeServer(roles={"cand": lambda messages, body: "no"}, latency=(100.0, 100.0))
    with served(kind) as server, slow as judge:
        args = ["run", "suite.yaml", *arguments(kind, cli, server, judge)]
        process = subprocess.Popen(
            cli.command(*args), cwd=cli.folder, env=cli.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        with process:

            def working() -> list[int]:
                assert process.poll() is None, process.communicate()
                return at_work(kind, process.pid, server, judge, cli.folder)

            busy = until(working)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=ENDED)
    assert (process.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert f"To resume:\n  proctor run suite.yaml {args[2]}" in err
    until(lambda: all(zombie(pid) for pid in busy))
    assert list(cli.folder.glob(".proctor/*.lock")) == []
    assert "interrupted" in cli("report", "@last", code=2).stderr
    if kind == "collecting":
        assert rows_of(str(cli.folder / ".proctor" / "proctor.db"))["attempts"] > 0


def zombie(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


RUN = ("run", "suite.yaml", "--answers", "answers.jsonl")


def test_a_password_is_not_repeated(cli: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from proctor.cli import main, output

    def stop(*_: Any, **__: Any) -> None:
        output.say_stopped()

    args = ["run", "s.yaml", "--answers", "a b", "--store", "postgresql://me:hush@host/db"]
    with (
        mock.patch("proctor.cli.run.run_settings", stop),
        mock.patch("proctor.store.store.Store.open", stop),
        contextlib.suppress(TypeError, AttributeError),
    ):
        main._run(args)
    said = capsys.readouterr().err
    assert "proctor run s.yaml --answers 'a b' --store postgresql://me:***@host/db" in said


@pytest.mark.slow
@pytest.mark.alone
def test_a_store_that_others_hold(small: Any, run_small: Any) -> None:
    wanted = run_small("--store", "calm.db")["totals"]
    run_small("--store", "held.db", "--limit", "1")
    with closing(sqlite3.connect(small.folder / "held.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        said = small(*RUN, "--store", "sqlite:///held.db?timeout=0.2", code=2).stderr
        other.execute("ROLLBACK")
    assert "held.db is locked by another process (fix: wait" in said
    assert run_small("--store", "held.db")["totals"] == wanted


def test_a_store_that_may_only_be_read(small: Any, run_small: Any) -> None:
    wanted = run_small("--store", "s.db")["totals"]
    small.answers([{"case": "sum", "output": "43"}], "more.jsonl")
    place = f"sqlite:///file:{small.folder / 's.db'}?mode=ro&uri=true"
    said = small("run", "suite.yaml", "--answers", "more.jsonl", "--store", place, code=2).stderr
    assert "it is read-only (fix:" in said
    assert (
        json.loads(small("report", "@last", "--format", "json", "--store", place).stdout)["totals"]
        == wanted
    )


@pytest.mark.slow
@pytest.mark.alone
def test_a_clock_that_goes_backwards(small: Any, run_small: Any) -> None:
    wanted = run_small("--store", "calm.db")["totals"]
    now = [time.time()]

    def backwards() -> float:
        now[0] -= 3600.0
        return now[0]

    with mock.patch("time.time", backwards):
        first = run_small("--name", "first")
        again = run_small("--name", "first")
        other = run_small("--name", "second", "--limit", "2")
        listed = small.json("list", "runs")
    assert (first["totals"], again["totals"]) == (wanted, wanted)
    assert first["run"]["id"] == again["run"]["id"] != other["run"]["id"]
    assert len(listed["runs"] if isinstance(listed, dict) else listed) == 2


@pytest.mark.slow
@pytest.mark.alone
def test_two_runs_of_one_name_are_two_runs(small: Any) -> None:
    for name, output in (("a", "42"), ("b", "43")):
        small.answers([{"case": "sum", "output": output}], f"{name}.jsonl")
    started = [
        subprocess.Popen(
            small.command("run", "suite.yaml", "--answers", f"{name}.jsonl", "--name", "same", "--json"),
            cwd=small.folder, env=small.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for name in ("a", "b")
    ]  # fmt: skip
    made = []
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        made.append(json.loads(out))
    assert [found["totals"]["score"] for found in made] == [1.75, 0.75]
    assert made[0]["run"]["id"] != made[1]["run"]["id"]
    rows = rows_of(str(small.folder / ".proctor" / "proctor.db"))
    assert (rows["runs"], rows["attempts"]) == (2, 5)


@pytest.mark.slow
@pytest.mark.alone
def test_killed_at_random_moments() -> None:
    tally = campaign(KINDS, KILLS, LEVEL.seed, print)
    assert tally.kills >= KILLS


@pytest.mark.slow
@pytest.mark.alone
def test_large_runs_killed_at_random_moments() -> None:
    """Part for part the bytes of an undisturbed run, and no other file."""
    tally = campaign(BULK if LEVEL.full else ("shuffled",), BULK_KILLS, LEVEL.seed, print)
    assert tally.kills >= BULK_KILLS
