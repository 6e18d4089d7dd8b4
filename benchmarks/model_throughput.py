"""Single-turn cases through a model server: proctor run, a bare aiohttp loop, and Inspect.

The server is a process of its own that answers after 50 ms. All sides ask the same questions, 64
at a time, in turns, so that a noisy machine hurts all alike; what counts is the ratio. The rate
is taken from the server's own log: calls between the first that came and the last that was
answered. Proctor stores every call before it uses it, every attempt, and every score. Inspect is
asked for the same: one message, one reply, is the number in it; its log is written as it is by
default, and once more without the events that its viewer shows while it runs; its bounds are set
to the same 64, its display is off. It is given fewer cases, and left out where it is not installed.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import peers
from measured import Row, alone, less, more, offer_json, reporting

OURS, BARE = "proctor run", "bare aiohttp loop"
INSPECT, QUIET = "inspect eval", "inspect eval, no live log"
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def numbers():
    return Task(dataset=json_dataset("inspect.jsonl"), solver=generate(), scorer=includes())
"""


@dataclass(frozen=True)
class Taken:
    """Hold what one side took for all cases."""

    rate: float
    """Calls a second, as the server saw them."""
    seconds: float
    """The whole command, from start to end."""
    cpu: float
    memory: float
    """Most megabytes at any time."""


@dataclass(frozen=True)
class Server:
    url: str
    log: Path

    def window(self, since: int) -> tuple[int, float]:
        """Return how many calls were logged since a place in the log, and how long they took."""
        with self.log.open("rb") as file:
            file.seek(since)
            calls = [json.loads(line) for line in file]
        began, ended = min(c["began"] for c in calls), max(c["ended"] for c in calls)
        return len(calls), ended - began


Sides = dict[str, Callable[[], Taken]]


def question(number: int) -> str:
    return f"Say the number {number}. " + "There are some more words in every question. " * 6


async def bare(url: str, count: int, limit: int) -> None:
    import aiohttp
    import orjson

    numbers = iter(range(count))
    headers = {"content-type": "application/json"}

    async def worker(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            asked = {"model": "fake", "messages": [{"role": "user", "content": question(number)}]}
            async with session.post(url, data=orjson.dumps(asked), headers=headers) as response:
                said = orjson.loads(await response.read())
                assert str(number) in said["choices"][0]["message"]["content"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=limit)) as session:
        running = [asyncio.ensure_future(worker(session)) for _ in range(limit)]
        done, _ = await asyncio.wait(running)
        for future in done:
            future.result()


@contextmanager
def serving(folder: Path, latency: float) -> Iterator[Server]:
    log = folder / "calls.jsonl"
    command = [sys.executable, "-m", "proctor.testing", "--latency", str(latency), "--log"]
    with subprocess.Popen([*command, str(log)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(json.loads(process.stdout.readline())["url"], log)
        finally:
            process.terminate()


def measure(
    command: list[str],
    folder: Path,
    server: Server,
    count: int,
    env: Mapping[str, str] | None = None,
) -> Taken:
    """Run a command that asks every question once."""
    since = server.log.stat().st_size
    started = time.perf_counter()
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=output, env={**os.environ, **(env or {})}
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    assert process.returncode == 0, (folder / "output").read_text()[-2000:]
    calls, took = server.window(since)
    assert calls == count, calls
    cpu = used.ru_utime + used.ru_stime
    return Taken(rate=count / took, seconds=seconds, cpu=cpu, memory=used.ru_maxrss / 1024)


def write_suite(path: Path, count: int) -> None:
    rows = (
        {"id": f"case-{n}", "ask": question(n), "criteria": {"contains": str(n)}}
        for n in range(count)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def examine(folder: Path, server: Server, count: int, limit: int) -> Taken:
    """Let ``proctor run`` ask every question, with a store of its own."""
    for old in folder.glob("throughput.db*"):
        old.unlink()
    write_suite(folder / "suite.jsonl", count)
    command = [sys.executable, "-m", "proctor.cli.main", "run", "suite.jsonl", "--json"]
    command += ["--model", f"openai:fake@{server.url}", "--store", "throughput.db"]
    taken = measure([*command, "--concurrency", str(limit)], folder, server, count)
    totals = json.loads(_last_object((folder / "output").read_text()))["totals"]
    assert totals["rate"] == 1.0, totals
    return taken


def _last_object(text: str) -> str:
    """Return the JSON at the end of a command's output, behind what it said meanwhile."""
    return text[text.index("{\n") :] if not text.startswith("{") else text


def inspect(
    peer: peers.Peer, folder: Path, server: Server, count: int, limit: int, *more_options: str
) -> Taken:
    """Let ``inspect eval`` ask every question, and write its log."""
    shutil.rmtree(folder / "logs", ignore_errors=True)
    samples = ({"id": n, "input": question(n), "target": str(n)} for n in range(count))
    (folder / "inspect.jsonl").write_text("".join(json.dumps(s) + "\n" for s in samples))
    (folder / "numbers_task.py").write_text(TASK)
    command = [str(peer.bin / peer.program), "eval", "numbers_task.py", "--display", "none"]
    command += ["--model", "openai-api/local/fake", "--log-dir", "logs"]
    command += ["--max-connections", str(limit), "--max-samples", str(limit), *more_options]
    env = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": server.url}
    taken = measure(command, folder, server, count, env)
    dump = [str(peer.bin / peer.program), "log", "dump", "--header-only"]
    (log,) = (folder / "logs").glob("*.eval")
    found = subprocess.run([*dump, str(log)], capture_output=True, text=True, check=True)
    scores = json.loads(found.stdout)["results"]["scores"]
    assert scores[0]["metrics"]["accuracy"]["value"] == 1.0, scores
    return taken


def shown(name: str, taken: list[Taken], count: int) -> None:
    rate, seconds, cpu, memory = (
        middle(taken, part) for part in ("rate", "seconds", "cpu", "memory")
    )
    print(
        f"{name:<24}{rate:7.0f} calls/s  {seconds:6.1f} s in all"
        f"  {1000 * cpu / count:5.2f} ms CPU a call  {memory:5.0f} MB at most"
    )


def middle(taken: list[Taken], part: str) -> float:
    return float(statistics.median(getattr(one, part) for one in taken))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--inspect-cases", type=int, default=600)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", metavar="URL", help=argparse.SUPPRESS)
    offer_json(parser)
    options = parser.parse_args()
    if options.bare:
        url = f"{options.bare}/chat/completions"
        asyncio.run(bare(url, options.cases, options.in_flight))
        return
    with reporting(options.json) as rows:
        rows.extend(compare(options))


def compare(options: argparse.Namespace) -> list[Row]:
    with (
        tempfile.TemporaryDirectory() as made,
        serving(Path(made), options.latency) as server,
    ):
        rows = with_loop(Path(made), server, options)
        if peer := peers.installed("inspect-ai"):
            rows += with_inspect(peer, Path(made), server, options)
        else:
            print("inspect is not installed (python benchmarks/peers.py inspect-ai)")
    return rows


def with_loop(folder: Path, server: Server, options: argparse.Namespace) -> list[Row]:
    count, limit = options.cases, options.in_flight
    mine = [sys.executable, str(Path(__file__).resolve()), "--bare", server.url]
    mine += ["--cases", str(count), "--in-flight", str(limit)]
    sides: Sides = {
        BARE: lambda: measure(mine, folder, server, count),
        OURS: lambda: examine(folder, server, count, limit),
    }
    rows = in_turns(sides, count, options)
    few, many = (examine(folder, server, n, limit).memory for n in (max(count // 5, 1), count))
    share = many / few
    print(
        f"most memory: {few:.0f} MB with a fifth of the cases, {many:.0f} MB with all: {share:.2f}x"
    )
    what, note = f"memory of a run, {count:,} cases", f"{share:.2f} times that of a fifth of them"
    return [*rows, alone(what, many, "MB", note)]


def with_inspect(
    peer: peers.Peer, folder: Path, server: Server, options: argparse.Namespace
) -> list[Row]:
    """Compare with Inspect, as it is and without what its viewer needs while it runs."""
    count, limit = options.inspect_cases, options.in_flight
    inspect(peer, folder, server, min(count, limit), limit)
    sides: Sides = {
        OURS: lambda: examine(folder, server, count, limit),
        INSPECT: lambda: inspect(peer, folder, server, count, limit),
        QUIET: lambda: inspect(peer, folder, server, count, limit, "--no-log-realtime"),
    }
    return in_turns(sides, count, options)


def in_turns(sides: Sides, count: int, options: argparse.Namespace) -> list[Row]:
    taken: dict[str, list[Taken]] = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, side in sides.items():
            taken[name].append(side())
    print(
        f"{count} cases, {options.in_flight} in flight, replies after {options.latency:g} s", end=""
    )
    print(f" (so at most {options.in_flight / options.latency:.0f} calls/s)", end="")
    print(f", {options.rounds} rounds, medians")
    for name, each in taken.items():
        shown(f"{name}:", each, count)
    return [row for name in sides if name != OURS for row in ratios(taken, name, count)]


def ratios(taken: dict[str, list[Taken]], name: str, count: int) -> list[Row]:
    """Set our side beside another, and print how they stand."""
    pairs = list(zip(taken[OURS], taken[name], strict=True))
    rate = statistics.median(ours.rate / theirs.rate for ours, theirs in pairs)
    whole = statistics.median(theirs.seconds / ours.seconds for ours, theirs in pairs)
    cpu_ratio = statistics.median(ours.cpu / theirs.cpu for ours, theirs in pairs)
    print(f"against {name}: {rate:.2f}x while collecting, {whole:.2f}x from start to end", end="")
    print(f", {cpu_ratio:.2f} times the CPU a call")
    ours, theirs = ({part: middle(taken[side], part) for part in ("rate", "seconds", "cpu")}
                    for side in (OURS, name))  # fmt: skip
    cpu = [1000 * side["cpu"] / count for side in (ours, theirs)]
    note = f"Proctor takes {cpu_ratio:.1f} times as much; the server is not counted"
    cases = f"single turn, {count:,} cases"
    return [
        replace(
            more(f"{cases}, while collecting", ours["rate"], theirs["rate"], "calls/s", name),
            ratio=rate,
        ),
        replace(less(f"{cases}, CPU a call", *cpu, "ms", name, note), ratio=1 / cpu_ratio),
        replace(
            less(f"{cases}, whole command", ours["seconds"], theirs["seconds"], "s", name),
            ratio=whole,
        ),
    ]


if __name__ == "__main__":
    main()
