"""A connection to a store's file by the standard library, for statements that are text already."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from proctor.store.cells import READERS
from proctor.store.rows import escape, needs_escape
from proctor.store.statements import Statement
from proctor.store.store_file import StoreFile

if TYPE_CHECKING:
    from sqlalchemy import Connection, Executable

WAIT_SECONDS = 30.0
"""How long a writer waits for another one."""
PAUSE_SECONDS = 0.01
"""How long between two tries, where SQLite does not wait itself."""
WRITES = "writes"
"""Where a connection notes that it has the cache of a writer."""
WRITER_CACHE = "PRAGMA cache_size=-65536"
"""A cache for the index pages of random keys, which readers do not need."""
FEWEST_ROWS = 100
"""From so many rows on it is worth to look for what all of them lack."""
TOGETHER = 25
"""How many rows are inserted by one statement."""
MOST_VALUES = 900
"""How many values a statement may have in every version of SQLite."""
KEYS = "keys"
"""The name of the one value of a statement that may be a list."""
_LISTED = f"(__[POSTCOMPILE_{KEYS}])"


def set_up(connection: sqlite3.Connection) -> None:
    """Configure a new connection: explicit transactions, writers do not block readers."""
    connection.isolation_level = None
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        _write_ahead(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    # Keys are random: a small cache would make each batch write most index pages.
    connection.execute("PRAGMA wal_autocheckpoint=16000")
    connection.execute("PRAGMA cache_size=-8192")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a file to a log that is written ahead, waiting for whoever uses it at the moment.

    SQLite itself does not wait here, where two processes that open a new file may both want to.
    """
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        else:
            return
        time.sleep(PAUSE_SECONDS)


class StoredRow:
    """A row of a query, by the names of its columns or in their order."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: Mapping[str, int], values: tuple[Any, ...]) -> None:
        self._places = places
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[self._places[name]]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, place: int) -> Any:
        return self._values[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class SqliteStatement:
    """The text of a statement, with the order of its values and the kinds of its columns."""

    __slots__ = ("_fixed", "_kinds", "_names", "_read", "_texts", "places", "sql")

    def __init__(
        self,
        sql: str,
        names: tuple[str, ...],
        fixed: Mapping[str, Any],
        texts: tuple[int, ...],
        columns: tuple[tuple[str, str], ...],
    ) -> None:
        self.sql = sql
        self._names = names
        self._fixed = fixed
        self._texts = texts
        """The places of values that may have characters which a database rejects."""
        self.places = {name: place for place, (name, _) in enumerate(columns)}
        self._kinds = [
            (place, READERS[kind]) for place, (_, kind) in enumerate(columns) if kind in READERS
        ]
        self._read = row_reader(names, fixed)

    def values(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of a row in the order of the statement."""
        values = self._read(row)
        if not self._texts:
            return values
        changed = list(values)
        for place in self._texts:
            value = changed[place]
            if value is not None:
                changed[place] = escape(value)
        return tuple(changed)

    def for_rows(self, rows: Sequence[Mapping[str, Any]]) -> tuple[str, Iterator[tuple[Any, ...]]]:
        """Return the text and the values for many rows.

        What none of them has is part of the text: to hand over that a value is missing takes
        longer than to hand over a value.
        """
        first = rows[0] if len(rows) >= FEWEST_ROWS and self.sql.startswith("INSERT") else {}
        missing = [
            name
            for name in self._names
            if name in first and first[name] is None and all(row[name] is None for row in rows)
        ]
        if not missing or self.sql.count("?") != len(self._names):
            return self.sql, self._all_values(rows)
        marks = ["NULL" if name in missing else "?" for name in self._names]
        parts = self.sql.split("?")
        sql = "".join(part for pair in zip(parts, [*marks, ""], strict=True) for part in pair)
        names = tuple(name for name in self._names if name not in missing)
        texts = tuple(names.index(self._names[i]) for i in self._texts if self._names[i] in names)
        return sql, SqliteStatement(sql, names, self._fixed, texts, ())._all_values(rows)

    def _all_values(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
        """Return the values of many rows; most have no character that a database rejects."""
        for place in self._texts:
            name = self._names[place]
            if name in self._fixed or needs_escape("".join([row[name] or "" for row in rows])):
                return map(self.values, rows)
        return map(self._read, rows)

    def with_keys(self, row: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the text and the values for a list of keys."""
        keys = row[KEYS]
        marks = ", ".join("?" * len(keys)) if keys else "SELECT 1 FROM (SELECT 1) WHERE 1!=1"
        place, values = self._names.index(KEYS), self.values(row)
        listed = (*values[:place], *keys, *values[place + 1 :])
        return self.sql.replace(_LISTED, f"({marks})"), listed

    @property
    def has_keys(self) -> bool:
        """Tell whether one of its values is a list."""
        return KEYS in self._names

    def row(self, values: tuple[Any, ...]) -> StoredRow:
        """Return a row as its columns are to be read."""
        if self._kinds:
            changed = list(values)
            for place, read in self._kinds:
                changed[place] = read(changed[place])
            values = tuple(changed)
        return StoredRow(self.places, values)


def row_reader(
    names: tuple[str, ...], fixed: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what reads the values of a row, and takes those that are fixed from elsewhere."""
    own = tuple(name for name in names if name not in fixed)
    if len(own) > 1 and names[: len(own)] == own:
        read: Any = itemgetter(*own)
        last = tuple(fixed[name] for name in names[len(own) :])
        return read if not last else lambda row: read(row) + last
    return lambda row: tuple(fixed[name] if name in fixed else row[name] for name in names)


class Fetched:
    """What a statement returned."""

    __slots__ = ("_rows", "rowcount")

    def __init__(self, rows: Sequence[StoredRow], rowcount: int) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def all(self) -> Sequence[StoredRow]:
        """Return all rows."""
        return self._rows

    def first(self) -> StoredRow | None:
        """Return the first row, or None."""
        return next(iter(self._rows), None)

    def scalar(self) -> Any:
        """Return the first value of the first row, or None."""
        row = self.first()
        return None if row is None else row[0]


class SqliteConnection:
    """An open file of a store, for one thread at a time."""

    def __init__(self, path: str, file: StoreFile) -> None:
        self.path = path
        self.file = file
        self.info: dict[Any, Any] = {}
        self._statements: dict[str, SqliteStatement] = {}
        file.before_connecting()
        self.raw = sqlite3.connect(path, timeout=WAIT_SECONDS, check_same_thread=False)
        try:
            set_up(self.raw)
            file.on_connected(self.raw, self)
        except BaseException:
            self.raw.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self.raw.close()

    def hand_over(self) -> None:
        """Close the file for another connection, which could not tell what happened before it."""
        try:
            self.file.check(self)
        finally:
            self.close()

    def begin(self) -> None:
        """Take SQLite's write lock first: upgrading a read transaction fails without waiting."""
        if not self.info.get(WRITES):
            self.raw.execute(WRITER_CACHE)
            self.info[WRITES] = True
        self.raw.execute("BEGIN IMMEDIATE")
        try:
            self.file.on_begin(self)
        except BaseException:
            self.roll_back()
            raise

    def commit(self) -> None:
        """Commit what was written, if the file is still there before and after it."""
        self.file.check(self)
        self.raw.execute("COMMIT")
        self.file.check(self)

    def roll_back(self) -> None:
        """Take back what was written."""
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")

    def fetch(self, query: Statement, values: Mapping[str, Any] | None) -> Sequence[StoredRow]:
        """Return all rows of a query outside a transaction."""
        self.file.on_begin(self)
        return self.execute(query, values).all()

    def execute(self, named: Statement, rows: Any = None) -> Fetched:
        """Execute a statement, once or for all rows."""
        text = self._text(named)
        if isinstance(rows, list):
            sql, all_values = text.for_rows(rows)
            count = 0
            if len(rows) >= FEWEST_ROWS and (together := _together(sql)) is not None:
                several, own = together
                whole = len(rows) // TOGETHER * TOGETHER
                groups = zip(*[islice(all_values, whole)] * TOGETHER, strict=True)
                joined = (_joined(group, own) for group in groups)
                count = self.raw.executemany(several, joined).rowcount
            return Fetched((), count + self.raw.executemany(sql, all_values).rowcount)
        row = rows or {}
        sql, values = text.with_keys(row) if text.has_keys else (text.sql, text.values(row))
        cursor = self.raw.execute(sql, values)
        return Fetched([text.row(one) for one in cursor.fetchall()], cursor.rowcount)

    def _text(self, named: Statement) -> SqliteStatement:
        if (text := self._statements.get(named.name)) is None:
            from proctor.store.sqlite_text import TEXTS

            text = self._statements[named.name] = SqliteStatement(*TEXTS[named.name])
        return text


@lru_cache(maxsize=64)
def _together(sql: str) -> tuple[str, int] | None:
    """Return an insert of several rows at once, and how many values each row has of its own.

    SQLite takes two thirds of the time for them: what it does for each statement it does once.
    """
    head, values, rest = sql.partition(" VALUES (")
    marks, end, tail = rest.partition(")")
    if not head.startswith("INSERT") or not values or not end or "(" in marks or "'" in sql:
        return None
    own = marks.count("?")
    if not own or own * TOGETHER > MOST_VALUES:
        return None
    return f"{head} VALUES {', '.join([f'({marks})'] * TOGETHER)}{tail}", own


def _joined(group: Sequence[tuple[Any, ...]], own: int) -> list[Any]:
    """Return the values of several rows, and then those that follow the values of every row."""
    joined = [value for row in group for value in row[:own]]
    return [*joined, *group[0][own:]]


class _Lent:
    """A connection as SQLAlchemy gets it, which neither ends its transaction nor closes it."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def commit(self) -> None:
        """Leave the transaction open."""

    def rollback(self) -> None:
        """Leave the transaction open."""

    def close(self) -> None:
        """Leave the connection open."""


class SqliteTransaction:
    """A transaction of such a connection, with the interface of ``transactions.Transaction``."""

    def __init__(self, opened: SqliteConnection, on_expression: Callable[[], None]) -> None:
        self._opened = opened
        self._on_expression = on_expression
        """Called before the first expression is executed."""
        self._lent_to: Connection | None = None
        opened.begin()

    @property
    def connection(self) -> "Connection":
        """Return the connection for SQLAlchemy, inside this transaction."""
        if self._lent_to is None:
            from sqlalchemy import create_engine
            from sqlalchemy.pool import StaticPool

            self._on_expression()
            lent: Any = _Lent(self._opened.raw)
            engine = create_engine("sqlite://", creator=lambda: lent, poolclass=StaticPool)
            self._lent_to = engine.connect()
        return self._lent_to

    def execute(self, statement: "Executable | Statement", rows: Any = None) -> Any:
        """Execute a statement, once or for all rows."""
        if isinstance(statement, Statement):
            return self._opened.execute(statement, rows)
        return self.connection.execute(statement, rows)

    def scalar(self, query: "Executable | Statement") -> Any:
        """Return the first value of a query."""
        return self.execute(query).scalar()

    def commit(self) -> None:
        """Commit the transaction."""
        self._opened.commit()
        self._leave()

    def abandon(self) -> None:
        """Roll the transaction back."""
        try:
            self._opened.roll_back()
        finally:
            self._leave()

    def _leave(self) -> None:
        if self._lent_to is not None:
            self._lent_to.close()
