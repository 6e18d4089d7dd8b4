"""Trying a sandbox: each limit must end a program, and what is said is what was seen."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import Program, Ran, Stopped
from proctor.engine.check.sandbox_selftest import SelftestResult, probe


def ran(**more: Any) -> Ran:
    made = {"code": 0, "step": 0, "seconds": 0.25, **more}
    return Ran(finished=made["code"] == 0, **made)


BREAKS = {
    b"while True: pass": Stopped.TIME,
    b"bytearray": Stopped.MEMORY,
    b"fork": Stopped.PROCESSES,
    b"while True: print": Stopped.OUTPUT,
    b"open(str(n)": Stopped.DISK,
}


def sound(program: Program) -> Ran:
    text = program.files["main.py"]
    for part, stopped in BREAKS.items():
        if part in text:
            return ran(code=-9, stopped=stopped)
    if b"6 * 7" in text:
        return ran(stdout="42\n")
    return ran(code=1, stderr="Traceback\nOSError: not here")


@dataclass
class _Sandbox(Sandbox):
    does: Callable[[Program], Ran]
    warm: Ran | None = None
    seen: list[Program] = field(default_factory=list)

    async def run(self, program: Program) -> Ran:
        self.seen.append(program)
        return self.does(program)

    async def run_python(self, program: Program) -> Ran | None:
        return self.warm

    async def close(self) -> None:
        pass


def tried(sandbox: _Sandbox) -> dict[str, SelftestResult]:
    return {row.what: row for row in asyncio.run(probe(sandbox))}


def test_a_sandbox_that_holds_passes_every_row_at_the_first_try() -> None:
    sandbox = _Sandbox(sound)
    rows = tried(sandbox)
    assert [what for what, row in rows.items() if not row.ok] == []
    assert len(sandbox.seen) == len(rows) == 8
    assert rows["time limit"].finding == "stopped after 0.25 s (time)"
    assert rows["no network"].finding == "OSError: not here"


def test_a_sandbox_without_any_limit_fails_all_but_the_first() -> None:
    sandbox = _Sandbox(lambda _: ran(stdout="42"))
    rows = tried(sandbox)
    assert [what for what, row in rows.items() if row.ok] == ["runs a program"]
    assert rows["memory limit"].finding == "ended normally after 0.25 s"
    assert len(sandbox.seen) == 1 + 2 * 7


def test_a_busy_machine_is_given_a_second_try() -> None:
    seen: set[bytes] = set()

    def slow_at_first(program: Program) -> Ran:
        text = program.files["main.py"]
        if text in seen:
            return sound(program)
        seen.add(text)
        return ran(code=-9, stopped=Stopped.TIME)

    assert all(row.ok for row in tried(_Sandbox(slow_at_first)).values())


def test_another_limit_than_the_one_that_is_tried_proves_nothing() -> None:
    rows = tried(_Sandbox(lambda _: ran(code=-9, stopped=Stopped.OUTPUT)))
    assert [what for what, row in rows.items() if row.ok] == ["output limit"]


def test_a_program_that_was_killed_was_not_refused_the_network() -> None:
    rows = tried(_Sandbox(lambda _: ran(code=-9, stopped=Stopped.TIME)))
    assert not rows["no network"].ok
    assert not rows["no secrets"].ok


def test_warm_python_is_told_where_there_is_one() -> None:
    warm = tried(_Sandbox(sound, warm=ran(seconds=0.012)))["warm Python"]
    assert warm.finding == "12 ms a small program"
    assert "warm Python" not in tried(_Sandbox(sound))
    assert "warm Python" not in tried(_Sandbox(lambda _: ran(code=1), warm=ran()))
