"""Warm interpreters: each program is told its own job alone, and none spoils the next."""

import asyncio
import os
from dataclasses import replace
from typing import Any

import pytest

from hostile.own_groups import own_groups
from proctor.core.program import MIB, Limits, Program, Ran
from proctor.sandboxes import control_groups as groups
from proctor.sandboxes import warm_python
from proctor.sandboxes.bubblewrap import Bubblewrap

pytestmark = pytest.mark.sandbox
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


SERVE = """
import socket
server = socket.socket()
server.bind(("127.0.0.1", 8123))
server.listen()
client = socket.create_connection(("127.0.0.1", 8123))
other, _ = server.accept()
other.close()  # this side has to wait, and its port with it
client.recv(1)
print("served")
"""
LOOK = """
from pathlib import Path
rows = Path("/proc/net/dev").read_text().splitlines()
print([int(part) for row in rows if "lo:" in row for part in row.split()[1:]])
print(Path("/proc/net/tcp").read_text().splitlines()[1:])
"""


def test_a_port_that_an_earlier_program_used_is_free() -> None:
    for ran in run_all(SERVE, SERVE, SERVE):
        assert (ran.stdout, ran.proved) == ("served\n", True), ran


def test_no_program_finds_a_network_that_another_has_used() -> None:
    for ran in run_all(LOOK, SERVE, LOOK)[::2]:
        assert ran.stdout == f"{[0] * 16}\n[]\n", ran


@pytest.mark.parametrize(
    "text",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('::1', 9))",
        "import socket\nsocket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('::1', 9))",
    ],
)
@pytest.mark.slow
def test_an_attempt_is_use_enough(text: str) -> None:
    *_, looked = run_all(text, LOOK)
    assert looked.stdout == f"{[0] * 16}\n[]\n", looked


def test_each_program_has_the_variables_that_it_was_given() -> None:
    text = "import os; print(os.environ.get('MINE'), os.environ['HOME'])"

    async def work() -> list[str]:
        sandbox = Bubblewrap()
        try:
            rans = [
                await sandbox.run_python(replace(program(text), env=env))
                for env in ({"MINE": "1"}, {}, {"HOME": "/tmp"})
            ]
            return [ran.stdout for ran in rans if ran is not None]
        finally:
            await sandbox.close()

    assert asyncio.run(work()) == ["1 /sandbox\n", "None /sandbox\n", "None /tmp\n"]


def test_each_program_has_the_disk_that_it_was_given() -> None:
    text = "import os; s = os.statvfs('.'); print(s.f_blocks * s.f_frsize // 2**20)"

    async def work() -> list[str]:
        sandbox = Bubblewrap()
        try:
            rans = [
                await sandbox.run_python(replace(program(text), limits=Limits(disk=size * MIB)))
                for size in (64, 256, 32)
            ]
            return [ran.stdout for ran in rans if ran is not None]
        finally:
            await sandbox.close()

    assert asyncio.run(work()) == ["32\n", "128\n", "16\n"]


@pytest.mark.skipif(
    os.geteuid() != 0 or not groups._bases(), reason="no control groups can be made here"
)
@pytest.mark.slow
def test_an_interpreter_outlives_what_the_kernel_kills_for_memory() -> None:
    hungry = "x = bytearray(b'x') * (2 * 2**30)"
    rans = run_all("pass", hungry, "print(1)", hungry, "print(1)", "import os; os._exit(9)")
    assert [ran.stopped for ran in rans] == [None, "memory", None, "memory", None, None]
    assert [ran.code for ran in rans] == [0, None, 0, None, 0, 9]


def test_groups_are_gone_when_the_sandbox_is_closed() -> None:
    run_all("pass")
    assert own_groups() == []


def test_a_network_in_which_nothing_happened_is_handed_on() -> None:
    """To make one for each program would take longer than most programs do."""
    named = "import os; print(os.readlink('/proc/self/ns/net'))"
    first, *others = (ran.stdout for ran in run_all(named, named, named))
    assert others == [first, first]


@pytest.mark.parametrize("confined", [True, False], ids=["confined", "ordinary"])
@pytest.mark.slow
def test_what_a_child_left_unread_is_read_by_no_other(
    confined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = warm_python._job

    def broken(half: Program, text: str) -> dict[str, Any]:
        return job(half, text) | {"program": b"broken" + os.urandom(100_000)}

    async def work() -> tuple[list[Ran | None], int | None]:
        sandbox = Bubblewrap()
        one = replace(program("print(1)"), confined=confined)
        try:
            rans = [await sandbox.run_python(one)]
            (interpreter,) = sandbox._warm._zygotes
            with monkeypatch.context() as patched:
                # It is kept here, so that it is seen to end by itself.
                patched.setattr(sandbox._warm, "_discard", lambda _: asyncio.sleep(0))
                patched.setattr(warm_python, "_job", broken)
                rans.append(await sandbox.run_python(one))
            async with asyncio.timeout(20):
                ended = await interpreter.process.wait()
            await sandbox._warm._discard(interpreter)
            rans.append(await sandbox.run_python(one))
            return rans, ended
        finally:
            await sandbox.close()

    (before, lost, after), ended = asyncio.run(work())
    assert ended is not None
    assert lost is None
    assert before is not None
    assert after is not None
    assert before.proved
    assert after.proved
