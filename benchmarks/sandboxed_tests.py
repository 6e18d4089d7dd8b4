"""Small Python tests: how many a second, sandboxed, next to one plain interpreter process each.

Once with the test in the process of the answer, and once apart from it, in another sandbox. All
sides run the same programs on the same cores in one run, in turns, so that a noisy machine
hurts both alike; what counts is the ratio.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from measured import Row, more, offer_json, reporting

from proctor.core.program import Program
from proctor.io import concurrency
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers.programs.extraction import Composed
from proctor.scorers.programs.isolation import isolation
from proctor.scorers.programs.python_test_programs import in_two_processes

ANSWER = "def shifted(values, by):\n    return [value + by for value in values]\n"


def assertion(number: int) -> str:
    return f"assert shifted([1, 2, 3], {number}) == [{1 + number}, {2 + number}, {3 + number}]"


async def sandboxed(sandbox: Bubblewrap, number: int) -> None:
    text = f"{ANSWER}\n{assertion(number)}\n"
    ran = await sandbox.run_python(Program(steps=(), files={"main.py": text.encode()}))
    assert ran is not None, sandbox
    assert ran.proved, ran


async def isolated(sandbox: Bubblewrap, number: int) -> None:
    test = assertion(number)
    composed = Composed(text=f"{ANSWER}\n{test}", test_line=ANSWER.count("\n") + 2)
    program = in_two_processes(Program(steps=()), composed, isolation(test, "", ""))
    ran = await sandbox.run_python(program)
    assert ran is not None, sandbox
    assert ran.proved, ran


async def plain(number: int) -> None:
    text = f"{ANSWER}\n{assertion(number)}\n"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", text)
    assert await process.wait() == 0


async def rate(work: Callable[[int], Awaitable[None]], count: int, limit: int) -> float:
    started = time.perf_counter()
    async for _ in concurrency.map_unordered(range(count), work, limit=limit):
        pass
    return count / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", type=int, default=200)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.extend(asyncio.run(compare(options.rounds, options.programs)))


async def compare(rounds: int, programs: int) -> list[Row]:
    cores = concurrency.available_cores()
    sandbox = Bubblewrap()

    async def together(number: int) -> None:
        await sandboxed(sandbox, number)

    async def apart(number: int) -> None:
        await isolated(sandbox, number)

    try:
        await rate(together, 4 * cores, 2 * cores)
        await rate(apart, 4 * cores, 2 * cores)
        rounds_of = []
        for _ in range(rounds):
            one = await rate(together, programs, 2 * cores)
            outside = await rate(plain, max(1, programs // 2), 2 * cores)
            two = await rate(apart, programs, 2 * cores)
            rounds_of.append((one, two, outside))
    finally:
        await sandbox.close()
    one, two, outside = (statistics.median(made[side] for made in rounds_of) for side in range(3))
    ratios = [statistics.median(made[side] / made[2] for made in rounds_of) for side in range(2)]
    print(f"{cores} cores, {rounds} rounds, medians")
    print(f"sandboxed, warm interpreter:       {one:7.0f} programs/s  {ratios[0]:5.1f}x")
    print(f"the test apart from the answer:    {two:7.0f} programs/s  {ratios[1]:5.1f}x")
    print(f"plain interpreter processes:       {outside:7.0f} programs/s")
    note = "ours in the sandbox, theirs without"
    peer = "a plain python process each"
    names = ("small Python unit tests", "small Python unit tests, isolated")
    return [
        replace(more(name, rate_of, outside, "programs/s", peer, note), ratio=ratio)
        for name, rate_of, ratio in zip(names, (one, two), ratios, strict=True)
    ]


if __name__ == "__main__":
    main()
