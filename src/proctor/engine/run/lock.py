"""Per-run lock and status; a second process waits, then resumes."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from proctor.core.run import Run, RunStatus
from proctor.errors import ProctorError, StoreError
from proctor.io.concurrency import loop_needed
from proctor.store.store import Store

PAUSE = 0.25


@asynccontextmanager
async def alone(store: Store, run: Run, notice: Callable[[str], None]) -> AsyncIterator[None]:
    """Lock a run, after waiting for other processes on any machine, with a notice."""
    if not store.locks.acquire(run.id):
        notice(
            f"the run {run.name!r} is being made by another process; waiting for it to end"
            " (another --name makes another run)"
        )
        await loop_needed()
        import asyncio

        while not store.locks.acquire(run.id):  # noqa: ASYNC110 - another process tells nobody
            await asyncio.sleep(PAUSE)
    try:
        yield
    finally:
        store.locks.release(run.id)


ROWS_A_SECOND = 1000
"""Minimum number of cases summed up per second."""


@contextmanager
def at_work(store: Store, run: Run, put_suite: Callable[[], object]) -> Iterator[None]:
    """Store a run with its first work; mark it if it ends early.

    A run that is refused before any of its work is stored leaves nothing behind; one that had
    numbers before keeps them with their status.
    """
    before = store.runs.find(run.id)
    store.liveness.await_work(run, put_suite)
    try:
        yield
    except BaseException as error:
        # The original error is raised; a store that fails here has failed before.
        with suppress(StoreError):
            _leave(store, run.id, before, error)
        raise
    finally:
        with suppress(StoreError):
            store.liveness.leave(run.id)


def _leave(store: Store, run_id: str, before: Run | None, error: BaseException) -> None:
    if not isinstance(error, ProctorError) or isinstance(error, StoreError):
        store.liveness.leave(run_id, RunStatus.INTERRUPTED)
        return
    if not store.liveness.leave(run_id, RunStatus.REFUSED):
        return
    if before is not None and before.finished is not None:
        store.runs.save(before)
    elif store.attempts.count(run_id) == 0 and store.runs.find(run_id) is not None:
        store.runs.delete(run_id)


def allow_time_to_sum_up(store: Store, run: Run, cases: int) -> None:
    """Extend a run's deadline by the time that writing its numbers may take."""
    if cases > ROWS_A_SECOND:
        store.liveness.allow_silence(run.id, cases / ROWS_A_SECOND)
