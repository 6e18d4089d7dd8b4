"""What SQLite is given as text: the schema, and the statements, as SQLAlchemy would give them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy

from proctor.store.connect import migrate, open_engine
from proctor.store.schema import VERSION_TABLE, VERSIONS
from proctor.store.sqlite_text import TEXTS, VERSION
from proctor.store.statements import STATEMENTS
from proctor.store.store import Store
from sqlite_texts import TARGET, source


def test_the_file_is_what_the_schema_and_the_statements_come_to() -> None:
    assert source() == TARGET.read_text(encoding="utf-8"), "run python tests/sqlite_texts.py"
    assert TEXTS.keys() == STATEMENTS.keys()
    assert VERSIONS[-1] == VERSION


def schema_of(path: Path) -> list[tuple[Any, ...]]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def index_of(one: Any) -> str:
    where = one["dialect_options"].get("sqlite_where")
    return f"{one['name']} {one['column_names']} {one['unique']} {where}"


def shape_of(path: Path) -> dict[str, Any]:
    """Return columns, keys and indexes of all tables."""
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    found = sqlalchemy.inspect(engine)
    shape = {
        name: (
            [{**one, "type": str(one["type"])} for one in found.get_columns(name)],
            found.get_pk_constraint(name),
            sorted(map(index_of, found.get_indexes(name))),
        )
        for name in found.get_table_names()
    }
    engine.dispose()
    return shape


def test_a_new_store_is_the_same_by_either_way(tmp_path: Path) -> None:
    direct, engine_made = tmp_path / "direct.db", tmp_path / "engine.db"
    Store.open(str(direct)).close()
    Store.open(f"sqlite:///{engine_made}").close()
    assert schema_of(direct) == schema_of(engine_made)
    with Store.open(f"sqlite:///{direct}") as store:
        assert len(store.secret.derive_key("x")) == 32


def test_a_new_store_has_the_tables_that_migrations_make(tmp_path: Path) -> None:
    direct, migrated = tmp_path / "direct.db", tmp_path / "migrated.db"
    Store.open(str(direct)).close()
    engine = sqlalchemy.create_engine(f"sqlite:///{migrated}")
    with engine.begin() as connection:
        migrate(connection)
    engine.dispose()
    made, expected = shape_of(direct), shape_of(migrated)
    assert made.keys() == expected.keys()
    for table in made.keys() - {VERSION_TABLE}:
        names = [{one["name"] for one in shape[table][0]} for shape in (made, expected)]
        assert names[0] == names[1], table
        assert made[table][1:] == expected[table][1:], table


def test_an_engine_opens_what_was_made_directly(tmp_path: Path) -> None:
    Store.open(str(tmp_path / "x.db")).close()
    engine, _ = open_engine(str(tmp_path / "x.db"), create=False)
    engine.dispose()
