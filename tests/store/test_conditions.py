"""Expressions as conditions: read alike whatever they are made of."""

import ast
from collections.abc import Sequence

import pytest

from proctor.errors import UsageError
from proctor.store.conditions import Condition, Terms


class Written(Terms[str, str]):
    """Conditions written down."""

    names = ("value", "name")

    def column(self, name: str) -> str:
        return name

    def constant(self, value: str | float) -> str:
        return repr(value)

    def is_number(self, term: str) -> bool:
        return term != "name" and not term.startswith("'")

    def computed(self, operation: type[ast.operator], left: str, right: str) -> str:
        return f"{operation.__name__}({left}, {right})"

    def compared(self, comparison: type[ast.cmpop], one: str, other: str) -> str:
        return f"{comparison.__name__}({one}, {other})"

    def is_known(self, term: str) -> str:
        return f"known({term})"

    def contains(self, term: str, text: str) -> str:
        return f"contains({term}, {text})"

    def tagged(self, tag: str, comparison: type[ast.cmpop] | None = None, text: str = "") -> str:
        return f"tag {tag}" + (f" {comparison.__name__} {text}" if comparison else "")

    def always(self, truth: bool) -> str:
        return str(truth)

    def all_of(self, parts: Sequence[str]) -> str:
        return " & ".join(parts)

    def any_of(self, parts: Sequence[str]) -> str:
        return " | ".join(parts)

    def negated(self, part: str) -> str:
        return f"!({part})"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0 < value <= 1", "Lt(0.0, value) & LtE(value, 1.0)"),
        ("value != 1", "!(Eq(value, 1.0))"),
        ("value is None", "!(known(value))"),
        ("value is not 1", "!(Eq(value, 1.0))"),
        ("None == None", "True"),
        ("value < None", "False"),
        ("-value > 1 + 1", "Gt(Sub(0.0, value), Add(1.0, 1.0))"),
        ("'x' < lang", "tag lang Gt x"),
        ("lang == None", "!(tag lang)"),
        ("'py' not in lang", "!(tag lang In py) & True & tag lang"),
        ("'py' in name", "contains(name, py)"),
        ("value in [1, 2]", "False | Eq(value, 1.0) | Eq(value, 2.0)"),
    ],
)
def test_expressions_are_read(text: str, wanted: str) -> None:
    found = Condition(text, Written(), ["lang"]).truth()
    assert found.replace("known('py')", "True") == wanted


def test_texts_and_numbers_are_not_compared() -> None:
    with pytest.raises(UsageError, match="a text cannot be compared with a number"):
        Condition("name < 1", Written(), []).truth()
