"""One database: its file, its transactions, upserts, and errors with a fix.

All repositories of a store share one: their writes inside ``batch()`` are one transaction.
"""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self, TypeVar
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    CursorResult,
    Dialect,
    Engine,
    Executable,
    Select,
    Table,
    bindparam,
    delete,
    event,
    func,
    select,
)
from sqlalchemy.exc import DBAPIError, InterfaceError, SQLAlchemyError

from proctor.errors import StoreError, StoreGone
from proctor.io.concurrency import batched

OPTION = "store_file"
"""The execution option under which an engine keeps its file."""
JOURNAL = "-wal"

Identity = tuple[int, int]
"""Device and inode of a file, unique while it is open."""


@dataclass
class StoreFile:
    """The file of a store, identified by its inode."""

    path: str
    _opened: Identity | None = None

    @classmethod
    def named(cls, name: str) -> "StoreFile | None":
        """Return the file that SQLite opens for a name; None for a store in memory."""
        if not name.startswith("file:"):
            return cls(os.path.abspath(name))
        parts = urlsplit(name)
        inside = not parts.path or "mode=memory" in parts.query or parts.path == ":memory:"
        return None if inside else cls(os.path.abspath(unquote(parts.path)))

    def watch(self, engine: Engine) -> None:
        """Check the file with every connection and transaction of an engine."""
        event.listen(engine, "do_connect", self._on_connecting)
        event.listen(engine, "connect", self._on_connected)
        event.listen(engine, "begin", self._on_begin)
        event.listen(engine, "commit", self.check)

    def is_there(self) -> bool:
        """Tell whether the file is still the one that was opened."""
        return self._opened is None or _identity(self.path) == self._opened

    def check(self, connection: Connection) -> None:
        """Raise a StoreGone if a connection's file is no longer at its path."""
        self._compare(self.path, self._opened)
        self._compare(self.path + JOURNAL, connection.info.get(JOURNAL))

    def _on_connecting(self, *_args: Any) -> None:
        """Prevent opening or creating another file in its place."""
        self._compare(self.path, self._opened)

    def _on_connected(self, connection: Any, record: Any) -> None:
        """Record the file's identity; the first read opens the journal."""
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        if self._opened is None:
            self._opened = _identity(self.path)
        self._compare(self.path, self._opened)
        record.info[JOURNAL] = _identity(self.path + JOURNAL)

    def _on_begin(self, connection: Connection) -> None:
        self.check(connection)
        if connection.info.get(JOURNAL) is None:
            connection.info[JOURNAL] = _identity(self.path + JOURNAL)

    def _compare(self, path: str, expected: Identity | None) -> None:
        if expected is None or (current := _identity(path)) == expected:
            return
        what = "deleted" if current is None else "replaced by another file"
        lost = "" if path == self.path else ", and what was written last is lost with it"
        raise StoreGone(
            f"{path} was {what} while it was in use{lost} (fix: put it back from a copy, or start"
            " the same command again: it begins a new store, and asks again what was not stored)"
        )


def file_of(engine: Engine) -> StoreFile | None:
    """Return the file of an engine's store, or None."""
    file: StoreFile | None = engine.get_execution_options().get(OPTION)
    return file


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


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
    constants: tuple[Any, ...]
    """Values that are the same for every row, and come after its own."""
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
        last = max(place for place, name in enumerate(names) if name in own)
        fixed = {name: compiled.params[name] for name in names if name not in own}
        return cls(
            sql=str(compiled),
            row=_reader(names[: last + 1], fixed),
            constants=tuple(fixed[name] for name in names[last + 1 :]),
            processors=tuple((place, change) for place, change in changes if change is not None),
        )

    def values(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of a row in the order of the statement."""
        values = self.row(row) + self.constants
        if not self.processors:
            return values
        changed = list(values)
        for place, change in self.processors:
            changed[place] = change(changed[place])
        return tuple(changed)


def _reader(
    names: tuple[str, ...], fixed: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what reads the values of a row, and takes those that are fixed from elsewhere."""
    if len(names) > 1 and not fixed.keys() & set(names):
        return itemgetter(*names)
    return lambda row: tuple(fixed[name] if name in fixed else row[name] for name in names)


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
    ) -> None:
        self._engine = engine
        self._remote = engine.dialect.name == "postgresql"
        self._lock = lock
        self._restored: Callable[[], None] | None = restored
        self._written: list[tuple[Executable, Rows | None]] | None = None
        if self._remote and repeatable:
            self._written = []
        self._rows = 0
        self._prepared = prepared if prepared is not None and not self._remote else None
        self.connection: Connection = with_reconnect(self._begun)

    def execute(self, statement: Executable, rows: Rows | None = None) -> CursorResult[Any]:
        """Execute a statement, once or for all rows."""
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


CHUNK = 500
"""Maximum number of rows or keys in one statement."""

Item = TypeVar("Item")


class Database:
    """The engine of a store, with its open transaction, if any."""

    def __init__(self, engine: Engine, place: str, *, parts: str = "") -> None:
        self.place = place
        """The file or address, as messages name it."""
        self.parts = parts
        """The address of the files of large runs, if a person named one."""
        self.engine = engine
        self.writer = engine.execution_options(write=True)
        # On a server, a transaction around a single query costs two more round trips.
        self.reader = (
            engine if self.is_sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        )
        self._open: Transaction | None = None
        self._inserts: dict[tuple[str, ...], Executable] = {}
        self._prepared = PreparedStatements()
        self.on_reconnect: list[Callable[[], None]] = []
        """What gets back, inside a transaction, that which was lost together with a connection."""

    @property
    def is_sqlite(self) -> bool:
        """Tell whether the database is a file, not a server."""
        return self.engine.dialect.name == "sqlite"

    @property
    def in_transaction(self) -> bool:
        """Tell whether a write transaction is open."""
        return self._open is not None

    def is_there(self) -> bool:
        """Tell whether the store's file is still the one that was opened; True for a server."""
        file = file_of(self.engine)
        return file is None or file.is_there()

    def close(self) -> None:
        """Close the database."""
        self.engine.dispose()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Write everything inside the block in one transaction, or nothing of it."""
        with self.write():
            yield

    @contextmanager
    def write(self, *, lock: str = "", repeatable: bool = True) -> Iterator[Transaction]:
        """Open a write transaction, or join the enclosing batch.

        Writers that name the same lock wait for each other. If the connection breaks, only
        repeatable transactions are written again.
        """
        if self._open is not None:
            yield self._open
            return
        with translated(self.place):
            opened = Transaction(
                self.writer,
                lock=lock,
                repeatable=repeatable,
                restored=self._reconnected,
                prepared=self._prepared,
            )
            self._open = opened
            try:
                yield opened
                opened.commit()
            except BaseException:
                opened.abandon()
                raise
            finally:
                self._open = None

    def _reconnected(self) -> None:
        for restore in self.on_reconnect:
            restore()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a connection for reading, which inside a batch sees the batch's own rows."""
        if self._open is not None:
            yield self._open.connection
            return
        with translated(self.place), self.engine.connect() as connection:
            yield connection

    def execute_many(self, statement: Executable, rows: Iterable[Mapping[str, Any]]) -> None:
        """Execute a statement for all rows in one transaction."""
        with self.write() as connection:
            for chunk in chunks(rows):
                connection.execute(statement, chunk)

    def delete_keys(self, table: Table, keys: Collection[str]) -> None:
        """Delete the rows with some keys in one transaction; without keys, do nothing."""
        if keys:
            with self.write() as connection:
                for chunk in chunks(keys):
                    connection.execute(delete(table).where(table.c.key.in_(chunk)))

    def fetch_all(
        self, query: Select[Any], values: Mapping[str, Sequence[str]] | None = None
    ) -> Sequence[Any]:
        """Return all rows of a query."""
        if self._open is not None:
            return self._open.execute(query, values).all()

        def fetched() -> Sequence[Any]:
            with self.reader.connect() as connection:
                return connection.execute(query, values).all()

        with translated(self.place):
            return with_reconnect(fetched)

    def fetch_first(self, query: Select[Any]) -> Any | None:
        """Return the first row of a query, or None."""
        return next(iter(self.fetch_all(query)), None)

    def count(self, query: Select[Any]) -> int:
        """Return the single number of a query, 0 if there is none."""
        row = self.fetch_first(query)
        return 0 if row is None else int(row[0])

    def fetch_among(
        self, query: Select[Any], column: Column[Any], keys: Iterable[str]
    ) -> Iterator[Any]:
        """Yield the rows whose column has one of many keys."""
        yield from self.fetch_keyed(among(query, column), keys)

    def fetch_cases(
        self, query: Select[Any], owner: Column[Any], key: str, case_ids: Iterable[str]
    ) -> Iterator[Any]:
        """Yield the rows of some cases of a run or suite, which ``owner`` names.

        Places are found by id in an index first: asked for whole rows by id, SQLite goes through
        all rows of the owner.
        """
        table = owner.table
        other = table.alias()
        places = select(other.c.position).where(other.c[owner.name] == key)
        rows = query.where(owner == key, table.c.position.in_(among(places, other.c.case_id)))
        yield from self.fetch_keyed(rows, case_ids)

    def fetch_keyed(self, query: Select[Any], keys: Iterable[str]) -> Iterator[Any]:
        """Yield the rows of an ``among`` query for many keys."""
        for chunk in chunks(dict.fromkeys(keys)):
            yield from self.fetch_all(query, {"keys": chunk})

    def stored_among(self, table: Table, keys: Sequence[str]) -> Sequence[str]:
        """Return which of some keys a table may have, at little cost where it has none of them.

        In a transaction, or on a server, that is not known without reading them, so all may be.
        """
        if self._open is not None or not self.is_sqlite or not keys:
            return keys
        query = f"SELECT key FROM {table.name} WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608  # nosec B608
        with translated(self.place), closing(self.engine.raw_connection()) as connection:
            rows = connection.cursor().execute(query, (json.dumps(keys),)).fetchall()
        return [key for (key,) in rows]

    def fetch_pages(
        self, query: Select[Any], column: Column[int], after: int, limit: int | None
    ) -> Iterator[Any]:
        """Yield rows in the order of a column, one page in memory at a time.

        The column must come first in the query and be unique.
        """
        while limit is None or limit > 0:
            size = CHUNK if limit is None else min(CHUNK, limit)
            page = self.fetch_all(query.where(column > after).order_by(column).limit(size))
            yield from page
            if len(page) < size:
                return
            after = page[-1][0]
            limit = None if limit is None else limit - len(page)

    def upsert(
        self,
        table: Table,
        *,
        replace: Iterable[str] = (),
        where: ColumnElement[bool] | None = None,
    ) -> Executable:
        """Make an insert that keeps an existing row, or replaces the given columns of it.

        Standard SQL has no upsert; both databases use the same syntax. Building the statement
        takes longer than running it, so each one is cached.
        """
        names = tuple(replace)
        key = (table.name, *names)
        if key not in self._inserts:
            self._inserts[key] = self._made_upsert(table, names, where)
        return self._inserts[key]

    def _made_upsert(
        self, table: Table, names: Sequence[str], where: ColumnElement[bool] | None
    ) -> Executable:
        statement = self._insert()(table)
        columns = [column.name for column in table.primary_key]
        new = {name: statement.excluded[name] for name in names}
        upsert: Executable = (
            statement.on_conflict_do_update(index_elements=columns, set_=new, where=where)
            if names
            else statement.on_conflict_do_nothing(index_elements=columns)
        )
        return upsert

    def _insert(self) -> Callable[[Table], Any]:
        if self.engine.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert as postgresql_insert

            return postgresql_insert
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert


def among(query: Select[Any], column: Column[Any]) -> Select[Any]:
    """Restrict a query to rows whose column is in the bound ``keys``."""
    return query.where(column.in_(bindparam("keys", expanding=True)))


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    """Split a stream into lists short enough for one statement."""
    return batched(items, size)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn database exceptions into StoreErrors that name the store and a fix."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        from proctor.store.failure_messages import message_for

        raise StoreError(message_for(place, error, lost=is_lost(error))) from error
