"""Runs of every kind that are killed at random moments and started again, against undisturbed ones.

    python tests/killing.py --kills 200 --seed 1

kills the process, interrupts it, kills one of its grading processes, or breaks its connection to
the database (where PostgreSQL is to be had), and says how often, and whether all numbers are equal.
"""

import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from proctor.testing import FakeServer

KINDS = ("answers", "model", "judged", "programs", "agent")
BULK = ("bulk", "patterns", "shuffled")
"""Large runs: of instant criteria, of criteria that need processes, of answers in any order."""
CASES = {"answers": 600, "model": 120, "judged": 80, "programs": 60, "agent": 24}
CASES |= {"bulk": 2_400, "patterns": 1_200, "shuffled": 2_300}
WORKERS = {"answers": "proctor.executors.worker", **dict.fromkeys(BULK, "bulk.worker_process")}
ENDED = 2.0
"""Seconds in which an interrupted run should have ended."""
PARTS = ("totals", "measures", "groups", "cases")
NUMBER = re.compile(r"number (\d+)")


def candidate(messages: list[Any], body: Any) -> str:
    number = int(NUMBER.findall(json.dumps(messages))[-1])
    return f"The answer to number {number} is {'yes' if number % 3 else 'no'}."


def judge(messages: list[Any], body: Any) -> str:
    number = int(NUMBER.findall(json.dumps(messages))[-1])
    return json.dumps({"reason": f"number {number}", "result": "yes" if number % 4 else "no",
                       "holds": bool(number % 4)})  # fmt: skip


AGENT = """\
import re, sys, time
number = int(re.findall("number ([0-9]+)", sys.stdin.read())[-1])
time.sleep(0.05)
print("The answer is", "yes" if number % 3 else "no")
"""


@dataclass
class Job:
    """Hold a suite in a folder, and the command that examines with it."""

    folder: Path
    kind: str
    args: list[str]
    server: FakeServer | None = None
    env: dict[str, str] = field(default_factory=dict)

    def command(self, store: str) -> list[str]:
        words = ["-m", "proctor.cli.main", "run", "suite.json", *self.args]
        if self.kind in BULK:
            small = str(Path(__file__).with_name("small_parts.py"))
            words = [small, "run", "suite.jsonl", "--bulk", *self.args]
        return [sys.executable, *words, "--store", store, "--json", "--cases"]

    def start(self, store: str) -> subprocess.Popen[str]:
        # In a group of its own, so that an interrupt can reach all of it, as from a keyboard.
        return subprocess.Popen(
            self.command(store), cwd=self.folder, env=self.env, text=True, process_group=0,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, store: str) -> Any:
        """Run to the end, and return the numbers."""
        done = subprocess.run(
            self.command(store), cwd=self.folder, env=self.env, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (self.kind, done.stderr[-3000:])
        return numbers(done.stdout)


def numbers(text: str) -> Any:
    """Return what must be the same however often a run was killed."""
    made = json.loads(text)
    for case in made["cases"]:
        for attempt in case["attempts"]:
            for score in attempt["scores"]:
                # How long programs and calls took is not the same twice.
                score.pop("detail", None)
    return {part: made[part] for part in PARTS}


@contextmanager
def job(kind: str, folder: Path, cases: int = 0) -> Iterator[Job]:
    """Write a suite of a kind into a folder, with whoever answers it."""
    count = cases or CASES[kind]
    env = {key: value for key, value in os.environ.items() if not key.startswith("PROCTOR_")}
    env |= {"PROCTOR_CACHE": str(folder / "cache")}
    criteria = {
        "answers": [{"keywords": ["yes", {"text": "num(ber)+", "regex": True}]}, {"rouge": {}}],
        "programs": [{"unit_tests": {"tests": [{"content": "assert f(2) == 4"}]}}],
        "judged": [{"keywords": ["yes"]}, {"judged": "Is it right?"}],
        "bulk": [{"keywords": ["yes"]}, {"rouge": {}}],
        "patterns": [{"matches": "(yes|no)[.]"}, {"text_metrics": ["chrf"], "weight": 0}],
    }.get(kind, [{"keywords": ["yes"]}])
    suite = {
        "name": kind,
        "measures": ["accuracy"],
        "cases": [
            {"id": f"c{n}", "ask": f"What of number {n}?", "criteria": criteria,
             "references": [f"number {n} is yes"], "tags": {"kind": str(n % 3)}}
            for n in range(count)
        ],
    }  # fmt: skip
    (folder / "suite.json").write_text(json.dumps(suite))
    if kind in BULK:
        header = {"suite": {name: suite[name] for name in ("name", "measures")}}
        _write_rows(folder / "suite.jsonl", [header, *suite["cases"]])
    with ExitStack() as stack:
        made = Job(folder, kind, [], env=env)
        if kind in ("answers", "programs", *BULK):
            rows = [{"case": f"c{n}", "output": _answer(kind, n)} for n in range(count)]
            if kind == "shuffled":
                random.Random(5).shuffle(rows)
            _write_rows(folder / "answers.jsonl", rows)
            made.args = ["--answers", "answers.jsonl"]
        elif kind == "agent":
            (folder / "agent.py").write_text(AGENT)
            made.args = ["--agent", f"exec:{sys.executable} {folder / 'agent.py'}"]
        else:
            roles = {"cand": candidate, "judge": judge}
            server = stack.enter_context(FakeServer(roles=roles, latency=(0.0, 0.05)))
            made.server = server
            made.args = ["--model", f"openai:fake@{server.url_of('cand')}", "--concurrency", "8"]
            if kind == "judged":
                made.args += ["--judge", f"openai:arbiter@{server.url_of('judge')}"]
        yield made


def _write_rows(file: Path, rows: Sequence[Any]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _answer(kind: str, number: int) -> str:
    if kind == "programs":
        return f"```\ndef f(x):\n    # {number}\n    return {2 if number % 3 else 3} * x\n```"
    return candidate([f"number {number}"], None)


def children(pid: int, mark: str) -> list[int]:
    """Return the processes below one whose command line has a mark."""
    parents, found = {}, []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(
                    Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1]
                )
            except (OSError, ValueError):
                continue
    for one in parents:
        above = one
        while above in parents and above != pid:
            above = parents[above]
        if above == pid and one != pid:
            try:
                if mark in Path(f"/proc/{one}/cmdline").read_text():
                    found.append(one)
            except OSError:
                continue
    return found


@dataclass
class Tally:
    """Count what was done to runs."""

    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    ends: list[float] = field(default_factory=list)
    """Seconds from each interrupt to the end of the process."""
    rounds: int = 0

    @property
    def kills(self) -> int:
        return sum(self.done.values())


Way = Callable[[subprocess.Popen[str], random.Random], bool]
"""Does something to a running process, and tells whether that was possible."""


def kill(process: subprocess.Popen[str], chance: random.Random) -> bool:
    process.kill()
    return True


def interrupt(process: subprocess.Popen[str], chance: random.Random) -> bool:
    process.send_signal(signal.SIGINT)
    return True


def interrupt_all(process: subprocess.Popen[str], chance: random.Random) -> bool:
    os.killpg(process.pid, signal.SIGINT)
    return True


def kill_worker(process: subprocess.Popen[str], chance: random.Random, kind: str) -> bool:
    for _ in range(400):
        found = children(process.pid, WORKERS[kind])
        if found or process.poll() is not None:
            break
        time.sleep(0.005)
    if not found:
        return False
    time.sleep(chance.uniform(0, 0.6))
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def disturb(
    job: Job, store: str, ways: dict[str, Way], most: int, chance: random.Random, tally: Tally
) -> Any:
    """Start a run, do something to it, start it again, and so on; return its numbers at last."""
    typical = 6.0
    for _ in range(most):
        began = time.monotonic()
        name = chance.choice(list(ways))
        with job.start(store) as process:
            # Grading processes are there for a moment only, which is waited for.
            wait = 0.0 if name == "worker" else chance.uniform(0.3, typical)
            while process.poll() is None and time.monotonic() - began < wait:
                time.sleep(0.01)
            if process.poll() is not None:
                process.communicate()
                typical = max(1.0, 0.9 * (time.monotonic() - began))
                break
            # Before the process listens to it, an interrupt ends Python itself.
            if name in ("interrupt", "keyboard") and time.monotonic() - began < 1.0:
                name = "process"
            sent = time.monotonic()
            if ways[name](process, chance):
                tally.done[job.kind, name] += 1
            out, err = process.communicate(timeout=120)
            if name in ("interrupt", "keyboard") and process.returncode == 130:
                tally.ends.append(time.monotonic() - sent)
                assert "Traceback" not in err, err[-3000:]
            if name in ("worker", "connection"):
                assert process.returncode in (0, 3), (name, out[-2000:], err)
    return job.run(store)


def rows_of(store: str) -> dict[str, int]:
    """Count the rows of a store in a file, and see that none is there twice."""
    found = {}
    with closing(sqlite3.connect(store)) as connection:
        for table in ("runs", "attempts", "scores", "results", "run_attempts", "calls"):
            try:
                (found[table],) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            except sqlite3.OperationalError:
                continue
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return found


def parts_of(store: Path) -> list[Any]:
    """Return the parts of a store with the content of their files; see that there is no other."""
    with closing(sqlite3.connect(store)) as connection:
        runs = connection.execute(
            "SELECT run_id, number, first, cases, attempts, scores, size, document, place"
            " FROM run_parts ORDER BY run_id, number"
        ).fetchall()
        suites = connection.execute(
            "SELECT suite_key, number, first, cases, size, place FROM suite_parts"
            " ORDER BY suite_key, number"
        ).fetchall()
    folder, parts, known = Path(f"{store}.parts"), [], set()
    for *fields, place in [*runs, *suites]:
        files = sorted(folder.glob(place.replace("/", "/*-") + ".parquet"))
        known |= set(files)
        content = [(file.name.partition("-")[0], file.read_bytes()) for file in files]
        parts.append((*fields, content))
    left = {path for path in folder.rglob("*") if not path.is_dir()} - known
    assert not left, f"left over: {sorted(map(str, left))}"
    return parts


@contextmanager
def postgresql() -> Iterator[Any]:
    """Give a function that makes the address of a new store on a server, and one that breaks lines."""
    try:
        import pgserver
        import psycopg
    except ImportError:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        running = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            uri = running.get_uri()

            def make(name: str) -> str:
                with psycopg.connect(uri, autocommit=True) as connection:
                    connection.execute(f'CREATE DATABASE "{name}"')
                return str(uri).replace("/postgres?", f"/{name}?")

            def cut(process: subprocess.Popen[str], chance: random.Random) -> bool:
                with psycopg.connect(uri, autocommit=True) as connection:
                    query = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname LIKE 'killed%'"
                    return bool(connection.execute(query).fetchone()[0])

            yield make, cut
        finally:
            running.cleanup()


def campaign(
    kinds: Sequence[str], kills: int, seed: int, say: Callable[[str], None], cases: int = 0
) -> Tally:
    """Kill runs of these kinds so many times altogether, and compare all their numbers."""
    chance, tally = random.Random(seed), Tally()
    with postgresql() as server, ExitStack() as stack:
        jobs, calm, rows, parts = {}, {}, {}, {}
        for kind in kinds:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            jobs[kind] = stack.enter_context(job(kind, folder, cases))
            calm[kind] = jobs[kind].run("calm.db")
            rows[kind] = rows_of(str(folder / "calm.db"))
            parts[kind] = parts_of(folder / "calm.db")
            assert (kind in BULK) == bool(parts[kind])
        while tally.kills < kills:
            kind = kinds[tally.rounds % len(kinds)]
            tally.rounds += 1
            found = jobs[kind]
            ways: dict[str, Way] = {"process": kill, "interrupt": interrupt}
            if kind in WORKERS:
                ways["worker"] = partial(kill_worker, kind=kind)
            if kind in BULK:
                ways["keyboard"] = interrupt_all
            remote = server is not None and kind not in BULK and tally.rounds % 4 == 0
            store = f"killed-{tally.rounds}.db"
            if remote:
                store = server[0](f"killed{tally.rounds}")
                ways["connection"] = server[1]
            most = min(6, kills - tally.kills)
            made = disturb(found, store, ways, most, chance, tally)
            assert made == calm[kind], f"{kind}: other numbers, seed {seed}, round {tally.rounds}"
            if not remote:
                counted = rows_of(str(found.folder / store))
                assert counted == rows[kind], (kind, counted, rows[kind])
                assert parts_of(found.folder / store) == parts[kind], f"{kind}: other parts"
            say(f"{tally.kills} kills in {tally.rounds} runs; {kind} equal")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=(*KINDS, *BULK))
    asked = parser.parse_args()
    # A shell that puts this into the background makes interrupts ignored, for all below it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tally = campaign(
        asked.kind or (*KINDS, *BULK), asked.kills, asked.seed, lambda text: print(text, flush=True)
    )
    for (kind, way), count in sorted(tally.done.items()):
        print(f"{kind:9} {way:10} {count}")
    late = [round(seconds, 2) for seconds in tally.ends if seconds > ENDED]
    worst = max(tally.ends, default=0.0)
    print(
        f"{tally.kills} kills, all numbers equal; {len(tally.ends)} interrupts, longest {worst:.2f} s, late: {late}"
    )


if __name__ == "__main__":
    main()
