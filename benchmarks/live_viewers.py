"""What viewers of a run in progress cost it: the same run with nobody and with five readers.

`proctor run` asks a fake server that takes its time, `proctor view` serves the store as a process
of its own, and each reader does what the page of a run in progress does: it opens the page, and
asks for the numbers every two seconds, as a browser behind a proxy that opens a connection for each
request. Runs alternate; what counts is the run's own processor time, and its duration.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measured import alone, offer_json, reporting

from proctor.testing import FakeServer, Fault, Rule

EVERY = 2.0
"""Seconds between two requests of a page of a run in progress."""
READERS = 5


def write_suite(path: Path, cases: int) -> None:
    """Write a suite of questions, each with a word that the answer repeats."""
    listed = [
        {"id": f"c{number:05}", "ask": f"Say word{number}.", "criteria": f"word{number}"}
        for number in range(cases)
    ]
    path.write_text(json.dumps({"cases": listed}))


@contextmanager
def served(store: Path) -> Iterator[str]:
    """Serve a store as `proctor view` does."""
    program = [sys.executable, "-m", "proctor.cli.main", "view", "--port", "0"]
    server = subprocess.Popen([*program, "--store", str(store)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip().rstrip("/")
    finally:
        server.terminate()
        server.wait()


def read(base: str, name: str, stopped: threading.Event, seen: list[float]) -> None:
    """Do what the page of a run does, until the run is over."""
    while not stopped.wait(0.2):
        with urllib.request.urlopen(f"{base}/runs/{name}.json?size=1", timeout=60) as answer:
            if json.load(answer)["run"]["status"] == "running":
                break
    while not stopped.is_set():
        begin = time.perf_counter()
        with urllib.request.urlopen(f"{base}/runs/{name}/live", timeout=60) as answer:
            answer.read()
        seen.append(time.perf_counter() - begin)
        stopped.wait(EVERY)


def one_run(folder: Path, url: str, number: int, readers: int) -> tuple[float, float, list[float]]:
    """Run once; return its processor time, its duration, and how long answers to readers took."""
    store, name = folder / f"{number}.db", f"run-{number}"
    make = "from proctor.store.store import Store; import sys; Store.open(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", make, str(store)], check=True)
    command = [sys.executable, "-m", "proctor.cli.main", "run", str(folder / "suite.yaml")]
    command += ["--model", f"openai:any@{url}", "--store", str(store), "--name", name]
    stopped, seen = threading.Event(), list[float]()
    with served(store) as base:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        process = subprocess.Popen([*command, "--concurrency", "8"], stdout=subprocess.DEVNULL)
        threads = [
            threading.Thread(target=_quietly, args=(base, name, stopped, seen))
            for _ in range(readers)
        ]
        for thread in threads:
            thread.start()
        process.wait()
        took = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        stopped.set()
        for thread in threads:
            thread.join()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, took, seen


def _quietly(base: str, name: str, stopped: threading.Event, seen: list[float]) -> None:
    """Read until the end; a run that is not there yet is asked for again."""
    while not stopped.is_set():
        try:
            read(base, name, stopped, seen)
        except urllib.error.HTTPError:
            stopped.wait(0.2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    offer_json(parser)
    options = parser.parse_args()
    used: dict[int, list[float]] = {0: [], READERS: []}
    took: dict[int, list[float]] = {0: [], READERS: []}
    answers: list[float] = []
    slow = Rule(fault=Fault("late", seconds=0.05))
    with (
        reporting(options.json) as rows,
        tempfile.TemporaryDirectory() as place,
        FakeServer(rules=[slow]) as server,
    ):
        folder = Path(place)
        write_suite(folder / "suite.yaml", options.cases)
        os.environ["OPENAI_API_KEY"] = "none"
        for number in range(2 * options.rounds):
            readers = READERS if number % 2 else 0
            processor, seconds, seen = one_run(folder, server.url, number, readers)
            used[readers].append(processor)
            took[readers].append(seconds)
            answers += seen
            print(f"{readers} readers: {processor:.2f} s of processor time, {seconds:.1f} s")
        for readers in (0, READERS):
            span = f"from {min(used[readers]):.2f} to {max(used[readers]):.2f}"
            note = f"run of {options.cases} cases; median of {options.rounds}; {span}"
            median = statistics.median(used[readers])
            rows.append(alone(f"a run with {readers} readers, processor time", median, "s", note))
            seconds = statistics.median(took[readers])
            rows.append(alone(f"a run with {readers} readers, duration", seconds, "s", note))
        if answers:
            middle = 1000 * statistics.median(answers)
            print(f"{len(answers)} answers to readers, median {middle:.0f} ms")
        else:
            print("the runs were over before anybody read them: take more cases")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
