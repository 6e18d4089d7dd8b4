"""Conditions on criteria in rows: constants are computed first, and what cannot be is refused."""

import ast
import math

import pytest
from sqlalchemy import BindParameter

from proctor.errors import UsageError
from proctor.store.criterion_shares import NamedCriteria
from proctor.store.criterion_terms import CriterionSqlTerms, name_test
from proctor.store.store import Store


@pytest.fixture
def terms(store: Store) -> CriterionSqlTerms:
    criteria = NamedCriteria(store.criterion_shares, "r", ["lang"])
    return CriterionSqlTerms(criteria, is_sqlite=store.database.is_sqlite)


def test_constants_are_computed_at_once(terms: CriterionSqlTerms) -> None:
    minus = terms.computed(ast.Sub, terms.constant(0.0), terms.constant(2.0))
    assert isinstance(minus, BindParameter)
    assert minus.value == -2.0
    nothing = terms.computed(ast.Div, terms.constant(1.0), terms.constant(0.0))
    assert isinstance(nothing, BindParameter)
    assert math.isnan(nothing.value)


def test_a_criterion_is_not_mixed_with_a_column(terms: CriterionSqlTerms) -> None:
    import numpy as np

    given = np.array([0.0, 1.0, np.nan])
    assert terms.is_number(given)
    assert (terms.computed(ast.Mult, given, terms.constant(2.0))[:2] == [0.0, 2.0]).all()
    for other in (terms.column("rate"), terms.column("status")):
        with pytest.raises(UsageError, match="a number or another criterion"):
            terms.compared(ast.Lt, given, other)


@pytest.mark.parametrize(
    ("comparison", "text", "passed"),
    [
        (None, "", ["ab", "Ab", "b"]),
        (ast.Eq, "ab", ["ab"]),
        (ast.In, "A", ["ab", "Ab"]),
        (ast.Gt, "ab", ["b"]),
    ],
)
def test_names_that_pass(comparison: type[ast.cmpop] | None, text: str, passed: list[str]) -> None:
    test = name_test(comparison, text, fold_case=True)
    assert [name for name in ("ab", "Ab", "b") if test(name)] == passed
