"""Second tries in real sandboxes: for programs that others kept from the processors alone."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from needs import IMAGE
from proctor.contracts.sandbox import Sandbox
from proctor.core.program import Limits, Program, Ran, Step, Stopped
from proctor.engine.run.sandbox_cache import SharedSandbox
from proctor.io.concurrency import available_cores
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.sandboxes.container import Container
from proctor.sandboxes.plain_process import PlainProcess

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(600)"
CHILD = "import subprocess; subprocess.run(['sleep', '600'])"
HOARD = "import os, time\nfor _ in range(3): os.fork()\nwhile True: pass"
"""Eight processes that keep each other from the processors."""


def program(text: str, wall: float) -> Program:
    limits = Limits(wall=wall, cpu=100)
    steps = (Step(argv=("python3", "-I", "-S", "main.py")),)
    return Program(steps=steps, files={"main.py": text.encode()}, limits=limits)


@contextmanager
def busy_machine(times: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    argv = [sys.executable, "-I", "-S", "-c", SPIN]
    # In a session each, as programs are: the kernel shares out the cores among sessions.
    number = times * available_cores()
    processes = [subprocess.Popen(argv, start_new_session=True) for _ in range(number)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run_all(
    inner: Sandbox, *programs: Program, warm: bool = False, limit: int = 4
) -> tuple[list[Ran], list[float], int]:
    """Run programs at once; return what became of them, when each had ended, and how many ran."""

    async def work() -> tuple[list[Ran], list[float], int]:
        shared = SharedSandbox(inner=inner, results=None, limit=limit)
        begun = time.monotonic()
        ends = [0.0] * len(programs)

        async def one(number: int) -> Ran:
            ran = await (shared.run_python if warm else shared.run)(programs[number])
            ends[number] = time.monotonic() - begun
            return ran

        try:
            rans = [asyncio.ensure_future(one(number)) for number in range(len(programs))]
            await asyncio.wait(rans)
            return [ran.result() for ran in rans], ends, shared.ran
        finally:
            await shared.close()

    return asyncio.run(work())


WAYS = [
    pytest.param(Bubblewrap, False, id="bubblewrap"),
    pytest.param(Bubblewrap, True, id="warm"),
    pytest.param(PlainProcess, False, id="process"),
    pytest.param(partial(Container, IMAGE), False, id="container", marks=pytest.mark.container),
]


@pytest.mark.parametrize(("kind", "warm"), WAYS)
def test_a_program_that_only_waits_is_not_tried_again(
    kind: Callable[[], Sandbox], warm: bool
) -> None:
    programs = [program(text, 4) for text in (SLEEP, CHILD)]
    with busy_machine(1):
        rans, _, tries = run_all(kind(), *programs, warm=warm)
    assert tries == 2
    assert [(ran.stopped, ran.starved, ran.retried) for ran in rans] == [
        (Stopped.TIME, False, False)
    ] * 2, rans


@pytest.mark.parametrize(("kind", "warm"), WAYS)
def test_one_that_was_kept_from_the_processors_has_one_second_try(
    kind: Callable[[], Sandbox], warm: bool
) -> None:
    with busy_machine(3):
        (ran,), _, tries = run_all(kind(), program(SPIN, 2), warm=warm)
    assert (ran.stopped, ran.retried, tries) == (Stopped.TIME, True, 2), ran


def test_one_that_keeps_itself_from_the_processors_buys_one_second_try_at_most() -> None:
    (ran,), _, tries = run_all(Bubblewrap(), program(HOARD, 1))
    assert ran.stopped is Stopped.TIME
    assert tries <= 2


def test_others_go_on_beside_a_second_try() -> None:
    """With a place for one, the second try of the first and all others are run in turn."""
    quick = [program(f"print({number})", 20) for number in range(3)]
    with busy_machine(3):
        rans, ends, _ = run_all(Bubblewrap(), program(SPIN, 8), *quick, limit=2)
    assert rans[0].retried
    assert all(ran.finished for ran in rans[1:]), rans
    assert max(ends[1:]) < ends[0]


def test_programs_that_wait_leave_the_processors_to_others() -> None:
    sleepers = [program(f"{SLEEP}  # {number}", 8) for number in range(8)]
    rans, ends, tries = run_all(Bubblewrap(), *sleepers, program("print(1)", 20), limit=2)
    assert [ran.stopped for ran in rans[:-1]] == [Stopped.TIME] * 8
    assert rans[-1].finished
    assert tries == 9
    # Two at a time, it would have waited for all others, and they for each other.
    assert ends[-1] < max(ends[:-1])
    assert max(ends) < 3 * min(ends[:-1])
