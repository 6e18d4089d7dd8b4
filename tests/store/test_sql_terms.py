"""Conditions as SQL: which of some results they hold for, and never NULL."""

import pytest
from sqlalchemy import create_engine, literal, select, union_all
from sqlalchemy.types import Float, String

from proctor.store.conditions import Condition
from proctor.store.sql_terms import SqlTerms

CASES: list[tuple[str, float | None, float]] = [("a", 1, 2), ("b", None, 2), ("c%", 0, 0)]
ROWS = union_all(
    *[
        select(
            literal(name, String).label("id"),
            literal(value, Float).label("value"),
            literal(full, Float).label("full"),
        )
        for name, value, full in CASES
    ]
).subquery()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("value >= 0", ["a", "c%"]),
        ("value < 1", ["c%"]),
        ("value != 1", ["b", "c%"]),
        ("value is None", ["b"]),
        ("not value > 0", ["b", "c%"]),
        ("value / full < 1", ["a"]),  # nothing is divided by 0
        ("value + 1 == full - 0", ["a"]),
        ("id == 'a' or value * 2 == 0", ["a", "c%"]),
        ("id > 'a' and value is not None", ["c%"]),
        ("'%' in id", ["c%"]),
    ],
)
def test_conditions_hold_for_known_values_alone(text: str, ids: list[str]) -> None:
    terms = SqlTerms("r", columns={one.name: one for one in ROWS.c})
    condition = Condition(text, terms, ()).truth()
    query = select(ROWS.c.id, condition.label("holds")).order_by(ROWS.c.id)
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        rows = connection.execute(query).all()
    engine.dispose()
    assert None not in [row.holds for row in rows]
    assert [row.id for row in rows if row.holds] == ids
