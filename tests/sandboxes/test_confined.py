"""Programs that only compute: what they may not do, and what becomes of those that want more."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.program import MIB, Limits, Program, Ran, Stopped
from proctor.sandboxes import warm_python
from proctor.sandboxes.bubblewrap import Bubblewrap

pytestmark = pytest.mark.sandbox
PARTNER = Program(steps=(), files={"main.py": b"import os\nos.read(3, 1)\n"}, stdin=b"x\n")
DONE = "\nimport os\nos.write(3, b'.')\n"


@pytest.fixture(autouse=True)
def _as_nobody() -> None:
    if Bubblewrap()._stays_superuser:
        pytest.skip("there is no warm Python for a superuser that stays one")


def confined(text: str, **limits: Any) -> Program:
    limit = Limits(**{"wall": 20.0, **limits})
    return Program(
        steps=(),
        files={"main.py": (text + DONE).encode()},
        partner=replace(PARTNER, limits=limit),
        confined=True,
        limits=limit,
    )


class Watched(warm_python.WarmPython):
    """Warm interpreters that note by which way each program ran."""

    ways: list[bool]

    async def _serve(self, zygote: Any, program: Program, *rest: Any) -> Any:
        report = await super()._serve(zygote, program, *rest)
        if program.partner is not None:
            self.ways.append(program.confined)
        return report


def run_all(*programs: Program) -> tuple[list[Ran], list[bool]]:
    """Run programs one after the other; tell which of them ran confined."""

    async def work() -> tuple[list[Ran], list[bool]]:
        sandbox = Bubblewrap()
        sandbox._warm = warm = Watched(command=sandbox._interpreter)
        warm.ways = []
        try:
            rans = [await sandbox.run_python(program) for program in programs]
            assert None not in rans, warm.broken
            return [ran for ran in rans if ran is not None], warm.ways
        finally:
            await sandbox.close()

    return asyncio.run(work())


def test_a_program_that_only_computes_runs_confined() -> None:
    text = "import math, sys\nassert math.sqrt(4) == 2\nprint('out')\nsys.stderr.write('err')"
    (ran, wrong, left), ways = run_all(
        confined(text), confined("assert 1 == 2"), confined("import os; os._exit(0)")
    )
    assert ways == [True] * 3
    assert (ran.proved, ran.finished, ran.stdout, ran.stderr) == (True, True, "out\n", "err")
    assert (wrong.proved, wrong.code) == (False, 1)
    assert "AssertionError" in wrong.stderr
    assert not left.proved


@pytest.mark.parametrize(
    "text",
    [
        "open('/tmp/file', 'w').write('x')",
        "import tempfile; tempfile.mkdtemp()",
        "import os; os.mkdir('folder')",
        "import socket; socket.socket().close()",
        "import socket; socket.socketpair()",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)",
        "import os; pid = os.fork() or os._exit(0); os.waitpid(pid, 0)",
        "import threading; t = threading.Thread(target=print); t.start(); t.join()",
    ],
)
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_what_wants_more_is_run_as_every_other_program(text: str) -> None:
    (ran,), ways = run_all(confined(text))
    assert ways == [False]
    assert ran.proved, ran


HARMLESS = {
    "its parent": "import os, signal\nfor n in (9, 15, 19): os.kill(1, n)",
    "everybody": "import os, signal\ntry: os.kill(-1, 0)\nexcept ProcessLookupError: pass",
    "our files": "import os\nfor n in range(4, 4096):\n try: os.write(n, b'{}')\n except OSError: pass",
    "no modules of ours": "import sys\nassert not {'confined', 'zygote', 'supervise'} & set(sys.modules)"
    "\nassert '/proctor' not in sys.path",
    "no mark of another": "import gc\ngc.unfreeze()\nbackwards = 'ecal' + 'pcilbup'\n"
    "for o in gc.get_objects():\n"
    " if isinstance(o, (dict, list, tuple)):\n"
    "  for v in (o.values() if isinstance(o, dict) else o):\n"
    "   assert type(v) is not str or backwards[::-1] not in v or 'backwards' in v, o",
}


@pytest.mark.parametrize("what", HARMLESS)
def test_a_hostile_program_reaches_nobody(what: str) -> None:
    first = confined("mark = 'publicp' + 'lace and publicplace'")
    rans, ways = run_all(first, confined(HARMLESS[what]), confined("pass"))
    assert ways == [True] * 3, rans
    assert rans[0].proved, rans
    assert rans[2].proved, rans
    if what.startswith("no "):
        assert rans[1].proved, rans


SCAN = """
import ctypes, re
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
with open("/proc/self/maps") as file:
    rows = [row.split() for row in file]
with open("/proc/self/mem", "rb", 0) as memory:
    for where, rights, *_ in rows:
        start, end = (int(part, 16) for part in where.split("-"))
        if rights[0] != "r" or start >= 1 << 47:
            continue
        try:
            memory.seek(start)
            data = memory.read(end - start)
        except OSError:
            continue
        assert not re.search(rb"mark-of-another-\\d{6}", data), (where, rights)
"""


@pytest.mark.parametrize("one_way", [True, False], ids=["confined", "ordinary"])
def test_nothing_that_was_printed_lies_in_the_memory_of_the_next(one_way: bool) -> None:
    first = "print('mark-of-another-' + '123456')\nassert 1 == 2, 'mark-of-another-123456'"
    rans, ways = run_all(*(replace(confined(t), confined=one_way) for t in (first, SCAN)))
    assert ways == [one_way] * 2
    assert "mark-of-another-123456" in rans[0].stdout
    assert "mark-of-another-123456" in rans[0].stderr
    assert rans[1].proved, rans[1].stderr


@pytest.mark.slow
def test_a_long_output_is_cut_as_elsewhere() -> None:
    texts = [
        f"import sys\nfor n in range(0, {size}, 7): sys.stdout.write(f'{{n:07}}')\n"
        f"sys.stderr.write('e' * ({size} - 7))\nsys.stderr.flush()"
        for size in (7, 65534, 65541, 131068, 700_000)
    ]
    both = [
        run_all(*(replace(confined(text), confined=one_way) for text in texts))
        for one_way in (True, False)
    ]
    for one, other in zip(both[0][0], both[1][0], strict=True):
        assert one.proved
        assert (one.stdout, one.stderr) == (other.stdout, other.stderr)


FOR_OTHERS = """
import os, resource
def attempt(call, *args):
    try:
        call(*args)
    except PermissionError:
        pass
for name in ("DATA", "STACK", "NOFILE"):
    attempt(resource.prlimit, 1, getattr(resource, "RLIMIT_" + name), (50, 50))
"""
RANK = """
for kind, who in ((os.PRIO_PROCESS, 1), (os.PRIO_USER, 0), (os.PRIO_PGRP, 0)):
    attempt(os.setpriority, kind, who, 19)
attempt(os.sched_setaffinity, 1, {min(os.sched_getaffinity(1))})
attempt(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))
"""
TOLD = """
import os, resource
names = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
print([resource.getrlimit(getattr(resource, name)) for name in names],
      os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0), os.sched_getscheduler(0))
"""


@pytest.mark.parametrize("one_way", [True, False], ids=["confined", "ordinary"])
@pytest.mark.slow
def test_no_program_changes_what_the_next_one_may_use(one_way: bool) -> None:
    texts = (TOLD, FOR_OTHERS, FOR_OTHERS + RANK, TOLD)
    rans, _ = run_all(*(replace(confined(text), confined=one_way) for text in texts))
    assert all(ran.proved for ran in rans), rans
    assert rans[0].stdout == rans[3].stdout


@pytest.mark.parametrize("one_way", [True, False], ids=["confined", "ordinary"])
def test_the_channel_tells_nothing_about_the_network_outside(one_way: bool) -> None:
    text = """
import fcntl, struct
for request in (*range(0x8910, 0x8960), 0x89F0, 0x8B01):
    try:
        fcntl.ioctl(3, request, struct.pack("16si20x", b"", 1))
    except PermissionError:
        continue
    raise AssertionError(hex(request))
"""
    (ran,), ways = run_all(replace(confined(text), confined=one_way))
    assert ran.proved, ran
    assert ways == [one_way]


@pytest.mark.slow
def test_a_channel_is_of_no_use_in_the_network_outside() -> None:
    text = """
import socket
channel = socket.socket(fileno=3)
for call in (
    lambda: channel.bind("\\0a-name-of-mine"),
    lambda: channel.setsockopt(socket.SOL_SOCKET, 62, 2),
    lambda: channel.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0"),
    lambda: channel.connect("\\0a-name-of-others"),
    lambda: channel.listen(),
):
    try:
        call()
    except OSError:
        continue
    raise AssertionError
channel.detach()
"""
    (ran,), _ = run_all(confined(text))
    assert ran.proved, ran


@pytest.mark.parametrize(
    ("text", "limits", "stopped"),
    [
        ("while True: pass", {"wall": 1.0}, Stopped.TIME),
        ("import time; time.sleep(60)", {"wall": 1.0}, Stopped.TIME),
        ("while True: print('x' * 1000)", {"output": 100_000}, Stopped.OUTPUT),
        pytest.param("while True: pass", {"cpu": 0.5}, Stopped.CPU, marks=pytest.mark.slow),
        pytest.param(
            "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
            {"cpu": 0.5},
            Stopped.CPU,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_limit_ends_a_program_and_none_after_it(
    text: str, limits: dict[str, Any], stopped: Stopped
) -> None:
    (ran, after), ways = run_all(confined(text, **limits), confined("pass"))
    assert ways == [True, True]
    assert (ran.stopped, ran.proved) == (stopped, False)
    assert after.proved


def test_memory_ends_for_a_program_alone() -> None:
    greedy = confined("kept = []\nwhile True: kept.append(bytes(10_000_000))", memory=200 * MIB)
    (ran, after), ways = run_all(greedy, confined("pass"))
    assert ways == [True, True]
    assert not ran.proved
    assert ran.stopped is Stopped.MEMORY or "MemoryError" in ran.stderr
    assert after.proved


def test_a_program_whose_partner_goes_on_printing_for_it_ends() -> None:
    lends = """
import array, socket
channel = socket.socket(fileno=3)
channel.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))])
channel.recv(1)
channel.detach()
"""
    prints = b"""
import os, socket
channel = socket.socket(fileno=3)
_, (out,), _, _ = socket.recv_fds(channel, 1, 1)
channel.send(b".")
while True:
    os.write(out, b"x" * 4096)
"""
    limit = Limits(wall=20.0, output=10**9)
    partner = replace(PARTNER, files={"main.py": prints}, limits=limit)
    lending = replace(confined(lends), partner=partner, limits=limit)
    (ran, after), _ = run_all(lending, confined("pass"))
    assert ran.finished
    assert ran.seconds < 10
    assert after.proved


def test_neither_the_interpreter_nor_a_program_has_any_rights() -> None:
    text = """
for pid in ("1", "self"):
    with open(f"/proc/{pid}/status") as file:
        rows = dict(row.split(":", 1) for row in file)
    held = {name: int(rows[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    assert not any(held.values()), (pid, held)
    assert rows["NoNewPrivs"].strip() == "1", pid
    assert rows["Seccomp"].strip() == "2", pid
"""
    (ran,), ways = run_all(confined(text))
    assert ways == [True]
    assert ran.proved, ran.stderr
