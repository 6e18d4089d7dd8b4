"""Single-turn cases through a model server: proctor run next to a bare aiohttp loop.

The server is a process of its own that answers after 50 ms. Both sides ask the same questions, 64
at a time, in turns, so that a noisy machine hurts both alike; what counts is the ratio. The rate
of both is taken from the server's own log: calls between the first that came and the last that
was answered. Proctor stores every call before it uses it, every attempt, and every score.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


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


def measure(command: list[str], folder: Path, server: Server, count: int) -> Taken:
    since = server.log.stat().st_size
    started = time.perf_counter()
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
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


def shown(name: str, taken: list[Taken], count: int) -> None:
    rate, seconds, cpu, memory = (
        statistics.median(getattr(one, part) for one in taken)
        for part in ("rate", "seconds", "cpu", "memory")
    )
    print(
        f"{name:<24}{rate:7.0f} calls/s  {seconds:6.1f} s in all"
        f"  {1000 * cpu / count:5.2f} ms CPU a call  {memory:5.0f} MB at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    count, limit = options.cases, options.in_flight
    if options.bare:
        asyncio.run(bare(f"{options.bare}/chat/completions", count, limit))
        return
    plain, ours = [], []
    with (
        tempfile.TemporaryDirectory() as made,
        serving(folder := Path(made), options.latency) as server,
    ):
        mine = [sys.executable, str(Path(__file__).resolve()), "--bare", server.url]
        mine += ["--cases", str(count), "--in-flight", str(limit)]
        for _ in range(options.rounds):
            plain.append(measure(mine, folder, server, count))
            ours.append(examine(folder, server, count, limit))
        few = examine(folder, server, count // 5, limit)
    print(f"{count} cases, {limit} in flight, replies after {options.latency:g} s", end="")
    print(f" (so at most {limit / options.latency:.0f} calls/s), {options.rounds} rounds, medians")
    shown("bare aiohttp loop:", plain, count)
    shown("proctor run:", ours, count)
    ratio = statistics.median(a.rate / b.rate for a, b in zip(ours, plain, strict=True))
    whole = statistics.median(b.seconds / a.seconds for a, b in zip(ours, plain, strict=True))
    print(f"ratio while collecting:  {ratio:7.2f}")
    print(f"ratio of whole commands: {whole:7.2f}   (start, grading and report included)")
    most = statistics.median(one.memory for one in ours)
    print(
        f"most memory:             {few.memory:7.0f} MB with {count // 5} cases,"
        f" {most:.0f} MB with {count} ({most / few.memory:.2f} times)"
    )


if __name__ == "__main__":
    main()
