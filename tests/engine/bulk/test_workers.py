"""Worker processes: what they do, and that a run survives their loss and its own."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.bulk.conftest import Run, assert_same, simple_rows, write_rows

from proctor.engine.bulk.tasks import CheckTask, PlanTask, RowFile, to_json
from proctor.engine.bulk.workers import WorkerLost, Workers
from proctor.io import json_bytes
from proctor.io.concurrency import run_sync
from proctor.io.message_process import LENGTH, MessageProcess
from proctor.io.parquet_files import parquet_limits
from proctor.io.row_shares import Share
from proctor.store.parts.files import SUITE, PartFolder


@pytest.mark.slow
def test_the_task_of_a_lost_worker_is_done_by_another(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.parquet", simple_rows(10)[0])
    task = PlanTask(path=str(file), limits=parquet_limits(file))

    async def twice() -> int:
        workers = Workers()
        try:
            assert (await workers.run(task)).rows == 10
            (process,) = workers._all
            process.process.kill()
            plan = await workers.run(task)
            assert process not in workers._all
            return int(plan.rows)
        finally:
            await workers.close()

    assert run_sync(twice()) == 10


LOADED = """\
import sys, runpy
sys.argv = ["worker_process", str(2**30)]
runpy.run_module("proctor.engine.bulk.worker_process", run_name="__main__")
print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.slow
def test_a_worker_loads_no_database_and_no_pandas(tmp_path: Path) -> None:
    cases, _ = simple_rows(10)
    file = write_rows(tmp_path / "rows.parquet", cases)
    limits = parquet_limits(file)
    tasks = [
        PlanTask(path=str(file), limits=limits),
        CheckTask(
            source=RowFile(path=str(file), dialect="native", limits=limits),
            share=Share(path=str(file), rows=10, groups=(0,)),
            first=0,
            keep=10,
            allow_import=False,
            language="en",
            folder=(folder := PartFolder(str(tmp_path))),
            place=folder.new_place(SUITE, "cases", 0),
        ),
    ]
    messages = [json_bytes.dumps(to_json(task)) for task in tasks]
    worker = subprocess.run(
        [sys.executable, "-c", LOADED],
        input=b"".join(LENGTH.pack(len(message)) + message for message in messages),
        capture_output=True,
        check=True,
    )
    assert worker.stdout.count(b'{"done":') == 2
    loaded = set(worker.stderr.decode().split())
    assert "pyarrow" in loaded
    assert not loaded & {"sqlalchemy", "pandas", "proctor.store.store"}


@pytest.mark.slow
def test_workers_begin_before_their_first_tasks(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.parquet", simple_rows(10)[0])
    task = PlanTask(path=str(file), limits=parquet_limits(file))

    async def begun() -> tuple[int, int, int]:
        workers = Workers()
        workers.size = 2
        try:
            await workers.begin(5)
            before = len(workers._all)
            plan = await workers.run(task)
            return before, len(workers._all), int(plan.rows)
        finally:
            await workers.close()

    assert run_sync(begun()) == (2, 2, 10)


@pytest.mark.slow
def test_a_task_that_costs_every_worker_its_life_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = []

    async def start(module: object, held: object) -> MessageProcess:
        started.append(held)
        command = [sys.executable, "-c", "import sys; sys.stdin.buffer.read(9)"]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return MessageProcess(process)

    monkeypatch.setattr(MessageProcess, "start", start)

    async def lost() -> None:
        workers = Workers()
        try:
            with pytest.raises(WorkerLost):
                await workers.run(PlanTask(path="x", limits={}))
        finally:
            await workers.close()

    run_sync(lost())
    assert len(started) == 3


@pytest.mark.slow
def test_processes_make_the_run_that_this_one_would(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(1_200)
    suite = write_rows(tmp_path / "suite.parquet", cases)
    file = write_rows(tmp_path / "answers.parquet", answers)
    assert_same(
        run(suite, file, store="rows", bulk=False), run(suite, file, store="parts", bulk=True)
    )


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_after_its_last_part(tmp_path: Path) -> None:
    cases, answers = simple_rows(42_000)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    command = [sys.executable, "-m", "proctor.cli.main", "run", str(suite), "--answers", str(file)]

    def began(store: str) -> "subprocess.Popen[bytes]":
        whole = [*command, "--store", str(tmp_path / store), "--json"]
        return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    process = began("killed.db")
    committed = 0
    while not committed and process.poll() is None:
        time.sleep(0.005)
        if (tmp_path / "killed.db").exists():
            committed = _parts(tmp_path / "killed.db")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert committed > 0
    before = _parts(tmp_path / "killed.db")
    out, _ = began("killed.db").communicate()
    resumed = json.loads(out)
    out, _ = began("whole.db").communicate()
    whole = json.loads(out)
    assert before < _parts(tmp_path / "killed.db") == 5
    assert resumed["totals"] == whole["totals"]
    assert resumed["groups"] == whole["groups"]


def _parts(store: Path) -> int:
    try:
        with closing(sqlite3.connect(store)) as connection:
            return int(connection.execute("SELECT count(*) FROM run_parts").fetchone()[0])
    except sqlite3.Error:
        return 0
