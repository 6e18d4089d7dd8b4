"""Locks on runs, and on the whole store, for one process at a time; they end with the process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.errors import StoreError
from proctor.store import sql
from proctor.store.database import Database
from proctor.store.failure_messages import translated

if TYPE_CHECKING:
    from sqlalchemy import Connection

_WHOLE = 7461_0004
_IN_USE = (
    "{place} is in use: another process works on a run in it (fix: wait until it has ended, or end"
    " it; `proctor list runs` shows what is running)"
)


class RunLocks:
    """Locks that keep processes from doing the work of one run twice.

    Whoever holds a run also shares a lock on the store, which ``whole_store`` takes for itself.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        database.on_reconnect.append(self._acquire_again)
        self._files: dict[str, int] = {}
        """The open lock files of runs, beside a store that is a file."""
        self._shared: int | None = None
        """The open lock file of the store, while this process works on runs."""
        self._session: Connection | None = None
        """The connection that holds the locks, on a server."""
        self._runs: set[str] = set()

    def acquire(self, run_id: str) -> bool:
        """Lock a run for this process; return False if another one has it."""
        if self._database.is_sqlite:
            if not self._enter():
                return False
            acquired = self._acquire_file(run_id)
            self._leave()
            return acquired
        with translated(self._database.place):
            from proctor.store.transactions import with_reconnect

            return with_reconnect(lambda: self._acquire_session(run_id))

    def release(self, run_id: str) -> None:
        """Unlock a run."""
        if (file := self._files.pop(run_id, None)) is not None:
            # Removed while it is locked: a waiting process sees that the file is gone.
            with suppress(OSError):
                self._lock_file(run_id).unlink()
            os.close(file)
        self._leave()
        self._runs.discard(run_id)
        if not self._runs:
            self._let_go()

    @contextmanager
    def whole_store(self) -> Iterator[None]:
        """Keep all processes from working on runs; raise a StoreError where one does."""
        if self._database.is_sqlite:
            file = _locked(self._store_file(), exclusive=True) if self._is_file() else None
            if file == _REFUSED:
                raise StoreError(_IN_USE.format(place=self._database.place))
            try:
                yield
            finally:
                if file is not None:
                    self._store_file().unlink(missing_ok=True)
                    os.close(file)
            return
        with translated(self._database.place), self._database.reader.connect() as session:
            if not session.scalar(sql.select(_store_lock(shared=False))):
                raise StoreError(_IN_USE.format(place=self._database.place))
            try:
                yield
            finally:
                # In the pool it would keep its lock.
                session.invalidate()

    def close(self) -> None:
        """Unlock all runs."""
        for run_id in [*self._files, *self._runs]:
            self.release(run_id)

    def _enter(self) -> bool:
        """Share the lock on the store; return False while another process has it for itself."""
        if self._shared is None and self._is_file():
            file = _locked(self._store_file(), exclusive=False)
            if file == _REFUSED:
                return False
            self._shared = file
        return True

    def _leave(self) -> None:
        """Give up the lock on the store unless a run is held; the last one removes its file."""
        import fcntl

        if self._files or self._shared is None:
            return
        with suppress(OSError):
            fcntl.flock(self._shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path = self._store_file()
            if os.fstat(self._shared).st_ino == path.stat().st_ino:
                path.unlink()
        os.close(self._shared)
        self._shared = None

    def _store_file(self) -> Path:
        return Path(f"{self._database.place}-in-use")

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
        from sqlalchemy.exc import DBAPIError

        from proctor.store.transactions import run_lock

        if self._session is None:
            # Not returned to the pool: it stays open while the run lasts.
            self._session = self._database.reader.connect()
            if not self._session.scalar(sql.select(_store_lock(shared=True))):
                self._let_go()
                return False
        try:
            acquired = bool(self._session.scalar(sql.select(run_lock(run_id))))
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
        from sqlalchemy.exc import DBAPIError

        from proctor.store.transactions import is_lost

        try:
            self._session.scalar(sql.select(1))
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


_REFUSED = -1


def _locked(path: Path, *, exclusive: bool) -> int | None:
    """Return the locked file, ``_REFUSED`` if another process has it, None if there can be none."""
    import fcntl

    how = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            # If the folder is not writable, the later write gives a clearer error.
            return None
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return _REFUSED
        with suppress(OSError):
            if os.fstat(file).st_ino == path.stat().st_ino:
                return file
        os.close(file)  # somebody removed it in between


def _store_lock(*, shared: bool) -> Any:
    own = sql.func.hashtext(sql.func.current_schema())
    lock = sql.func.pg_try_advisory_lock_shared if shared else sql.func.pg_try_advisory_lock
    return lock(_WHOLE, own)
