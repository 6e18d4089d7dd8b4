"""The words of SQLAlchemy and the tables: the same objects, found when they are first used."""

import pytest
import sqlalchemy

from proctor.store import database_time, schema, sql


def test_each_name_is_that_of_sqlalchemy_or_of_a_table() -> None:
    for name in sql.__all__:
        homes = (sqlalchemy, schema, database_time)
        assert any(getattr(sql, name) is getattr(home, name, None) for home in homes), name
    assert set(schema.metadata.tables) - set(sql.__all__) <= {"calls", "batches", "batch_calls"}


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sql.nothing
