"""A suite of programs, some of which only wait until their time is over: how long all take.

The cores should never wait for a program that does nothing, and no such program is run twice. So
the whole command is compared with 1.25 times its processor time divided by the cores, and the time
limit of one program on top. A control group counts that time; where none can be made, it is that of
the whole machine, which then should be idle otherwise.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measured import Row, less, offer_json, reporting

from proctor.io.concurrency import available_cores

COMPUTES = "def f(n):\n    return sum(i * i % 7 for i in range(n * 100_000))\n"
WAITS = "def f(n):\n    import time\n    time.sleep(600)\n"


def write(folder: Path, computing: int, waiting: int, limit: float) -> None:
    """Write a suite of programs, each another one, and the answers to it."""
    programs = list(enumerate([COMPUTES] * computing + [WAITS] * waiting))
    # Those that wait come first, in between, and last.
    count = len(programs)
    programs.sort(key=lambda one: (one[0] * 7 + 1) % count)
    with (folder / "suite.jsonl").open("w") as suite, (folder / "answers.jsonl").open("w") as file:
        for number, text in programs:
            test = {"content": f"assert f({5 + number % 5}) >= {-number}", "timeout": limit}
            criteria = {"unit_tests": {"lang": "python", "tests": [test]}}
            case = {"id": f"c{number}", "ask": "Write f.", "criteria": criteria}
            suite.write(json.dumps(case) + "\n")
            answer = f"```python\n{text}# {number}\n```"
            file.write(json.dumps({"case": f"c{number}", "output": answer}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--computing", type=int, default=120)
    parser.add_argument("--waiting", type=int, default=12)
    parser.add_argument("--limit", type=float, default=8.0)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.append(measure(options.computing, options.waiting, options.limit))


@contextmanager
def counted() -> Iterator[tuple[Callable[[], None], Callable[[], float]]]:
    """Give what puts a process where its time is counted, and what tells the seconds so far.

    What programs in namespaces of their own have used, nobody is told who waits for them.
    """
    group = Path("/sys/fs/cgroup/cpuacct", f"proctor-bench-{os.getpid()}")
    try:
        group.mkdir()
    except OSError:
        yield lambda: None, of_machine
        return
    try:
        yield (
            lambda: Path(group, "cgroup.procs").write_text("0") and None,
            lambda: int(Path(group, "cpuacct.usage").read_text()) / 1e9,
        )
    finally:
        group.rmdir()


def of_machine() -> float:
    """Return the processor time that the whole machine has used."""
    parts = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(parts[at]) for at in (0, 1, 2)) / os.sysconf("SC_CLK_TCK")


def measure(computing: int, waiting: int, limit: float) -> Row:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, computing, waiting, limit)
        program = str(Path(sys.executable).with_name("proctor"))
        command = [program, "run", "suite.jsonl", "--answers", "answers.jsonl", "--json"]
        with counted() as (join, used), (folder / "out.json").open("w") as out:
            started, before = time.perf_counter(), used()
            subprocess.run(
                [*command, "--cases"], cwd=folder, stdout=out, preexec_fn=join, check=True
            )
            seconds, cpu = time.perf_counter() - started, used() - before
        report = json.loads((folder / "out.json").read_text())
    tests = [case["attempts"][0]["scores"][0]["detail"]["tests"][0] for case in report["cases"]]
    stopped = sum(test["stopped"] == "time" for test in tests)
    again = sum(test["retried"] for test in tests)
    cores = available_cores()
    bound = 1.25 * cpu / cores + limit
    print(f"{computing} programs that compute, {waiting} that wait {limit:g} s, {cores} cores")
    print(f"{seconds:.1f} s with {cpu:.1f} s of CPU; {stopped} stopped for time, {again} run twice")
    what = f"a suite of {computing + waiting} programs, {waiting} of which only wait"
    note = f"{cpu:.0f} s of CPU, {cores} cores, {again} programs run twice"
    return less(what, seconds, bound, "s", "1.25 × CPU ÷ cores + limit", note)


if __name__ == "__main__":
    main()
