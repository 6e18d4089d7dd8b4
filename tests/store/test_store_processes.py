"""Several processes on one store, and one that is killed while it writes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.core.attempt import Attempt
from proctor.store.store import Store

BATCH = 40

WRITER = f"""
import sys
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.store.store import Store

name, batches = sys.argv[2], int(sys.argv[3])
with Store.open(sys.argv[1]) as store:
    for number in range(batches):
        keys = [f"{{name}}-{{number}}-{{i}}" for i in range({BATCH})]
        with store.batch():
            for key in keys:
                store.attempts.put([(key, Attempt.of("a", key * 50))])
            store.scores.put((key, "s", Score(points=1.0, out_of=1.0)) for key in keys)
        print(number, flush=True)
"""


def writer(path: Path | str, name: str, batches: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(batches)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def keys_of(name: str, number: int) -> list[str]:
    return [f"{name}-{number}-{i}" for i in range(BATCH)]


@pytest.mark.slow
def test_a_killed_writer_leaves_whole_batches(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    process = writer(path, "w", 1_000_000)
    assert process.stdout is not None
    reported = 0
    for line in process.stdout:
        reported = int(line)
        if reported >= 5:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with Store.open(str(path), create=False) as store:
        number = 0
        while found := store.attempts.stored_keys(keys_of("w", number)):
            assert (
                found == set(keys_of("w", number)) == store.scores.stored_keys(keys_of("w", number))
            )
            number += 1
        assert number > reported
        assert not store.scores.stored_keys(keys_of("w", number))
        store.attempts.put([("after", Attempt.of("a", "x"))])
        with store.database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


@pytest.mark.slow
def test_two_processes_make_a_store_and_write_at_once(address: str) -> None:
    names = ("one", "two", "three")
    processes = [writer(address, name, 15) for name in names]
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0, 0, 0]
    with Store.open(address, create=False) as store:
        keys = {key for name in names for number in range(15) for key in keys_of(name, number)}
        assert store.attempts.stored_keys(keys) == keys == store.scores.stored_keys(keys)


def test_readers_go_on_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(str(path)) as store, Store.open(str(path)) as other:
        with store.batch():
            store.attempts.put([("key", Attempt.of("a", "x"))])
            assert other.attempts.stored_keys(["key"]) == set()
        assert other.attempts.stored_keys(["key"]) == {"key"}
