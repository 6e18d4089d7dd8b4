"""The 25 kinds of instructions on a table of answers."""

import pytest

from proctor.scorers.instructions.checks import KINDS
from scorers.instructions.answers import ANSWERS, Row


def test_the_table_is_large_enough_and_has_every_kind() -> None:
    assert set(ANSWERS) == set(KINDS)
    assert len(KINDS) == 25
    assert sum(map(len, ANSWERS.values())) >= 150
    assert all({followed for _, _, followed in rows} == {True, False} for rows in ANSWERS.values())


@pytest.mark.parametrize(
    ("kind", "row"),
    [(kind, row) for kind, rows in ANSWERS.items() for row in rows],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_answers(kind: str, row: Row) -> None:
    params, answer, followed = row
    assert KINDS[kind].check(answer, params) is followed


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(
    "text", ["a" * 50_000, "*" * 50_000, "[" * 50_000, "\n" * 50_000, "a. " * 20_000]
)
def test_long_texts_end(kind: str, text: str) -> None:
    """A pattern that ran away on these would not end within the time of a test."""
    params = next(params for params, _, _ in ANSWERS[kind])
    KINDS[kind].check(text, params)
