"""One database: its transactions, queries, upserts, and errors with a fix.

All repositories of a store share one: their writes inside ``batch()`` are one transaction. A store
that is a file is opened without SQLAlchemy, and stays so until a query comes that is no text yet.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from proctor.io.concurrency import batched
from proctor.store.failure_messages import translated
from proctor.store.statements import Statement

if TYPE_CHECKING:
    from sqlalchemy import (
        Column,
        ColumnElement,
        Connection,
        Engine,
        Executable,
        Select,
        Table,
    )

    from proctor.store.sqlite_connection import SqliteConnection
    from proctor.store.store_file import StoreFile
    from proctor.store.transactions import PreparedStatements, Transaction

CHUNK = 500
"""Maximum number of rows or keys in one statement."""

Item = TypeVar("Item")


class Database:
    """A database, with its open transaction, if any."""

    def __init__(self, opened: "Engine | SqliteConnection", place: str, *, parts: str = "") -> None:
        from proctor.store.sqlite_connection import SqliteConnection

        self.place = place
        """The file or address, as messages name it."""
        self.parts = parts
        """The address of the files of large runs, if a person named one."""
        self._direct: SqliteConnection | None = None
        """The connection by the standard library, until SQLAlchemy takes over."""
        self._engine: Engine | None = None
        self._options: dict[str, Engine] = {}
        """The engine with options, by what it is for."""
        if isinstance(opened, SqliteConnection):
            self._direct = opened
        else:
            self._engine = opened
        self._open: Transaction | None = None
        self._reading: Connection | None = None
        """What answers queries inside ``reading``."""
        self._inserts: dict[tuple[str, ...], Executable] = {}
        self._expressions: dict[str, Executable] = {}
        self._prepared: PreparedStatements | None = None
        self.on_reconnect: list[Callable[[], None]] = []
        """What gets back, inside a transaction, that which was lost together with a connection."""

    @property
    def engine(self) -> "Engine":
        """Return the engine of SQLAlchemy, which has taken over from here on."""
        if self._engine is None:
            from proctor.store.connect import engine_for

            assert self._direct is not None
            self._engine = engine_for(self._direct)
        if self._direct is not None and self._open is None:
            self._direct.hand_over()
            self._direct = None
        return self._engine

    @property
    def writer(self) -> "Engine":
        """Return the engine whose transactions take the lock of a writer first."""
        return self._engine_with("writer", write=True)

    @property
    def reader(self) -> "Engine":
        """Return the engine for queries outside transactions."""
        if self.is_sqlite:
            return self.engine
        # On a server, a transaction around a single query costs two more round trips.
        return self._engine_with("reader", isolation_level="AUTOCOMMIT")

    def _engine_with(self, purpose: str, **options: Any) -> "Engine":
        engine = self.engine
        if purpose not in self._options:
            self._options[purpose] = engine.execution_options(**options)
        return self._options[purpose]

    @property
    def is_sqlite(self) -> bool:
        """Tell whether the database is a file, not a server."""
        return self._engine is None or self._engine.dialect.name == "sqlite"

    @property
    def file(self) -> "StoreFile | None":
        """Return the file of the store; None on a server."""
        if self._engine is None:
            assert self._direct is not None
            return self._direct.file
        from proctor.store.store_file import file_of

        return file_of(self._engine)

    @property
    def in_transaction(self) -> bool:
        """Tell whether a write transaction is open."""
        return self._open is not None

    def is_there(self) -> bool:
        """Tell whether the store's file is still the one that was opened; True for a server."""
        return self.file is None or self.file.is_there()

    def close(self) -> None:
        """Close the database, but not under a thread that was stopped in a transaction."""
        if self._direct is not None and self._open is None:
            self._direct.close()
        if self._engine is not None:
            self._engine.dispose()

    def expression(self, named: Statement) -> "Executable":
        """Return a statement as an expression."""
        if named.name not in self._expressions:
            self._expressions[named.name] = named.build(self)
        return self._expressions[named.name]

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Write everything inside the block in one transaction, or nothing of it."""
        with self.write():
            yield

    @contextmanager
    def write(self, *, lock: str = "", repeatable: bool = True) -> Iterator["Transaction"]:
        """Open a write transaction, or join the enclosing batch.

        Writers that name the same lock wait for each other. If the connection breaks, only
        repeatable transactions are written again.
        """
        if self._open is not None:
            yield self._open
            return
        with translated(self.place):
            opened = self._begun(lock, repeatable)
            self._open = opened
            try:
                yield opened
                opened.commit()
            except BaseException:
                opened.abandon()
                raise
            finally:
                self._open = None

    def _begun(self, lock: str, repeatable: bool) -> "Transaction":
        if self._engine is None and self._direct is not None:
            from proctor.store.sqlite_connection import SqliteTransaction

            direct: Any = SqliteTransaction(self._direct, self._take_over)
            return cast("Transaction", direct)
        from proctor.store import transactions

        if self._prepared is None:
            self._prepared = transactions.PreparedStatements()
        return transactions.Transaction(
            self.writer,
            lock=lock,
            repeatable=repeatable,
            restored=self._reconnected,
            prepared=self._prepared,
            expression=self.expression,
        )

    def write_aside(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement on a connection of its own, for another thread."""
        with translated(self.place):
            # Meanwhile another thread may hand the file over.
            direct = self._direct
            if self._engine is None and direct is not None:
                from proctor.store.sqlite_connection import SqliteConnection

                with closing(SqliteConnection(direct.path, direct.file)) as aside:
                    aside.begin()
                    aside.execute(statement, list(rows))
                    aside.commit()
                return
            with self.writer.begin() as connection:
                connection.execute(self.expression(statement), rows)

    def _take_over(self) -> None:
        """Leave what follows the open transaction to SQLAlchemy, which is loaded now."""
        if self._engine is None and self._direct is not None:
            from proctor.store.connect import engine_for

            self._engine = engine_for(self._direct)

    def _reconnected(self) -> None:
        for restore in self.on_reconnect:
            restore()

    @contextmanager
    def read(self) -> Iterator["Connection"]:
        """Open a connection for reading, which inside a batch sees the batch's own rows."""
        if self._open is not None:
            yield self._open.connection
            return
        with translated(self.place), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Answer the queries inside the block by one connection of a file.

        Each sees what was written before it, as on a connection of its own, at half the cost.
        """
        if not self.is_sqlite or self._open is not None or self._reading is not None:
            yield
            return
        with translated(self.place):
            engine = self._engine_with("queries", queries=True)
            with engine.connect() as connection:
                self._reading = connection
                try:
                    yield
                finally:
                    self._reading = None

    def execute_many(
        self, statement: "Executable | Statement", rows: Iterable[Mapping[str, Any]]
    ) -> None:
        """Execute a statement for all rows in one transaction."""
        with self.write() as connection:
            for chunk in chunks(rows):
                connection.execute(statement, chunk)

    def delete_keys(self, table: str, keys: Collection[str]) -> None:
        """Delete the rows with some keys in one transaction; without keys, do nothing."""
        if keys:
            from sqlalchemy import delete

            from proctor.store.schema import metadata

            rows = metadata.tables[table]
            with self.write() as connection:
                for chunk in chunks(keys):
                    connection.execute(delete(rows).where(rows.c.key.in_(chunk)))

    def fetch_all(
        self,
        query: "Select[Any] | Statement",
        values: Mapping[str, Any] | None = None,
    ) -> Sequence[Any]:
        """Return all rows of a query."""
        if self._open is not None:
            rows: Sequence[Any] = self._open.execute(query, values).all()
            return rows
        if self._engine is None and self._direct is not None and isinstance(query, Statement):
            with translated(self.place):
                return self._direct.fetch(query, values)
        return self._fetched(query, values)

    def _fetched(
        self, query: "Select[Any] | Statement", values: Mapping[str, Any] | None
    ) -> Sequence[Any]:
        from proctor.store.transactions import with_reconnect

        expression = self.expression(query) if isinstance(query, Statement) else query

        if self._reading is not None:
            with translated(self.place):
                return self._reading.execute(expression, values).all()

        def fetched() -> Sequence[Any]:
            with self.reader.connect() as connection:
                return connection.execute(expression, values).all()

        with translated(self.place):
            return with_reconnect(fetched)

    def fetch_first(
        self, query: "Select[Any] | Statement", values: Mapping[str, Any] | None = None
    ) -> Any | None:
        """Return the first row of a query, or None."""
        return next(iter(self.fetch_all(query, values)), None)

    def count(
        self, query: "Select[Any] | Statement", values: Mapping[str, Any] | None = None
    ) -> int:
        """Return the single number of a query, 0 if there is none."""
        row = self.fetch_first(query, values)
        return 0 if row is None else int(row[0])

    def fetch_among(
        self, query: "Select[Any]", column: "Column[Any]", keys: Iterable[str]
    ) -> Iterator[Any]:
        """Yield the rows whose column has one of many keys."""
        yield from self.fetch_keyed(among(query, column), keys)

    def fetch_cases(
        self, query: "Select[Any]", owner: "Column[Any]", key: str, case_ids: Iterable[str]
    ) -> Iterator[Any]:
        """Yield the rows of some cases of a run or suite, which ``owner`` names.

        Places are found by id in an index first: asked for whole rows by id, SQLite goes through
        all rows of the owner.
        """
        from sqlalchemy import select

        table = owner.table
        other = table.alias()
        places = select(other.c.position).where(other.c[owner.name] == key)
        rows = query.where(owner == key, table.c.position.in_(among(places, other.c.case_id)))
        yield from self.fetch_keyed(rows, case_ids)

    def fetch_keyed(self, query: "Select[Any] | Statement", keys: Iterable[str]) -> Iterator[Any]:
        """Yield the rows of an ``among`` query for many keys."""
        for chunk in chunks(dict.fromkeys(keys)):
            yield from self.fetch_all(query, {"keys": chunk})

    def stored_among(self, table: str, keys: Sequence[str]) -> Sequence[str]:
        """Return which of some keys a table may have, at little cost where it has none of them.

        In a transaction, or on a server, that is not known without reading them, so all may be.
        """
        if self._open is not None or not self.is_sqlite or not keys:
            return keys
        query = f"SELECT key FROM {table} WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608  # nosec B608
        with translated(self.place):
            if self._engine is None and self._direct is not None:
                self._direct.file.on_begin(self._direct)
                rows = self._direct.raw.execute(query, (json.dumps(keys),)).fetchall()
            else:
                with closing(self.engine.raw_connection()) as connection:
                    rows = connection.cursor().execute(query, (json.dumps(keys),)).fetchall()
        return [key for (key,) in rows]

    def fetch_pages(
        self, query: "Select[Any]", column: "Column[int]", after: int, limit: int | None
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
        table: "Table",
        *,
        replace: Iterable[str] = (),
        where: "ColumnElement[bool] | None" = None,
    ) -> "Executable":
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
        self, table: "Table", names: Sequence[str], where: "ColumnElement[bool] | None"
    ) -> "Executable":
        statement = self._insert()(table)
        columns = [column.name for column in table.primary_key]
        new = {name: statement.excluded[name] for name in names}
        upsert: Executable = (
            statement.on_conflict_do_update(index_elements=columns, set_=new, where=where)
            if names
            else statement.on_conflict_do_nothing(index_elements=columns)
        )
        return upsert

    def _insert(self) -> "Callable[[Table], Any]":
        if not self.is_sqlite:
            from sqlalchemy.dialects.postgresql import insert as postgresql_insert

            return postgresql_insert
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert


def among(query: "Select[Any]", column: "Column[Any]") -> "Select[Any]":
    """Restrict a query to rows whose column is in the bound ``keys``."""
    from sqlalchemy import bindparam

    return query.where(column.in_(bindparam("keys", expanding=True)))


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    """Split a stream into lists short enough for one statement."""
    return batched(items, size)
