"""Stores to test with: SQLite always, PostgreSQL where there is a server.

--postgres may name a database on one; else the package pgserver brings its own.
"""

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import needs
from proctor.store.store import Store

# Where time is short, only what PostgreSQL has for itself is tried on it.
BOTH = ["sqlite", pytest.param("postgresql", marks=(pytest.mark.postgres, pytest.mark.slow))]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """Give the address of a PostgreSQL server, started once for all tests of a process."""
    import sqlalchemy

    if needs.SERVER:
        yield sqlalchemy.make_url(needs.SERVER[0]).set(drivername="postgresql")
        return
    import pgserver

    # Its socket lies in there, and the path of a socket may not be long.
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        running = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            url = sqlalchemy.make_url(running.get_uri())
            with _connected(url) as connection:
                # What these tests write need not outlive the machine.
                for name in ("fsync", "full_page_writes", "synchronous_commit"):
                    connection.exec_driver_sql(f"ALTER SYSTEM SET {name} = off")
                connection.exec_driver_sql("SELECT pg_reload_conf()")
            yield url
        finally:
            running.cleanup()


@contextmanager
def _connected(url: Any) -> Iterator[Any]:
    import sqlalchemy

    engine = sqlalchemy.create_engine(
        url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def postgresql(postgres_server: Any) -> Iterator[str]:
    """Give the address of an empty schema on PostgreSQL."""
    schema = f"test_{uuid.uuid4().hex}"
    with _connected(postgres_server) as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    own = postgres_server.update_query_dict({"options": f"-csearch_path={schema}"})
    yield own.render_as_string(hide_password=False)
    with _connected(postgres_server) as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(params=BOTH)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the address of a database with nothing in it."""
    if request.param == "sqlite":
        return str(tmp_path / "proctor.db")
    found: str = request.getfixturevalue("postgresql")
    return found


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """Give an open store with nothing in it."""
    with Store.open(address) as opened:
        yield opened
