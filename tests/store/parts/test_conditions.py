"""Terms of expressions over columns: what a case lacks passes no comparison."""

import ast

import numpy as np

from proctor.store.parts.columns import Codes, TagColumn
from proctor.store.parts.conditions import ColumnTerms, holds

STATUS = Codes(np.array([0, 1, -1]), ("right", "wrong"))
TERMS = ColumnTerms(
    {"value": lambda: np.array([1.0, np.nan, 0.0]), "status": lambda: STATUS},
    3,
    lambda _: TagColumn(np.array([0, 1, -1]), (("a", "b"), ())),
    fold_case=False,
)


def test_what_is_lacking_is_neither_equal_nor_less() -> None:
    value, status = TERMS.column("value"), TERMS.column("status")
    assert TERMS.compared(ast.LtE, value, 1.0).tolist() == [True, False, True]
    assert TERMS.compared(ast.Eq, status, "wrong").tolist() == [False, True, False]
    assert TERMS.compared(ast.Lt, "right", status).tolist() == [False, True, False]
    assert TERMS.compared(ast.Eq, status, status).tolist() == [True, True, False]
    assert TERMS.is_known(value).tolist() == [True, False, True]
    assert TERMS.is_known(status).tolist() == [True, True, False]
    assert TERMS.compared(ast.Eq, TERMS.computed(ast.Div, 1.0, value), 1.0).tolist() == [
        True,
        False,
        False,
    ]


def test_constants_hold_for_all_cases_or_none() -> None:
    assert TERMS.compared(ast.Gt, 2.0, 1.0).tolist() == [True] * 3
    assert TERMS.compared(ast.Gt, "a", "b").tolist() == [False] * 3
    assert TERMS.contains("abc", "b").tolist() == [True] * 3


def test_one_of_several_values_of_a_tag_is_enough() -> None:
    assert TERMS.tagged("tag", ast.Eq, "b").tolist() == [True, False, False]
    assert TERMS.tagged("tag").tolist() == [True, False, False]


def test_letters_of_ascii_are_alike_where_case_is_folded() -> None:
    assert holds("ÄB", fold_case=True)("xÄb")
    assert not holds("äb", fold_case=True)("xÄb")
    assert not holds("ab", fold_case=False)("AB")
