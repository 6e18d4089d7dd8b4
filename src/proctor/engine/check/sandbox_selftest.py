"""Self-test of a sandbox: small programs that break its limits."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import MIB, Limits, Program, Ran, Step, Stopped

NAME = "main.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestResult:
    """Result of one test."""

    what: str
    ok: bool
    finding: str


async def probe(sandbox: Sandbox) -> list[SelftestResult]:
    """Test a sandbox: it runs programs, and each limit stops one that breaks it."""
    rows = []
    for what, program, good in _tries():
        row = _row(what, await sandbox.run(program), good)
        # On a busy machine the time limit may stop a program before the tested limit does.
        rows.append(row if row.ok else _row(what, await sandbox.run(program), good))
    if rows[0].ok:
        text = b"print(6 * 7)"
        ran = await sandbox.run_python(_program(text))
        if ran is not None:
            again = await sandbox.run_python(_program(text))
            took = again.seconds if again is not None else ran.seconds
            rows.append(
                SelftestResult(
                    what="warm Python",
                    ok=ran.proved,
                    finding=f"{1000 * took:.0f} ms a small program",
                )
            )
    return rows


def _tries() -> Sequence[tuple[str, Program, Callable[[Ran], bool]]]:
    network = b"import socket\nsocket.create_connection(('192.0.2.1', 9), 2)"
    shadow = b"open('/etc/shadow')"
    endless = b"while True: pass"
    hungry = b"x = []\nwhile True: x.append(bytearray(10 ** 6))"
    bomb = b"import os\nwhile True: os.fork()"
    loud = b"while True: print('x' * 1000)"
    disk = b"for n in range(999): open(str(n), 'wb').write(bytes(10 ** 6))"
    return [
        ("runs a program", _program(b"print(6 * 7)"), lambda ran: ran.stdout.strip() == "42"),
        ("no network", _program(network), _refused),
        ("no secrets", _program(shadow), _refused),
        ("time limit", _program(endless, Limits(wall=0.5)), _by(Stopped.TIME)),
        ("memory limit", _program(hungry, Limits(memory=128 * MIB)), _by(Stopped.MEMORY)),
        ("process limit", _program(bomb, Limits(processes=16)), _by(Stopped.PROCESSES)),
        ("output limit", _program(loud, Limits(output=MIB)), _by(Stopped.OUTPUT)),
        ("disk limit", _program(disk, Limits(disk=32 * MIB)), _by(Stopped.DISK)),
    ]


def _program(text: bytes, limits: Limits | None = None) -> Program:
    return Program(
        steps=(Step(argv=(sys.executable, "-I", NAME)),),
        files={NAME: text},
        needs=(sys.prefix, sys.base_prefix),
        limits=limits or Limits(),
    )


def _refused(ran: Ran) -> bool:
    return not ran.finished and ran.stopped is None


def _by(limit: Stopped) -> Callable[[Ran], bool]:
    return lambda ran: ran.stopped is limit


def _row(what: str, ran: Ran, good: Callable[[Ran], bool]) -> SelftestResult:
    ok = good(ran)
    if ran.stopped is not None:
        finding = f"stopped after {ran.seconds:.2f} s ({ran.stopped.value})"
    elif ran.finished:
        finding = f"ended normally after {ran.seconds:.2f} s"
    else:
        finding = (ran.stderr.strip().splitlines() or [f"status {ran.code}"])[-1][:100]
    return SelftestResult(what=what, ok=ok, finding=finding)
