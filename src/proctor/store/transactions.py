"""Transactions by SQLAlchemy: prepared statements, and writes that survive a lost connection."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import (
    Connection,
    CursorResult,
    Dialect,
    Engine,
    Executable,
    bindparam,
    func,
    select,
)
from sqlalchemy.exc import DBAPIError, InterfaceError

from proctor.store.sqlite_connection import row_reader
from proctor.store.statements import Statement
from proctor.store.store_file import file_of

Rows = Sequence[Mapping[str, Any]] | Mapping[str, Any]
Result = TypeVar("Result")

PAUSES = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds to wait before each attempt to reconnect."""
MOST_ROWS = 20_000
"""Maximum rows of a transaction that can be replayed; a longer one fails as a whole."""
LOCK_SECONDS = 30
_WRITERS, _RUNS = 7461_0002, 7461_0003
_LOST = ("57P01", "57P02", "57P03", "57P05", "25P03")
"""SQLSTATE codes: terminated by an administrator, crashed, starting up, idle too long."""


def is_lost(error: Exception) -> bool:
    """Tell whether the connection is lost, as opposed to a rejected statement."""
    if not isinstance(error, DBAPIError) or error.orig is None:
        return False
    if type(error.orig).__module__.startswith("sqlite3"):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return state in _LOST or state.startswith("08")
    return error.connection_invalidated or _unreachable(error)


def _unreachable(error: DBAPIError) -> bool:
    """Tell whether connecting failed, which psycopg reports without a code."""
    return isinstance(error, InterfaceError) or type(error.orig).__name__ == "OperationalError"


def with_reconnect(work: Callable[[], Result]) -> Result:
    """Run a read, and repeat it from the beginning if the connection breaks."""
    for pause in PAUSES:
        try:
            return work()
        except DBAPIError as error:
            if not is_lost(error):
                raise
        time.sleep(pause)
    return work()


def run_lock(run_id: str) -> Any:
    """Return the advisory lock key of a run, which differs between stores in one database."""
    own = func.hashtext(func.current_schema().concat(bindparam(None, run_id)))
    return func.pg_try_advisory_lock(_RUNS, own)


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A statement as SQLite's driver takes it, with the order and the types of its values."""

    sql: str
    row: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    """Reads the values of a row, in the order of the statement."""
    processors: tuple[tuple[int, Callable[[Any], Any]], ...]
    """What changes a value on its way in, by its place."""

    @classmethod
    def of(cls, statement: Executable, columns: Iterable[str], dialect: Dialect) -> Self:
        """Compile a statement for rows of these columns."""
        own = tuple(columns)
        insert: Any = statement
        compiled = insert.compile(dialect=dialect, column_keys=list(own), for_executemany=True)
        names = tuple(compiled.positiontup)
        types = (compiled.binds[name].type.dialect_impl(dialect) for name in names)
        changes = ((place, kind.bind_processor(dialect)) for place, kind in enumerate(types))
        fixed = {name: compiled.params[name] for name in names if name not in own}
        return cls(
            sql=str(compiled),
            row=row_reader(names, fixed),
            processors=tuple((place, change) for place, change in changes if change is not None),
        )

    def values(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of a row in the order of the statement."""
        values = self.row(row)
        if not self.processors:
            return values
        changed = list(values)
        for place, change in self.processors:
            changed[place] = change(changed[place])
        return tuple(changed)


class PreparedStatements:
    """Statements that are executed for many rows, each compiled once.

    SQLAlchemy prepares every row of every batch anew, which takes longer than SQLite needs for it.
    """

    def __init__(self) -> None:
        self._by_statement: WeakKeyDictionary[
            Executable, dict[tuple[str, ...], PreparedStatement]
        ] = WeakKeyDictionary()

    def execute(
        self, connection: Connection, statement: Executable, rows: list[Mapping[str, Any]]
    ) -> CursorResult[Any]:
        """Execute a statement for all rows, which have the same columns."""
        columns = tuple(rows[0])
        by_columns = self._by_statement.setdefault(statement, {})
        if (prepared := by_columns.get(columns)) is None:
            prepared = PreparedStatement.of(statement, columns, connection.dialect)
            by_columns[columns] = prepared
        return connection.exec_driver_sql(prepared.sql, [prepared.values(row) for row in rows])


class Transaction:
    """An open transaction that records its writes, to replay them if the connection is lost.

    All writes are idempotent, except where ``repeatable`` is False.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        lock: str = "",
        repeatable: bool = True,
        restored: Any = None,
        prepared: PreparedStatements | None = None,
        expression: Callable[[Statement], Executable] | None = None,
    ) -> None:
        self._engine = engine
        self._remote = engine.dialect.name == "postgresql"
        self._lock = lock
        self._restored: Callable[[], None] | None = restored
        self._expression = expression
        self._written: list[tuple[Executable, Rows | None]] | None = None
        if self._remote and repeatable:
            self._written = []
        self._rows = 0
        self._prepared = prepared if prepared is not None and not self._remote else None
        self.connection: Connection = with_reconnect(self._begun)

    def execute(
        self, statement: Executable | Statement, rows: Rows | None = None
    ) -> CursorResult[Any]:
        """Execute a statement, once or for all rows."""
        if isinstance(statement, Statement):
            assert self._expression is not None
            statement = self._expression(statement)
        if self._written is not None and not getattr(statement, "is_select", False):
            self._rows += len(rows) if rows is not None else 1
            self._written = None if self._rows > MOST_ROWS else self._written
            if self._written is not None:
                self._written.append((statement, rows))
        if self._prepared is not None and isinstance(rows, list) and rows:
            return self._prepared.execute(self.connection, statement, rows)
        try:
            return self.connection.execute(statement, rows)
        except DBAPIError as error:
            result = self._replay(error)
        if result is not None and not getattr(statement, "is_select", False):
            return result
        return self.connection.execute(statement, rows)

    def scalar(self, query: Executable) -> Any:
        """Return the first value of a query."""
        return self.execute(query).scalar()

    def commit(self) -> None:
        """Commit the transaction."""
        try:
            self.connection.commit()
        except DBAPIError as error:
            # Whether it was committed is unknown; the writes are idempotent.
            self._replay(error)
            self.connection.commit()
        if (file := file_of(self._engine)) is not None:
            file.check(self.connection)
        self.connection.close()

    def abandon(self) -> None:
        """Roll the transaction back."""
        self.connection.close()

    def _begun(self) -> Connection:
        connection = self._engine.connect()
        try:
            if self._remote:
                # Writers wait for each other here, where they hold no other lock.
                own = func.hashtext(func.current_schema().concat(bindparam(None, self._lock)))
                wait = func.set_config("lock_timeout", f"{LOCK_SECONDS}s", True)
                connection.execute(select(wait, func.pg_advisory_xact_lock(_WRITERS, own)))
            else:
                connection.begin()
        except BaseException:
            connection.close()
            raise
        return connection

    def _replay(self, error: DBAPIError) -> CursorResult[Any] | None:
        """Open another connection and replay the writes, or raise the error."""
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

        result = with_reconnect(work)
        if self._restored is not None:
            self._restored()
        return result
