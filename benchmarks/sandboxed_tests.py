"""Small Python tests: how many a second, sandboxed, next to one plain interpreter process each.

Both sides run the same programs on the same cores in one run, in turns, so that a noisy machine
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

from proctor import bounded
from proctor.core.program import Program
from proctor.sandboxes.bubblewrap import Bubblewrap


def program(number: int) -> str:
    return (
        "def shifted(values, by):\n    return [value + by for value in values]\n\n"
        f"assert shifted([1, 2, 3], {number}) == [{1 + number}, {2 + number}, {3 + number}]\n"
    )


async def sandboxed(sandbox: Bubblewrap, number: int) -> None:
    ran = await sandbox.run_python(Program(steps=(), files={"main.py": program(number).encode()}))
    assert ran is not None, sandbox
    assert ran.proved, ran


async def plain(number: int) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program(number))
    assert await process.wait() == 0


async def rate(work: Callable[[int], Awaitable[None]], count: int, limit: int) -> float:
    started = time.perf_counter()
    async for _ in bounded.each(range(count), work, limit=limit):
        pass
    return count / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", type=int, default=200)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.append(asyncio.run(compare(options.rounds, options.programs)))


async def compare(rounds: int, programs: int) -> Row:
    cores = bounded.available_cores()
    sandbox = Bubblewrap()

    async def ours(number: int) -> None:
        await sandboxed(sandbox, number)

    try:
        await rate(ours, 4 * cores, 2 * cores)
        pairs = []
        for _ in range(rounds):
            inside = await rate(ours, programs, 2 * cores)
            outside = await rate(plain, max(1, programs // 2), 2 * cores)
            pairs.append((inside, outside))
    finally:
        await sandbox.close()
    inside, outside = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"{cores} cores, {rounds} rounds, medians")
    print(f"sandboxed, warm interpreter:  {inside:7.0f} programs/s")
    print(f"plain interpreter processes:  {outside:7.0f} programs/s")
    print(f"ratio:                        {ratio:7.1f}x")
    note = "ours in the sandbox, theirs without"
    peer = "a plain python process each"
    row = more("small Python unit tests", inside, outside, "programs/s", peer, note)
    return replace(row, ratio=ratio)


if __name__ == "__main__":
    main()
