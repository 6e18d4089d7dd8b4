"""One process at a time at a run: who comes second waits, and goes on where the first ended."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from proctor.core.run import Run
from proctor.store.store import Store

PAUSE = 0.25


@asynccontextmanager
async def alone(store: Store, run: Run, notice: Callable[[str], None]) -> AsyncIterator[None]:
    """Wait until no other process works at a run, on this machine or another, and say so."""
    if not store.locks.acquire(run.id):
        notice(
            f"the run {run.name!r} is being made by another process; waiting for it to end"
            " (another --name makes another run)"
        )
        while not store.locks.acquire(run.id):  # noqa: ASYNC110 - another process tells nobody
            await asyncio.sleep(PAUSE)
    try:
        yield
    finally:
        store.locks.release(run.id)
