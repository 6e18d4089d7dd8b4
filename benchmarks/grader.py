"""`Grader` and `proctor serve`: programs a second, latencies, and text scores.

Programs: the small tests of sandboxed_tests.py as cases of a suite, scored by a Grader in this
process and by `proctor serve`, against the bare sandbox in the same run, in turns; the ratio is
Proctor's share of the bare rate. Latencies: so many single requests are in flight all the time, one
of them an endless program; the figure is p99 by p50. Texts: ROUGE-L of 40 words, against a plain
loop over rouge-score on a part of them.
"""

import argparse
import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import sandboxed_tests
from measured import Row, alone, more, offer_json, reporting

from proctor import Grader
from proctor.io import concurrency
from proctor.sandboxes.bubblewrap import Bubblewrap

ENDLESS = "def shifted(values, by):\n    while True:\n        pass\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--in-flight", type=int, default=512)
    parser.add_argument("--singles", type=int, default=2048)
    parser.add_argument("--texts", type=int, default=100_000)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows, tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "programs.jsonl"
        write_programs(suite, options.programs)
        rows.extend(asyncio.run(programs(suite, options.rounds, options.programs)))
        rows.append(asyncio.run(latencies(suite, options.in_flight, options.singles)))
        rows.append(texts(Path(folder), options.texts))


def write_programs(path: Path, count: int) -> None:
    """Write the tests of sandboxed_tests.py as a suite, with and without isolation."""
    lines = []
    for number in range(count):
        test = {"content": sandboxed_tests.assertion(number), "timeout": 5}
        for name, isolate in (("apart", True), ("together", False)):
            tests = {"tests": [{**test, "isolate": isolate}], "imports": False}
            case = {"id": f"{name}-{number}", "ask": "Write it.", "criteria": {"unit_tests": tests}}
            lines.append(json.dumps(case))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


async def programs(suite: Path, rounds: int, count: int) -> list[Row]:
    """Compare the rates of the bare sandbox, of a Grader and of a server, in turns."""
    sandbox, limit = Bubblewrap(), 2 * concurrency.available_cores()

    async def together(number: int) -> None:
        await sandboxed_tests.sandboxed(sandbox, number)

    async def apart(number: int) -> None:
        await sandboxed_tests.isolated(sandbox, number)

    bare = {"apart": apart, "together": together}
    rates: dict[str, list[tuple[float, float, float]]] = {name: [] for name in bare}
    with server(suite) as base, Grader(suite) as grader:
        for number in range(rounds + 1):
            for name, work in bare.items():
                pairs = [(f"{name}-{i}", sandboxed_tests.ANSWER) for i in range(count)]
                plain = await sandboxed_tests.rate(work, count, limit)
                here = await in_process(grader, pairs)
                there = await by_http(base, pairs)
                if number:  # the first one warms up
                    rates[name].append((plain, here, there))
    await sandbox.close()
    rows = []
    words = {"apart": "small Python unit tests, isolated", "together": "small Python unit tests"}
    for name, made in rates.items():
        plain, here, there = (statistics.median(one[side] for one in made) for side in range(3))
        shares = [statistics.median(one[side] / one[0] for one in made) for side in (1, 2)]
        print(f"{words[name]}: {plain:,.0f} programs/s in the bare sandbox")
        print(f"  a Grader in process: {here:,.0f}/s, {shares[0]:.2f} of it")
        print(f"  proctor serve:       {there:,.0f}/s, {shares[1]:.2f} of it")
        for way, rate, share in (("Grader", here, shares[0]), ("serve", there, shares[1])):
            row = more(f"{way}: {words[name]}", rate, rate / share, "programs/s", "bare sandbox")
            rows.append(row)
    return rows


async def in_process(grader: Grader, pairs: list[tuple[str, str]]) -> float:
    started = time.perf_counter()
    for result in await grader.ascore(pairs):
        assert result.value == 1, result.why
    return len(pairs) / (time.perf_counter() - started)


async def by_http(base: str, pairs: list[tuple[str, str]]) -> float:
    import aiohttp

    body = {"outputs": [{"case": case, "output": output} for case, output in pairs]}
    started, count = time.perf_counter(), 0
    async with (
        aiohttp.ClientSession(headers=AUTHORIZED) as session,
        session.post(f"{base}/score", json=body) as response,
    ):
        assert response.status == 200, await response.text()
        async for line in response.content:
            assert json.loads(line)["value"] == 1, line
            count += 1
    assert count == len(pairs)
    return count / (time.perf_counter() - started)


async def latencies(suite: Path, in_flight: int, count: int) -> Row:
    """Measure how long single requests take while so many are in flight, one of them endless."""
    import aiohttp

    times: list[float] = []
    number_of_cases = sum(1 for _ in suite.open()) // 2

    with server(suite) as base:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(headers=AUTHORIZED, connector=connector) as session:

            async def single(number: int) -> None:
                endless = number == in_flight // 2
                output = ENDLESS if endless else f"# {number}\n{sandboxed_tests.ANSWER}"
                case = f"apart-{number % number_of_cases}"
                started = time.perf_counter()
                async with session.post(
                    f"{base}/score", json={"case": case, "output": output}
                ) as response:
                    result = await response.json()
                    assert result["value"] == (0 if endless else 1), result
                if not endless:
                    times.append(time.perf_counter() - started)

            await each(range(count, count + in_flight // 4), single, 8)
            times.clear()
            await each(range(count), single, in_flight)
    times.sort()
    middle, late = times[len(times) // 2], times[int(len(times) * 0.99)]
    print(f"{in_flight} single requests in flight, one of them endless: p50 {middle:.2f} s,")
    print(f"  p99 {late:.2f} s ({late / middle:.2f} times), the longest {times[-1]:.2f} s")
    note = f"p50 {middle:.2f} s, p99 {late:.2f} s, one program endless"
    return alone(f"serve: {in_flight} single requests in flight", late / middle, "p99/p50", note)


async def each(numbers: range, work: Any, limit: int) -> None:
    async for _ in concurrency.map_unordered(numbers, work, limit=limit):
        pass


def texts(folder: Path, count: int) -> Row:
    """Compare text scores of a Grader with a plain loop over rouge-score."""
    from rouge_score.rouge_scorer import RougeScorer

    random = Random(3)
    words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9))) for _ in range(5000)]
    cases, pairs, references = [], [], []
    for number in range(1000):
        reference = random.choices(words, k=40)
        references.append(" ".join(reference))
        cases.append({"id": str(number), "ask": "?", "reference": references[-1],
                      "criteria": {"rouge": {"metric": "rougeL"}}})  # fmt: skip
    for number in range(count):
        case = number % 1000
        kept = references[case].split()
        output = [word if random.random() < 0.6 else random.choice(words) for word in kept]
        pairs.append((str(case), " ".join(output)))
    path = folder / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)) + "\n", encoding="utf-8")
    with Grader(path) as grader:
        grader.score(pairs[:2000])
        started = time.perf_counter()
        results = grader.score(pairs)
        ours = count / (time.perf_counter() - started)
    scorer, part = RougeScorer(["rougeL"], use_stemmer=False), min(count, 4000)
    started = time.perf_counter()
    theirs_made = [scorer.score(references[int(case)], text) for case, text in pairs[:part]]
    theirs = part / (time.perf_counter() - started)
    for result, made in zip(results, theirs_made, strict=False):
        assert abs((result.value or 0) - made["rougeL"].fmeasure) < 1e-9
    print(f"{count:,} text scores: {ours:,.0f}/s, a plain loop over rouge-score {theirs:,.0f}/s")
    return more(f"Grader: {count:,} ROUGE-L scores", ours, theirs, "outputs/s", "rouge-score loop")


TOKEN = secrets.token_urlsafe(24)
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


@contextmanager
def server(suite: Path) -> Iterator[str]:
    """Serve a suite within the block."""
    command = [sys.executable, "-m", "proctor", "serve", str(suite), "--port", "0", "--json"]
    environment = {**os.environ, "PROCTOR_SERVE_TOKEN": TOKEN}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    main()
