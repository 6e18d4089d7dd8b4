"""Locks on runs: one process at a time, released when the process ends."""

import os
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from proctor.store.database import Database, is_lost, run_lock, translated, with_reconnect


class RunLocks:
    """Locks that keep processes from doing the work of one run twice."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.on_reconnect.append(self._acquire_again)
        self._files: dict[str, int] = {}
        """The open lock files of runs, beside a store that is a file."""
        self._session: Connection | None = None
        """The connection that holds the locks, on a server."""
        self._runs: set[str] = set()

    def acquire(self, run_id: str) -> bool:
        """Lock a run for this process; return False if another one has it."""
        if self._database.is_sqlite:
            return self._acquire_file(run_id)
        with translated(self._database.place):
            return with_reconnect(lambda: self._acquire_session(run_id))

    def release(self, run_id: str) -> None:
        """Unlock a run."""
        if (file := self._files.pop(run_id, None)) is not None:
            # Removed while it is locked: a waiting process sees that the file is gone.
            with suppress(OSError):
                self._lock_file(run_id).unlink()
            os.close(file)
        self._runs.discard(run_id)
        if not self._runs:
            self._let_go()

    def close(self) -> None:
        """Unlock all runs."""
        for run_id in [*self._files, *self._runs]:
            self.release(run_id)

    def _acquire_file(self, run_id: str) -> bool:
        import fcntl

        path = self._lock_file(run_id)
        if run_id in self._files or not self._is_file():
            return True
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            # If the folder is not writable, the later write gives a clearer error.
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_ino != path.stat().st_ino:
                raise FileNotFoundError
        except OSError:
            os.close(file)
            return False
        self._files[run_id] = file
        return True

    def _is_file(self) -> bool:
        return not self._database.place.startswith("file:")

    def _lock_file(self, run_id: str) -> Path:
        return Path(f"{self._database.place}-{run_id}.lock")

    def _acquire_session(self, run_id: str) -> bool:
        if self._session is None:
            # Not returned to the pool: it stays open while the run lasts.
            self._session = self._database.reader.connect()
        try:
            acquired = bool(self._session.scalar(select(run_lock(run_id))))
        except DBAPIError:
            self._let_go()
            raise
        if not acquired:
            if not self._runs:
                self._let_go()
            return False
        self._runs.add(run_id)
        return True

    def _acquire_again(self) -> None:
        """Lock the runs again if the lost connection held their locks."""
        if self._session is None:
            return
        try:
            self._session.scalar(select(1))
        except DBAPIError as error:
            if not is_lost(error):
                raise
            self._let_go()
            for run_id in list(self._runs):
                self._acquire_session(run_id)

    def _let_go(self) -> None:
        if self._session is not None:
            # In the pool it would keep its locks.
            self._session.invalidate()
            self._session.close()
            self._session = None
