"""What a person reads when a database fails: the store, the reason, and a fix."""

import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from proctor.errors import StoreError

_SQLITE: Mapping[str, str] = {
    "SQLITE_BUSY": "{place} is locked by another process (fix: wait until it is done, or name"
    " another store with --store)",
    "SQLITE_LOCKED": "{place} is locked by another process (fix: wait until it is done, or name"
    " another store with --store)",
    "SQLITE_READONLY_DBMOVED": "{place} was moved or deleted while it was in use (fix: put it back,"
    " or start the same command again: it begins a new store)",
    "SQLITE_READONLY": "{place} cannot be written: it is read-only (fix: make the file and its"
    " folder writable, or name another store with --store)",
    "SQLITE_PERM": "{place} cannot be opened: permission denied (fix: make the file and its folder"
    " readable and writable, or name another store with --store)",
    "SQLITE_CANTOPEN": "{place} cannot be opened (fix: check that its folder exists and that you"
    " may write there, or name another store with --store)",
    "SQLITE_NOTADB": "{place} is not a store: the file is not a database (fix: name another file"
    " with --store)",
    "SQLITE_CORRUPT": "{place} is damaged (fix: restore it from a copy, or move it away and run"
    " again)",
    "SQLITE_FULL": "{place} cannot grow: the disk is full (fix: free some space)",
    "SQLITE_IOERR": "{place} cannot be read or written: the disk reports an error (fix: check the"
    " disk and its free space)",
}


_POSTGRESQL: Mapping[str, str] = {
    "55P03": "{place} is locked by another process (fix: wait until it is done)",
    "25006": "{place} cannot be written: it is read-only (fix: name the server that takes writes,"
    " or another store with --store)",
    "42501": "{place} cannot be used: permission denied (fix: let its owner grant you more)",
    "53100": "{place} cannot grow: the disk is full (fix: free some space on the server)",
    "22P05": "{place} cannot hold a character: its encoding has none such (fix: createdb"
    " --encoding=UTF8 --template=template0 NAME, and name it with --store)",
    "53300": "{place} has too many connections (fix: wait, or let its owner allow more)",
    "54000": "{place} refuses the id of a case, a tag or a name: it has more than 2,000 characters"
    " (fix: shorten it)",
}
_GONE = (
    "the connection to {place} was lost, or cannot be made: {reason} (fix: see to the server; the"
    " same command goes on, and what was stored is kept)"
)


def message_for(place: str, error: Exception, *, lost: bool) -> str:
    """Say what is wrong with the store at a place, and how to mend it."""
    # An error of SQLAlchemy names that of the database's own library.
    cause = getattr(error, "orig", None) or error
    name = getattr(cause, "sqlite_errorname", None) or ""
    for code, template in _SQLITE.items():
        if name == code or name.startswith(f"{code}_"):
            return template.format(place=place)
    if (words := _POSTGRESQL.get(getattr(cause, "sqlstate", None) or "")) is not None:
        return words.format(place=place)
    reason = next(iter(str(cause).splitlines()), type(cause).__name__)
    if lost:
        return _GONE.format(place=place, reason=reason)
    return f"the store at {place} failed: {reason}"


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn database exceptions into StoreErrors that name the store and a fix."""
    try:
        yield
    except database_errors() as error:
        raise StoreError(message_for(place, error, lost=_is_lost(error))) from error


def database_errors() -> tuple[type[Exception], ...]:
    """Return what databases raise; where SQLAlchemy is not loaded, nothing of it can be raised."""
    loaded = sys.modules.get("sqlalchemy.exc")
    return (sqlite3.Error,) if loaded is None else (sqlite3.Error, loaded.SQLAlchemyError)


def _is_lost(error: Exception) -> bool:
    """Tell whether the connection is lost; that to a file never is."""
    if isinstance(error, sqlite3.Error):
        return False
    from proctor.store.transactions import is_lost

    return is_lost(error)
