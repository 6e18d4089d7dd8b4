"""The same job on one core and on all of this machine: how many times as fast, and the driver.

Two jobs, each by a whole command into a new store: answers from Parquet through keywords and
ROUGE-L (plain worker processes over parts), and answers that are programs, in the sandbox, against
unit tests. One core means that the command and all it starts are bound to it. The driver is the
process of the command itself; its processor time is compared with that of all processes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import million_rows
from measured import Row, alone, more, offer_json, reporting
from program_suites import counted

from proctor.io.concurrency import available_cores

BASE = 50_000
"""How many rows are written one by one; more are these again, with ids of their own."""
ANSWER = "def f(n):\n    return sum(i * i % 7 for i in range(n * {}))\n# {}\n"
LAUNCHER = """
import atexit, resource, sys
from pathlib import Path
from proctor.cli.main import main

def note():
    used = resource.getrusage(resource.RUSAGE_SELF)
    Path(told).write_text(str(used.ru_utime + used.ru_stime))

told = sys.argv.pop(1)
atexit.register(note)
main()
"""


def write_texts(folder: Path, rows: int) -> list[str]:
    """Write a suite and answers, and return what the command is told of them."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    few = SimpleNamespace(rows=min(rows, BASE), words=40, form="parquet")
    (folder / "few").mkdir()
    for path, column in zip(million_rows.write(folder / "few", few), ("id", "case"), strict=True):
        table = pq.read_table(path)
        place = table.schema.get_field_index(column)
        with pq.ParquetWriter(folder / path.name, table.schema) as file:
            for copy in range(-(-rows // few.rows)):
                names = pc.binary_join_element_wise(table[column], pa.scalar(str(copy)), "-")
                made = table.set_column(place, table.schema.field(column), names)
                file.write_table(made, row_group_size=million_rows.SPAN)
    return ["suite.parquet", "--answers", "answers.parquet"]


def write_programs(folder: Path, count: int, steps: int) -> list[str]:
    """Write a suite of unit tests, and answers none of which is like another."""
    with (folder / "tests.jsonl").open("w") as suite, (folder / "programs.jsonl").open("w") as file:
        for number in range(count):
            test = {"content": f"assert f({5 + number % 5}) >= {-number}"}
            criteria = {"unit_tests": {"lang": "python", "tests": [test]}}
            case = {"id": f"c{number}", "ask": "Write f.", "criteria": criteria}
            suite.write(json.dumps(case) + "\n")
            answer = f"```python\n{ANSWER.format(steps // 7, number)}```"
            file.write(json.dumps({"case": f"c{number}", "output": answer}) + "\n")
    return ["tests.jsonl", "--answers", "programs.jsonl"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--programs", type=int, default=2_000)
    parser.add_argument(
        "--steps", type=int, nargs="+", default=[140_000, 1_400_000], help="of a program, about"
    )
    parser.add_argument("--rounds", type=int, default=1, help="medians of so many runs, in turns")
    parser.add_argument("--sandbox", help="another than bubblewrap")
    offer_json(parser)
    options = parser.parse_args()
    sandbox = ["--sandbox", options.sandbox] if options.sandbox else []
    with reporting(options.json) as found, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.rows:
            told = write_texts(folder, options.rows)
            found.extend(compare(f"{options.rows:,} answers as text", folder, told, options.rounds))
        for steps in options.steps if options.programs else ():
            told = [*write_programs(folder, options.programs, steps), *sandbox]
            what = f"{options.programs:,} programs of {steps:,} steps"
            found.extend(compare(what, folder, told, options.rounds))


def compare(what: str, folder: Path, told: Sequence[str], rounds: int) -> list[Row]:
    """Run one job on one core and on all, in turns."""
    cores = sorted(os.sched_getaffinity(0))
    took: dict[int, list[tuple[float, float, float]]] = {1: [], len(cores): []}
    totals = set()
    for _ in range(rounds):
        for size, found in took.items():
            taken, rate = run(folder, told, cores[:size])
            found.append(taken)
            totals.add(rate)
            print(f"{what}, {size} core(s): %.1f s, CPU %.1f s, driver %.2f s" % taken, flush=True)
    if len(totals) != 1:
        sys.exit(f"the totals differ: {totals}")
    slow, fast = (median(one[0] for one in found) for found in took.values())
    share = median(100 * driver / cpu for _, cpu, driver in took[len(cores)])
    print(f"{what}: {slow / fast:.1f} times one core; the driver has {share:.1f} % of all CPU")
    return [
        more(what, 1 / fast, 1 / slow, "runs/s", "one core", f"{available_cores()} cores"),
        alone(f"{what}, the driver", share, "% of all CPU"),
    ]


def run(
    folder: Path, told: Sequence[str], cores: Sequence[int]
) -> tuple[tuple[float, float, float], str]:
    """Return seconds, processor time of all and of the driver, and the totals."""
    note = folder / "driver"
    command = [sys.executable, "-c", LAUNCHER, str(note), "run", *told, "--json"]
    with tempfile.TemporaryDirectory(dir=folder) as place, counted() as (join, used):
        command += ["--store", str(Path(place, "store.db"))]

        def bind() -> None:
            join()
            os.sched_setaffinity(0, cores)

        begun, before = time.perf_counter(), used()
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, preexec_fn=bind, check=True
        )
        seconds, cpu = time.perf_counter() - begun, used() - before
    totals = json.dumps(json.loads(done.stdout)["totals"], sort_keys=True)
    return (seconds, cpu, float(note.read_text())), totals


if __name__ == "__main__":
    main()
