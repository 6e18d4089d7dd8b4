"""Warm interpreters: each program is told its own job alone, and none spoils the next."""

import asyncio
import os

import pytest

from proctor.core.program import Limits, Program, Ran
from proctor.sandboxes.bubblewrap import Bubblewrap

pytestmark = pytest.mark.skipif(
    bool(list(Bubblewrap().problems())), reason="bubblewrap does not work here"
)
SCAN = """
import gc
gc.unfreeze()
backwards = {backwards!r}  # the mark itself must not lie here
found = []
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for row in maps:
        span, rights = row.split()[:2]
        if not rights.startswith("rw"):
            continue
        start, end = (int(part, 16) for part in span.split("-"))
        for place in range(start, end, 1 << 20):
            memory.seek(place)
            try:
                data = memory.read(min(1 << 20, end - place))
            except OSError:
                break
            if backwards in data[::-1]:
                found.append(row)
print("FOUND" if found else "nothing", found)
"""


def run_all(*texts: str, sandbox: Bubblewrap | None = None) -> list[Ran]:
    """Run texts one after the other in one warm interpreter."""

    async def work() -> list[Ran]:
        made = sandbox or Bubblewrap()
        try:
            rans = [await made.run_python(program(text)) for text in texts]
            assert None not in rans, made._warm.broken
            return [ran for ran in rans if ran is not None]
        finally:
            await made.close()

    return asyncio.run(work())


def program(text: str, files: dict[str, bytes] | None = None) -> Program:
    return Program(
        steps=(), files={"main.py": text.encode(), **(files or {})}, limits=Limits(wall=20)
    )


def test_nothing_of_an_earlier_program_lies_in_memory() -> None:
    mark = f"mark-{os.urandom(12).hex()}"
    scan = SCAN.format(backwards=bytes(reversed(mark.encode())))
    first = f"secret = {mark!r}\nprint(secret)\nassert False, secret"
    *_, scanned = run_all(first, first, scan)
    assert scanned.stdout.startswith("nothing"), scanned


def test_the_scan_finds_what_is_there() -> None:
    mark = f"mark-{os.urandom(12).hex()}"
    scan = SCAN.format(backwards=bytes(reversed(mark.encode())))
    (scanned,) = run_all(f"mine = {mark!r}\n{scan}")
    assert scanned.stdout.startswith("FOUND"), scanned
