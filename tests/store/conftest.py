"""Stores to test with: SQLite always, PostgreSQL where PROCTOR_TEST_POSTGRES names a database."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.store.store import Store

POSTGRES = os.environ.get("PROCTOR_TEST_POSTGRES", "")


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the address of a database with nothing in it."""
    if request.param == "sqlite":
        yield str(tmp_path / "proctor.db")
        return
    if not POSTGRES:
        pytest.skip("PROCTOR_TEST_POSTGRES names no database")
    import sqlalchemy

    schema = f"test_{uuid.uuid4().hex}"
    url = sqlalchemy.make_url(POSTGRES).set(drivername="postgresql+psycopg")
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    own = url.set(drivername="postgresql", query={"options": f"-csearch_path={schema}"})
    yield own.render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    engine.dispose()


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """Give an open store with nothing in it."""
    with Store.open(address) as opened:
        yield opened
