"""Runs at work: begun with their first work, alive while their process says so."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from sqlalchemy import update
from sqlalchemy.exc import SQLAlchemyError

from proctor.core.run import Run, RunStatus
from proctor.errors import StoreError
from proctor.store.clock import beat_seconds, patience, sign_of_life
from proctor.store.database import Database
from proctor.store.runs import Runs
from proctor.store.schema import runs as run_table


class Liveness:
    """The runs that this process works at, alive by the database's clock."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs
        self._awaited: dict[str, Callable[[], None]] = {}
        """Runs that have no work yet: what stores them once they do."""
        self._alive: dict[str, float] = {}
        """Runs at work in this process: after how many seconds of silence they are given up."""
        self._ended = Event()
        self._pulse: Thread | None = None

    def await_work(self, run: Run, put_suite: Callable[[], object]) -> None:
        """Store a run, and its suite before it, together with its first work."""

        def begin() -> None:
            put_suite()
            self._runs.save(run)

        self._awaited[run.id] = begin

    def begin(self, run_id: str) -> None:
        """Store a run that waits for its first work: it is being done now."""
        if (begin := self._awaited.pop(run_id, None)) is None:
            return
        with self._database.write():
            begin()
        self._alive[run_id] = patience()
        if self._pulse is None:
            self._ended = Event()
            self._pulse = Thread(target=self._beat, args=(self._ended,), daemon=True)
            self._pulse.start()

    def note(self, run: Run, put_suite: Callable[[], object]) -> None:
        """Store what has become of a run, or keep it in mind where it has no work yet."""
        if run.id in self._awaited:
            self.await_work(run, put_suite)
        else:
            self._runs.save(run)

    def allow_silence(self, run_id: str, seconds: float) -> None:
        """Let a run be silent for longer from now on: it will write for a long time at once."""
        if run_id in self._alive:
            self._alive[run_id] = patience() + seconds
            self._put_signs_of_life()

    def leave(self, run_id: str, status: RunStatus = RunStatus.INTERRUPTED) -> bool:
        """Say that this process works at a run no more; one that has not ended gets a status.

        False where nothing of it was stored here.
        """
        self._awaited.pop(run_id, None)
        if self._alive.pop(run_id, None) is None:
            return False
        if not self._alive and self._pulse is not None:
            self._ended.set()
            self._pulse.join()
            self._pulse = None
        table = run_table.c
        running = (table.id == run_id, table.status == RunStatus.RUNNING.value)
        with self._database.write() as connection:
            connection.execute(update(run_table).where(*running).values(status=status.value))
        return True

    def close(self) -> None:
        """Let go of the runs."""
        # Where another thread was stopped in mid-transaction, silence tells it soon enough.
        if not self._database.in_transaction:
            for run_id in list(self._alive):
                self.leave(run_id)
        self._ended.set()

    def _beat(self, ended: Event) -> None:
        while not ended.wait(beat_seconds()):
            self._put_signs_of_life()

    def _put_signs_of_life(self) -> None:
        """Say that the runs are alive, on a connection of its own; the next one makes up for it."""
        with suppress(SQLAlchemyError, StoreError), self._database.writer.begin() as connection:
            for run_id, silence in list(self._alive.items()):
                connection.execute(sign_of_life(run_id, silence))
