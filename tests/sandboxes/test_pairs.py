"""Two programs at a time: what became of the first, with what its partner said about it."""

import asyncio
import socket
from typing import Any

import pytest

from proctor.core.program import Program, Ran, Stopped
from proctor.sandboxes import pairs
from proctor.sandboxes.pairs import run_joined

PARTNER = Program(steps=(), stdin=b"partner")
PROGRAM = Program(steps=(), partner=PARTNER)


def ran(code: int | None = 0, **more: Any) -> Ran:
    return Ran(**{"code": code, "step": 0, "finished": code == 0, **more})


def joined(own: Ran | None, other: Ran | None) -> Ran | None:
    async def run(program: Program, end: socket.socket) -> Ran | None:
        return own if program is PROGRAM else other

    return asyncio.run(run_joined(PROGRAM, run))


def test_a_program_that_proved_itself_is_what_counts() -> None:
    whole = joined(ran(proved=True, stdout="own"), ran(1, stdout="partner ", stderr="why"))
    assert whole is not None
    assert (whole.finished, whole.code, whole.stdout) == (True, 0, "partner own")
    assert whole.stderr == "why"


def test_a_program_without_a_word_lets_its_partner_say_why() -> None:
    silent = joined(ran(1), ran(7, stderr="partner broke"))
    assert silent is not None
    assert (silent.code, silent.stderr) == (7, "partner broke")
    spoken = joined(ran(1, stderr="own"), ran(7, stderr="partner "))
    assert spoken is not None
    assert (spoken.code, spoken.stderr) == (1, "partner own")


def test_a_limit_of_either_is_the_end_of_both() -> None:
    for own, other in ((Stopped.TIME, None), (None, Stopped.TIME)):
        whole = joined(ran(1, stopped=own), ran(1, stopped=other))
        assert whole is not None
        assert (whole.stopped, whole.code) == (Stopped.TIME, None)
    lost = joined(ran(None), ran(None, not_started="no such tool"))
    assert lost is not None
    assert lost.not_started == "no such tool"


def test_where_one_must_be_run_in_another_way_nothing_counts() -> None:
    assert joined(None, ran()) is None
    assert joined(ran(), None) is None


def test_a_partner_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PATIENCE", 0.01)
    ends: list[socket.socket] = []

    async def run(program: Program, end: socket.socket) -> Ran:
        ends.append(end)
        if program is PARTNER:
            await asyncio.sleep(60)
        return ran(proved=True, stdout="own")

    whole = asyncio.run(run_joined(PROGRAM, run))
    assert whole is not None
    assert whole.stdout == "own"
    assert [end.fileno() for end in ends] == [-1, -1]


def test_the_two_are_joined_by_a_socket_of_their_own() -> None:
    async def run(program: Program, end: socket.socket) -> Ran:
        if program is PARTNER:
            end.sendall(b"hello")
            return ran()
        end.setblocking(False)
        text = await asyncio.get_running_loop().sock_recv(end, 5)
        return ran(proved=True, stdout=text.decode())

    whole = asyncio.run(run_joined(PROGRAM, run))
    assert whole is not None
    assert whole.stdout == "hello"
