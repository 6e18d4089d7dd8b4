"""Several machines at one store: a run is done by one, finished by another, and read by all."""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor.store.store import Store

CASES, ATTEMPTS = 5, 60
PATIENCE = 300
"""Seconds; a busy machine takes its time."""
SLOW = """
import os
import time
from dataclasses import dataclass
from proctor import Scorer

@dataclass(frozen=True)
class Slow(Scorer):
    log: str
    time_limit = 600.0

    def score(self, ctx):
        with open(self.log, "a") as file:
            file.write(f"{ctx.case.id}/{ctx.output}\\n")
        time.sleep(0.002)
        while os.path.exists(self.log + ".wait") and ctx.case.id > "c2":
            time.sleep(0.01)
        return len(ctx.output) % 2
"""


class Machine:
    """Be a folder with the suite and the answers in it, as each machine has them."""

    def __init__(self, folder: Path, log: Path, store: str) -> None:
        self.folder, self.log = folder, log
        folder.mkdir()
        (folder / "slow.py").write_text(SLOW)
        rows = [
            {"id": f"c{n}", "ask": f"Q{n}", "criteria": {"slow:Slow": {"log": str(log)}}}
            for n in range(CASES)
        ]
        (folder / "suite.yaml").write_text(json.dumps({"name": "slow", "cases": rows}))
        answers = [
            json.dumps({"case": f"c{n}", "output": "x" * (n * 7 + k)})
            for n in range(CASES)
            for k in range(1, ATTEMPTS + 1)
        ]
        (folder / "answers.jsonl").write_text("\n".join(answers))
        self.env = {**os.environ, "PYTHONPATH": str(folder), "PROCTOR_STORE": store}

    def start(self, *more: str, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "proctor.cli.main", "run", "suite.yaml"]
        command += ["--answers", "answers.jsonl", "--allow-import", "--json", "--cases", *more]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    def run(self, *more: str) -> dict[str, Any]:
        process = self.start(*more)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    @property
    def waits(self) -> Path:
        """Return the file that keeps all from going on beyond the third case."""
        return Path(f"{self.log}.wait")

    def judged(self) -> Counter[str]:
        return Counter(self.log.read_text().splitlines() if self.log.exists() else ())

    def wait(self, process: subprocess.Popen[str], most: int = 150) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            if len(self.judged()) >= most:
                return
            time.sleep(0.02)
        process.kill()
        raise AssertionError(f"too little was judged: {process.communicate()[1]}")


def stored_scores(address: str) -> int:
    with Store.open(address, create=False) as store:
        (run,) = store.runs.newest()
        return sum(len(s) for row in store.attempts.iter_cases(run.id) for _, s in row.attempts)


def wait_for_scores(address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not stored_scores(address):
        assert time.monotonic() < deadline, "nothing was stored"
        time.sleep(0.05)


@pytest.fixture
def machines(tmp_path: Path, address: str) -> list[Machine]:
    return [Machine(tmp_path / name, tmp_path / "log", address) for name in ("one", "two")]


def numbers(found: dict[str, Any]) -> dict[str, Any]:
    return {part: found[part] for part in ("totals", "groups", "cases", "measures")}


def calm(machine: Machine, tmp_path: Path) -> dict[str, Any]:
    """Return the numbers of a run that nothing happens to."""
    return numbers(machine.run("--store", str(tmp_path / "calm.db")))


@pytest.mark.slow
def test_killed_on_one_machine_and_finished_on_another(
    machines: list[Machine], address: str, tmp_path: Path
) -> None:
    one, two = machines
    one.waits.touch()
    with one.start() as process:
        one.wait(process)
        # What is done is stored soon, though what follows goes on for ever.
        wait_for_scores(address)
        process.kill()
        # Its grading processes have the same streams: they are gone, too, when nobody has them.
        process.communicate(timeout=PATIENCE)
    one.waits.unlink()
    with Store.open(address, create=False) as store:
        (run,) = store.runs.newest()
    kept = stored_scores(address)
    two.log.unlink()
    made = two.run()
    again = two.judged()
    assert set(again.values()) == {1}
    assert sum(again.values()) <= CASES * ATTEMPTS - kept < CASES * ATTEMPTS
    assert made["run"]["id"] == run.id
    assert made["totals"]["attempts"] == CASES * ATTEMPTS
    assert numbers(made) == calm(two, tmp_path)


def begun(one: Machine, two: Machine) -> list[subprocess.Popen[str]]:
    """Return a process in the middle of a run, and one that waits for it."""
    one.waits.touch()
    first = one.start()
    one.wait(first)
    second = two.start()
    assert second.stderr is not None
    line = next(line for line in second.stderr if "another process" in line)
    assert "'slow-answers' is being made by another process; waiting for it to end" in line
    return [first, second]


@pytest.mark.slow
def test_two_machines_at_one_run(machines: list[Machine], address: str) -> None:
    one, two = machines
    processes = begun(one, two)
    one.waits.unlink()
    made = []
    for process in processes:
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        made.append(json.loads(out))
    assert numbers(made[0]) == numbers(made[1])
    assert set(one.judged().values()) == {1}, "something was done twice"
    with Store.open(address, create=False) as store:
        assert len(store.runs.newest()) == 1
        assert store.results.count(made[0]["run"]["id"]) == CASES
    if "://" not in address:
        assert not list(Path(address).parent.glob("*.lock"))


@pytest.mark.slow
def test_who_waits_takes_over_from_who_is_killed(machines: list[Machine], tmp_path: Path) -> None:
    one, two = machines
    first, second = begun(one, two)
    first.kill()
    first.communicate()
    one.waits.unlink()
    out, err = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, err
    assert numbers(json.loads(out)) == calm(two, tmp_path)


@pytest.mark.slow
def test_several_runs_and_readers_at_once(machines: list[Machine], address: str) -> None:
    ended = threading.Event()
    looked = []

    def look() -> None:
        with Store.open(address) as store:
            while not ended.wait(0.1):
                for run in store.runs.newest():
                    looked.append(
                        sum(len(row.attempts) for row in store.attempts.iter_cases(run.id))
                    )

    reader = threading.Thread(target=look)
    reader.start()
    running = [machine.start("--name", name) for machine, name in zip(machines, "ab", strict=True)]
    made = [json.loads(process.communicate(timeout=PATIENCE)[0]) for process in running]
    ended.set()
    reader.join()
    assert numbers(made[0]) == numbers(made[1])
    assert max(looked) <= CASES * ATTEMPTS
    with Store.open(address, create=False) as store:
        assert {run.name for run in store.runs.newest()} == {"a", "b"}


@pytest.mark.slow
def test_connections_that_break_in_the_middle_of_a_run(
    tmp_path: Path, postgresql: str, postgres_server: Any
) -> None:
    import sqlalchemy

    machine = Machine(tmp_path / "one", tmp_path / "log", postgresql)
    engine = sqlalchemy.create_engine(
        postgres_server.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    ended = threading.Event()
    broken = [0]

    def disturb() -> None:
        query = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        with engine.connect() as connection:
            while not ended.wait(0.15):
                broken[0] += connection.exec_driver_sql(query).scalar() or 0

    machine.waits.touch()
    with machine.start() as process:
        machine.wait(process)
        thread = threading.Thread(target=disturb)
        thread.start()
        while broken[0] < 1:
            time.sleep(0.05)
        machine.waits.unlink()
        out, err = process.communicate(timeout=PATIENCE)
        ended.set()
        thread.join()
    engine.dispose()
    assert process.returncode == 0, err
    assert broken[0] > 1
    assert numbers(json.loads(out)) == calm(machine, tmp_path)


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "small.db"
    machine = Machine(tmp_path / "one", tmp_path / "log", str(path))
    Store.open(str(path)).close()
    room = path.stat().st_size + 60_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    with machine.start(preexec_fn=limited) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, (out, err)
    said = json.loads(out)["error"]["message"]
    assert "disk" in said
    assert "Traceback" not in err
    assert numbers(machine.run()) == calm(machine, tmp_path)
