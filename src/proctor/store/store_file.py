"""The file of a store: which one was opened, and whether it is still at its path."""

import os
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from proctor.errors import StoreGone
from proctor.records import dataclass

if TYPE_CHECKING:
    from sqlalchemy import Engine

OPTION = "store_file"
"""The execution option under which an engine keeps its file."""
JOURNAL = "-wal"

Identity = tuple[int, int]
"""Device and inode of a file, unique while it is open."""


class HasInfo(Protocol):
    """A connection with notes about it."""

    @property
    def info(self) -> dict[Any, Any]:
        """Return the notes."""


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

    def watch(self, engine: "Engine") -> None:
        """Check the file with every connection and transaction of an engine."""
        from sqlalchemy import event

        event.listen(engine, "do_connect", self._on_connecting)
        event.listen(engine, "connect", self.on_connected)
        event.listen(engine, "begin", self.on_begin)
        event.listen(engine, "commit", self.check)

    def is_there(self) -> bool:
        """Tell whether the file is still the one that was opened."""
        return self._opened is None or _identity(self.path) == self._opened

    def check(self, connection: HasInfo) -> None:
        """Raise a StoreGone if a connection's file is no longer at its path."""
        self._compare(self.path, self._opened)
        self._compare(self.path + JOURNAL, connection.info.get(JOURNAL))

    def before_connecting(self) -> None:
        """Prevent opening or creating another file in its place."""
        self._compare(self.path, self._opened)

    def _on_connecting(self, *_args: Any) -> None:
        self.before_connecting()

    def on_connected(self, connection: Any, record: HasInfo) -> None:
        """Record the file's identity; the first read opens the journal."""
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        if self._opened is None:
            self._opened = _identity(self.path)
        self._compare(self.path, self._opened)
        record.info[JOURNAL] = _identity(self.path + JOURNAL)

    def on_begin(self, connection: HasInfo) -> None:
        """Check the file at the beginning of a transaction."""
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


def file_of(engine: "Engine") -> StoreFile | None:
    """Return the file of an engine's store, or None."""
    file: StoreFile | None = engine.get_execution_options().get(OPTION)
    return file


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
