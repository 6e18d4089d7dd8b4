"""Transactions: one writer at a time, made again from the beginning where a connection breaks."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, CursorResult, Engine, Executable, bindparam, func, select
from sqlalchemy.exc import DBAPIError, InterfaceError

from proctor.store.store_file import file_of

Rows = Sequence[Mapping[str, Any]] | Mapping[str, Any]
Result = TypeVar("Result")

PAUSES = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds to wait before each try to get a lost connection back."""
MOST_ROWS = 20_000
"""How many rows a transaction may have to be made again; a longer one fails as a whole."""
LOCK_SECONDS = 30
_WRITERS, _RUNS = 7461_0002, 7461_0003
_LOST = ("57P01", "57P02", "57P03", "57P05", "25P03")
"""Told to end by its administrator, crashed, starting up, idle for too long."""


def is_lost(error: Exception) -> bool:
    """Tell whether a server cannot be reached any more, as opposed to having refused something."""
    if not isinstance(error, DBAPIError) or error.orig is None:
        return False
    if type(error.orig).__module__.startswith("sqlite3"):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return state in _LOST or state.startswith("08")
    return error.connection_invalidated or _unreachable(error)


def _unreachable(error: DBAPIError) -> bool:
    """Tell whether no connection could be made, which psycopg says without a code."""
    return isinstance(error, InterfaceError) or type(error.orig).__name__ == "OperationalError"


def again(work: Callable[[], Result]) -> Result:
    """Do some work that reads, once more from its beginning where the connection breaks."""
    for pause in PAUSES:
        try:
            return work()
        except DBAPIError as error:
            if not is_lost(error):
                raise
        time.sleep(pause)
    return work()


def run_lock(run_id: str) -> Any:
    """Return what the database locks for whoever works at a run; stores in it are kept apart."""
    own = func.hashtext(func.current_schema().concat(bindparam(None, run_id)))
    return func.pg_try_advisory_lock(_RUNS, own)


class Transaction:
    """An open transaction, with what was written in it, to write that again where it is lost.

    All writes are such that made twice they leave what they leave made once, except where
    ``repeatable`` says no.
    """

    def __init__(
        self, engine: Engine, *, lock: str = "", repeatable: bool = True, restored: Any = None
    ) -> None:
        self._engine = engine
        self._remote = engine.dialect.name == "postgresql"
        self._lock = lock
        self._restored: Callable[[], None] | None = restored
        self._written: list[tuple[Executable, Rows | None]] | None = None
        if self._remote and repeatable:
            self._written = []
        self._rows = 0
        self.connection: Connection = again(self._begun)

    def execute(self, statement: Executable, rows: Rows | None = None) -> CursorResult[Any]:
        """Run a statement, for all rows where there are some."""
        if self._written is not None and not getattr(statement, "is_select", False):
            self._rows += len(rows) if rows is not None else 1
            self._written = None if self._rows > MOST_ROWS else self._written
            if self._written is not None:
                self._written.append((statement, rows))
        try:
            return self.connection.execute(statement, rows)
        except DBAPIError as error:
            result = self._again(error)
        if result is not None and not getattr(statement, "is_select", False):
            return result
        return self.connection.execute(statement, rows)

    def scalar(self, query: Executable) -> Any:
        """Return the first value that a query finds."""
        return self.execute(query).scalar()

    def commit(self) -> None:
        """Make everything last."""
        try:
            self.connection.commit()
        except DBAPIError as error:
            # Whether it was made to last nobody knows; made twice it is the same.
            self._again(error)
            self.connection.commit()
        if (file := file_of(self._engine)) is not None:
            file.check(self.connection)
        self.connection.close()

    def abandon(self) -> None:
        """Let nothing of it last."""
        self.connection.close()

    def _begun(self) -> Connection:
        connection = self._engine.connect()
        try:
            if self._remote:
                # Writers wait for each other here, where they hold nothing that others wait for.
                own = func.hashtext(func.current_schema().concat(bindparam(None, self._lock)))
                wait = func.set_config("lock_timeout", f"{LOCK_SECONDS}s", True)
                connection.execute(select(wait, func.pg_advisory_xact_lock(_WRITERS, own)))
            else:
                connection.begin()
        except BaseException:
            connection.close()
            raise
        return connection

    def _again(self, error: DBAPIError) -> CursorResult[Any] | None:
        """Open another connection and write there what was written, or raise the error."""
        if self._written is None or not is_lost(error):
            raise error
        written = self._written

        def work() -> CursorResult[Any] | None:
            self.connection.close()
            self.connection = self._begun()
            result: CursorResult[Any] | None = None
            for statement, rows in written:
                result = self.connection.execute(statement, rows)
            return result

        result = again(work)
        if self._restored is not None:
            self._restored()
        return result
