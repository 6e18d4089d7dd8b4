"""The file of a store, with its journal: whether they are still those that were opened.

A file that is deleted stays open: whatever is written to it is lost without a word, unless
somebody looks whether it is still there.
"""

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, Engine, event

from proctor.errors import StoreGone

OPTION = "store_file"
"""Under this name an engine holds its file."""
JOURNAL = "-wal"

Identity = tuple[int, int]
"""The device and the number of a file, which no other file has while it is open."""


@dataclass
class StoreFile:
    """A file that holds a store, known by its number."""

    path: str
    _opened: Identity | None = None

    @classmethod
    def named(cls, name: str) -> "StoreFile | None":
        """Return the file of a name as SQLite takes it; none where the store is in memory."""
        if not name.startswith("file:"):
            return cls(os.path.abspath(name))
        parts = urlsplit(name)
        inside = not parts.path or "mode=memory" in parts.query or parts.path == ":memory:"
        return None if inside else cls(os.path.abspath(unquote(parts.path)))

    def watch(self, engine: Engine) -> None:
        """Look after the file with every connection and every transaction of an engine."""
        event.listen(engine, "do_connect", self._on_connecting)
        event.listen(engine, "connect", self._on_connected)
        event.listen(engine, "begin", self._on_begin)
        event.listen(engine, "commit", self.check)

    def is_there(self) -> bool:
        """Tell whether the file is still the one that was opened."""
        return self._opened is None or _identity(self.path) == self._opened

    def check(self, connection: Connection) -> None:
        """Raise a StoreGone where what a connection writes to lies no longer at its path."""
        self._compare(self.path, self._opened)
        self._compare(self.path + JOURNAL, connection.info.get(JOURNAL))

    def _on_connecting(self, *_args: Any) -> None:
        """Open no other file in its place, and make none."""
        self._compare(self.path, self._opened)

    def _on_connected(self, connection: Any, record: Any) -> None:
        """Remember which file it is; the first read opens the journal."""
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
            " the same command again: it begins a new store, and asks anew what was not kept)"
        )


def file_of(engine: Engine) -> StoreFile | None:
    """Return the file of an engine's store; none where there is none."""
    file: StoreFile | None = engine.get_execution_options().get(OPTION)
    return file


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
