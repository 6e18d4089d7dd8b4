"""Opening of a store by SQLAlchemy: servers, addresses, and files of earlier versions."""

import os
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
from proctor.store.failure_messages import translated
from proctor.store.places import (
    DEFAULT,
    EXPECTED,
    VARIABLE,
    check_file,
    new_secret,
    nothing_there,
)
from proctor.store.schema import VERSION_TABLE, VERSIONS, metadata, store_settings
from proctor.store.sqlite_connection import (
    WAIT_SECONDS,
    WRITER_CACHE,
    WRITES,
    SqliteConnection,
    set_up,
)
from proctor.store.store_file import OPTION, StoreFile

_LOCK_NUMBER = 7461_0001
version_table = Table(
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
        raise StoreError(f"not a store address: {_without_secret(text)} ({EXPECTED})") from None
    if address.get_backend_name() in ("postgresql", "postgres"):
        if "@" in (address.host or ""):
            why = "an @ in a password is written %40"
            raise StoreError(f"not a store address: {_without_secret(text)} ({why})")
        return address.set(drivername="postgresql+psycopg")
    if address.drivername in ("sqlite", "sqlite+pysqlite"):
        return address
    raise StoreError(f"a store cannot be kept in {address.drivername!r} ({EXPECTED})")


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
        raise StoreError(f"a store must outlive the process: {EXPECTED}")
    if not name.startswith("file:"):
        check_file(Path(name), create=create)
    return _file_engine(address, StoreFile.named(name)), name


def engine_for(opened: SqliteConnection) -> Engine:
    """Return the engine for a file that is open already."""
    return _file_engine(URL.create("sqlite", database=opened.path), opened.file)


def _file_engine(address: URL, file: StoreFile | None) -> Engine:
    options = {} if "timeout" in address.query else {"timeout": WAIT_SECONDS}
    engine = create_engine(address, connect_args=options, execution_options={OPTION: file})
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    if file is not None:
        file.watch(engine)
    return engine


def _on_connect(connection: sqlite3.Connection, _record: Any) -> None:
    set_up(connection)


def _on_begin(connection: Connection) -> None:
    """Take SQLite's write lock first: upgrading a read transaction fails without waiting."""
    options = connection.get_execution_options()
    if options.get("queries"):
        # Each query is a transaction of its own.
        return
    write = options.get("write")
    if write and not connection.info.get(WRITES):
        connection.exec_driver_sql(WRITER_CACHE)
        connection.info[WRITES] = True
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _bring_up_to_date(engine: Engine, place: str, *, create: bool) -> None:
    with translated(place):
        with engine.connect() as connection:
            version = _version(connection, place)
        if version == VERSIONS[-1]:
            return
        if version is None and not create:
            raise nothing_there(place)
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
    version: str | None = connection.scalar(select(version_table.c.version_num))
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
    version_table.create(connection)
    connection.execute(insert(store_settings), [new_secret()])
    connection.execute(version_table.insert().values(version_num=VERSIONS[-1]))


def migrate(connection: Connection, version: str = "head") -> None:
    """Migrate an older or empty store to the current schema."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "proctor.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, version)
