"""Opening of a store: from its name to a database at the current schema, and its secret.

A file at the current schema, or a new one, is opened by the standard library. Servers, addresses
and older files are opened by SQLAlchemy, in ``connect``.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.store import sql
from proctor.store.database import Database
from proctor.store.failure_messages import translated
from proctor.store.places import DEFAULT, SETTING, VARIABLE, check_file, new_secret
from proctor.store.sqlite_connection import SqliteConnection
from proctor.store.statements import statement
from proctor.store.store_file import StoreFile

if TYPE_CHECKING:
    from sqlalchemy import Engine, Executable


@statement
def secret_of(_database: Database) -> "Executable":
    """Select the secret of a store."""
    table = sql.store_settings.c
    return sql.select(table.value).where(table.name == sql.bindparam("name"))


@statement
def put_secret(database: Database) -> "Executable":
    """Insert the secret of a store that has none."""
    return database.upsert(sql.store_settings)


class Secret:
    """The secret of a store, from which keys are derived."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def derive_key(self, purpose: str) -> bytes:
        """Derive the 32-byte key for a purpose; keys reveal nothing of each other."""
        import hashlib
        import hmac

        return hmac.new(self._secret(), purpose.encode(), hashlib.sha256).digest()

    def _secret(self) -> bytes:
        row = self._database.fetch_first(secret_of, {"name": SETTING})
        if row is None:
            # The table was emptied: the first process to generate a secret wins.
            self._database.execute_many(put_secret, [new_secret()])
            row = self._database.fetch_first(secret_of, {"name": SETTING})
            assert row is not None
        return bytes.fromhex(row.value)


def open_database(url: str | None, *, create: bool, parts: str = "") -> Database:
    """Return the database of a store, created or migrated if needed."""
    text = url or os.environ.get(VARIABLE) or str(DEFAULT)
    opened: SqliteConnection | Engine | None = None
    place = text
    if "://" not in text and not text.startswith("file:") and text != ":memory:":
        opened = _open_file(text, create=create)
    if opened is None:
        from proctor.store.connect import open_engine

        opened, place = open_engine(text, create=create)
    return Database(opened, place, parts=parts)


def _open_file(name: str, *, create: bool) -> SqliteConnection | None:
    """Open a file at the current schema, or create one; None for any other."""
    check_file(Path(name), create=create)
    path = os.path.abspath(name)
    with translated(name):
        connection = SqliteConnection(path, StoreFile(path))
        try:
            if _is_current(connection) or (create and _is_created(connection)):
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        return None


def _is_current(connection: SqliteConnection) -> bool:
    """Tell whether a file has the current schema."""
    from proctor.store.sqlite_text import VERSION, VERSION_TABLE

    if VERSION_TABLE not in _tables(connection):
        return False
    row = connection.raw.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()  # noqa: S608  # nosec B608
    return row is not None and row[0] == VERSION


def _tables(connection: SqliteConnection) -> set[Any]:
    own = "type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    query = f"SELECT name FROM sqlite_master WHERE {own}"  # noqa: S608  # nosec B608
    return {name for (name,) in connection.raw.execute(query)}


def _is_created(connection: SqliteConnection) -> bool:
    """Create the current schema in an empty file; return False for one that is not empty."""
    from proctor.store.sqlite_text import SCHEMA, VERSION, VERSION_TABLE

    if _tables(connection):
        return False
    connection.begin()
    try:
        if empty := not _tables(connection):
            for definition in SCHEMA:
                connection.raw.execute(definition)
            connection.execute(put_secret, [new_secret()])
            connection.raw.execute(f"INSERT INTO {VERSION_TABLE} VALUES (?)", (VERSION,))  # noqa: S608  # nosec B608
        connection.commit()
    except BaseException:
        connection.roll_back()
        raise
    # Where another process was faster, its file is current.
    return empty or _is_current(connection)
