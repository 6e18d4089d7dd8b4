"""Opening of a store: from its name to a database at the current schema, and its secret."""

import hashlib
import hmac
import os
import secrets
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError

from proctor.errors import StoreError
from proctor.store.database import OPTION, Database, StoreFile, translated
from proctor.store.schema import VERSION_TABLE, VERSIONS, metadata
from proctor.store.schema import store_settings as table

_NAME = "secret"


class Secret:
    """The secret of a store, from which keys are derived."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def derive_key(self, purpose: str) -> bytes:
        """Derive the 32-byte key for a purpose; keys reveal nothing of each other."""
        return hmac.new(self._secret(), purpose.encode(), hashlib.sha256).digest()

    def _secret(self) -> bytes:
        query = select(table.c.value).where(table.c.name == _NAME)
        row = self._database.fetch_first(query)
        if row is None:
            # The table was emptied: the first process to generate a secret wins.
            self._database.execute_many(self._database.upsert(table), [new_secret()])
            row = self._database.fetch_first(query)
            assert row is not None
        return bytes.fromhex(row.value)


def draw_secret(connection: Connection) -> None:
    """Generate the secret of a new store."""
    connection.execute(insert(table), [new_secret()])


def new_secret() -> dict[str, str]:
    """Return the row of a new random secret."""
    return {"name": _NAME, "value": secrets.token_hex(32)}


VARIABLE = "PROCTOR_STORE"
DEFAULT = Path(".proctor", "proctor.db")
WAIT_SECONDS = 30.0
_LOCK_NUMBER = 7461_0001
_version_table = Table(
    VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True)
)


def open_engine(url: str | None, *, create: bool) -> tuple[Engine, str]:
    """Return the engine of a store, created or migrated if needed, and its name for messages."""
    address = locate(url)
    if address.get_backend_name() == "postgresql":
        engine, place = _postgresql(address)
    else:
        engine, place = _sqlite(address, create=create)
    try:
        _bring_up_to_date(engine, place, create=create)
    except BaseException:
        engine.dispose()
        raise
    return engine, place


def locate(url: str | None) -> URL:
    """Parse a path or a database URL; None means the environment's store or the default."""
    text = url or os.environ.get(VARIABLE) or str(DEFAULT)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        address = make_url(text)
    except (ArgumentError, ValueError):
        raise StoreError(f"not a store address: {_without_secret(text)} ({_EXPECTED})") from None
    if address.get_backend_name() in ("postgresql", "postgres"):
        if "@" in (address.host or ""):
            why = "an @ in a password is written %40"
            raise StoreError(f"not a store address: {_without_secret(text)} ({why})")
        return address.set(drivername="postgresql+psycopg")
    if address.drivername in ("sqlite", "sqlite+pysqlite"):
        return address
    raise StoreError(f"a store cannot be kept in {address.drivername!r} ({_EXPECTED})")


_EXPECTED = "name a file, sqlite:///FILE or postgresql://USER@HOST/NAME"


def _without_secret(text: str) -> str:
    scheme, _, rest = text.partition("://")
    rest = rest.partition("?")[0]
    return f"{scheme}://{'…@' * ('@' in rest)}{rest.rpartition('@')[2]}"


def _postgresql(address: URL) -> tuple[Engine, str]:
    from proctor.io.redaction import SECRETS

    # A password may also be in the query of the URL, which is not hidden.
    place = address.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
    secrets = {name: value for name, value in address.query.items() if name in _SECRETS}
    SECRETS.add(address.password or "", *(str(value) for value in secrets.values()))
    address = address.difference_update_query(secrets)
    try:
        engine = create_engine(
            address, pool_pre_ping=True, hide_parameters=True, connect_args=secrets
        )
    except ImportError:
        raise StoreError(
            f"{place}: a store on PostgreSQL needs psycopg (fix: pip install 'proctor[postgresql]')"
        ) from None
    event.listen(engine, "connect", partial(_refuse_encoding, place), insert=True)
    event.listen(engine, "connect", _on_connect_to_server)
    return engine, place


_SECRETS = ("password", "sslpassword", "passfile", "sslkey")
_SERVER = (
    # A lost machine must not keep its locks for the two hours that TCP allows.
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
    "SET idle_in_transaction_session_timeout = '10min'",
)


def _refuse_encoding(place: str, connection: Any, _record: Any) -> None:
    """Raise if the server's encoding stores bytes instead of characters."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding == "SQL_ASCII":
        raise StoreError(
            f"{place} is a database in the encoding {encoding}, which knows no characters but"
            " those of English (fix: make one that does, createdb --encoding=UTF8"
            " --template=template0 NAME, and name it with --store)"
        )


def _on_connect_to_server(connection: Any, _record: Any) -> None:
    """Configure a new connection to PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("; ".join(_SERVER))
    connection.commit()


def _sqlite(address: URL, *, create: bool) -> tuple[Engine, str]:
    name = address.database
    if not name or name == ":memory:":
        raise StoreError(f"a store must outlive the process: {_EXPECTED}")
    if not name.startswith("file:"):
        _check_file(Path(name), create=create)
    options = {} if "timeout" in address.query else {"timeout": WAIT_SECONDS}
    file = StoreFile.named(name)
    engine = create_engine(address, connect_args=options, execution_options={OPTION: file})
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    if file is not None:
        file.watch(engine)
    return engine, name


def _check_file(path: Path, *, create: bool) -> None:
    """Make sure that a file can be created: its folder exists and it is not a folder."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder (fix: name a file in it with --store)")
        if path.exists():
            return
        if not create:
            raise _nothing_there(str(path))
        _make_folder(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be made: {error.strerror or error}"
            " (fix: name a file in a folder of yours with --store)"
        ) from None


def _make_folder(folder: Path) -> None:
    if folder.exists():
        if not folder.is_dir():
            raise NotADirectoryError(20, f"{folder} is not a folder")
        return
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == DEFAULT.parent.name:
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _on_connect(connection: sqlite3.Connection, _record: Any) -> None:
    """Configure a new SQLite connection: explicit transactions, writers do not block readers."""
    connection.isolation_level = None
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode=WAL").fetchone()
    connection.execute("PRAGMA synchronous=NORMAL")
    # Keys are random: a small cache would make each batch write most index pages.
    connection.execute("PRAGMA wal_autocheckpoint=16000")
    connection.execute("PRAGMA cache_size=-8192")


_WRITES = "writes"
"""Where a connection notes that it has the cache of a writer."""


def _on_begin(connection: Connection) -> None:
    """Take SQLite's write lock first: upgrading a read transaction fails without waiting."""
    write = connection.get_execution_options().get("write")
    if write and not connection.info.get(_WRITES):
        # A cache for the index pages of random keys, which readers do not need.
        connection.exec_driver_sql("PRAGMA cache_size=-65536")
        connection.info[_WRITES] = True
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _bring_up_to_date(engine: Engine, place: str, *, create: bool) -> None:
    with translated(place):
        with engine.connect() as connection:
            version = _version(connection, place)
        if version == VERSIONS[-1]:
            return
        if version is None and not create:
            raise _nothing_there(place)
        with engine.execution_options(write=True).begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK_NUMBER)))
            version = _version(connection, place)
            if version is None:
                _create(connection)
            elif version != VERSIONS[-1]:
                migrate(connection)


def _version(connection: Connection, place: str) -> str | None:
    """Return the schema's version, None for an empty database; reject other databases."""
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        foreign = tables if connection.dialect.name == "sqlite" else tables & metadata.tables.keys()
        if foreign:
            shown = ", ".join(sorted(foreign)[:5])
            raise StoreError(
                f"{place} is a database, but not a store: it has other tables ({shown})"
                " (fix: name another store with --store)"
            )
        return None
    version: str | None = connection.scalar(select(_version_table.c.version_num))
    if version is not None and version not in VERSIONS:
        raise StoreError(
            f"{place} was written by a newer version of Proctor (its schema is {version}; this one"
            f" knows {VERSIONS[-1]}) (fix: pip install --upgrade proctor, or name another store"
            " with --store)"
        )
    return version


def _create(connection: Connection) -> None:
    """Create a store at the current schema, without the slow import of alembic."""
    metadata.create_all(connection)
    _version_table.create(connection)
    draw_secret(connection)
    connection.execute(_version_table.insert().values(version_num=VERSIONS[-1]))


def migrate(connection: Connection, version: str = "head") -> None:
    """Migrate an older or empty store to the current schema."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "proctor.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def _nothing_there(place: str) -> StoreError:
    return StoreError(f"there is no store at {place}; run `proctor run` first")
