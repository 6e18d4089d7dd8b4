"""What would be too much to hold: a database of this process alone, in a file without a name."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from proctor.errors import StoreError

MOST_IN_MEMORY = 5_000
"""How many entries of a mapping are simply held; beyond, all of them go to a database."""
_CACHE = 16 * 1024
"""How much of a database is held, in KiB."""

Key = TypeVar("Key", int, str)
Value = TypeVar("Value", int, str)


class TemporaryDatabase:
    """A database that nobody else sees, and of which nothing is left, however the process ends."""

    def __init__(self, schema: str) -> None:
        self._connection = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        for statement in (
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            f"PRAGMA cache_size = -{_CACHE}",
            "BEGIN",
            schema,
        ):
            self.change(statement)

    def change(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement, and return how many rows it changed."""
        try:
            return self._connection.execute(statement, parameters).rowcount
        except sqlite3.Error as error:
            raise _failed(error) from None

    def change_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once a row."""
        try:
            self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise _failed(error) from None

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, one by one."""
        try:
            yield from self._connection.execute(query, parameters)
        except sqlite3.Error as error:
            raise _failed(error) from None

    def first(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first value of a query; none where there is no row."""
        return next(self.rows(query, parameters), (None,))[0]

    def __del__(self) -> None:
        self._connection.close()


class FirstEntries(Generic[Key, Value]):
    """A mapping that keeps the first value of each key, in a few bytes of memory however many."""

    def __init__(self) -> None:
        self._few: dict[Key, Value] | None = {}
        self._many: TemporaryDatabase | None = None

    def add(self, key: Key, value: Value) -> Value | None:
        """Enter a value; where the key has one, return that instead."""
        if self._many is None:
            assert self._few is not None
            if (first := self._few.get(key)) is not None:
                return first
            self._few[key] = value
            if len(self._few) > MOST_IN_MEMORY:
                self._move()
            return None
        row = (as_column(key), value)
        if self._many.change("INSERT OR IGNORE INTO entries VALUES (?, ?)", row):
            return None
        stored: Value = self._many.first("SELECT value FROM entries WHERE key = ?", row[:1])
        return stored

    def _move(self) -> None:
        entries, self._few = self._few or {}, None
        self._many = TemporaryDatabase(
            "CREATE TABLE entries (key PRIMARY KEY, value) WITHOUT ROWID"
        )
        rows = ((as_column(key), value) for key, value in entries.items())
        self._many.change_many("INSERT INTO entries VALUES (?, ?)", rows)


def as_column(key: int | str) -> int | bytes:
    """Return a key as SQLite takes it; a text may hold half of a surrogate pair."""
    return key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key


def _failed(error: sqlite3.Error) -> StoreError:
    import tempfile

    return StoreError(
        f"a temporary file in {tempfile.gettempdir()} failed: {error}"
        " (fix: make room there, or name another folder in TMPDIR)"
    )
