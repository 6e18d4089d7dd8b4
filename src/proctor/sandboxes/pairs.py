"""Two programs at a time, each in a sandbox of its own, joined by nothing but a socket."""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import replace

from proctor.core.program import Program, Ran
from proctor.io.concurrency import map_unordered

PATIENCE = 1.0
"""Seconds in which a partner must have ended after its program; it is ended where it has not."""
SO_BINDTOIFINDEX, LOOPBACK = 62, 1
Half = tuple[Program, socket.socket]


async def run_joined(
    program: Program, run: Callable[[Program, socket.socket], Awaitable[Ran | None]]
) -> Ran | None:
    """Run a program and its partner; none where one of them must be run in another way."""
    partner = program.partner
    assert partner is not None
    ends = _ends()
    reports: dict[bool, Ran] = {}

    async def one(half: Half) -> tuple[bool, Ran | None]:
        return half[0] is program, await run(*half)

    halves: list[Half] = [(partner, ends[1]), (program, ends[0])]
    try:
        async with (
            aclosing(map_unordered(halves, one, limit=2)) as ended,
            asyncio.timeout(None) as patience,
        ):
            async for own, ran in ended:
                if ran is None:
                    return None
                reports[own] = ran
                if own:
                    patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
    except TimeoutError:
        if True not in reports:
            raise
    finally:
        for end in ends:
            end.close()
    return _together(reports[True], reports.get(False))


def _ends() -> tuple[socket.socket, socket.socket]:
    """Make the two ends of a channel.

    They belong to the grader's network, wherever they are used. An end that has a name can take no
    other one there, and one that is bound to an interface cannot be used to find the others.
    """
    ends = socket.socketpair()
    if sys.platform == "linux":
        for end in ends:
            end.bind("")
            with suppress(OSError):  # where not even this is allowed, nothing of the kind is
                end.setsockopt(socket.SOL_SOCKET, SO_BINDTOIFINDEX, LOOPBACK)
    return ends


def _together(ran: Ran, partner: Ran | None) -> Ran:
    """Return what became of a program, with what its partner printed and why that ended."""
    if partner is None:
        return ran
    silent = not ran.stderr
    ran = replace(ran, stdout=partner.stdout + ran.stdout, stderr=partner.stderr + ran.stderr)
    if ran.finished and ran.proved:
        return ran
    stopped = ran.stopped or partner.stopped
    # A program that ends without a word lets its partner say why.
    code = partner.code if silent else ran.code
    told = {ran.starved, partner.starved}
    return replace(
        ran,
        starved=True if True in told else False if False in told else None,
        code=None if stopped is not None else code,
        stopped=stopped,
        not_started=ran.not_started or partner.not_started,
    )
