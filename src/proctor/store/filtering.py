"""Expressions over the results of a run as SQL, so that the database finds the cases."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Float, and_, false, func, literal, not_, or_, select, true

from proctor.core.expression import Expression
from proctor.errors import UsageError
from proctor.store.document import AnyText, is_number
from proctor.store.schema import run_results, run_tags
from proctor.suggestions import LOOSELY, suggest

_DEEPEST = 40
_NUMBERS = ("value", "full", "weight", "low", "high", "spread")


def _equal(left: Any, right: Any) -> Any:
    return left == right


_ORDERS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_TURNED: Mapping[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.Gt(),
    ast.LtE: ast.GtE(),
    ast.Gt: ast.Lt(),
    ast.GtE: ast.LtE(),
}
_COMPUTE: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / func.nullif(right, 0.0),
}
FIELDS = ("id", "rate", "status", *_NUMBERS)
"""What an expression may name besides tags."""


_OWN: Mapping[str, ColumnElement[Any]] = {
    "id": run_results.c.case_id,
    "rate": run_results.c.value / func.nullif(run_results.c.full, 0.0),
    **{name: run_results.c[name] for name in FIELDS[2:]},
}


class Condition:
    """An expression as a condition on the results of one run, or on other columns."""

    def __init__(
        self,
        text: str,
        run_id: str,
        tags: Collection[str],
        *,
        columns: Mapping[str, ColumnElement[Any]] | None = None,
        position: ColumnElement[int] = run_results.c.position,
    ) -> None:
        self._text = text
        self._run_id = run_id
        self._tags = tags
        self._columns = _OWN if columns is None else columns
        self._position = position
        self._tree = Expression(text).tree

    def sql(self) -> ColumnElement[bool]:
        """Return the condition; it is true or false of each row, never unknown."""
        return self._truth(self._tree, 0)

    def _truth(self, node: ast.AST, depth: int) -> ColumnElement[bool]:
        if depth > _DEEPEST:
            raise UsageError("the expression is nested too deep")
        match node:
            case ast.BoolOp():
                combine = and_ if isinstance(node.op, ast.And) else or_
                return combine(*(self._truth(part, depth + 1) for part in node.values))
            case ast.UnaryOp(op=ast.Not()):
                return not_(self._truth(node.operand, depth + 1))
            case ast.Constant(value=bool()):
                return true() if node.value else false()
            case ast.Compare():
                sides = [node.left, *node.comparators]
                pairs = zip(sides, node.ops, sides[1:], strict=False)
                return and_(*(self._compare(*pair, depth) for pair in pairs))
        raise self._odd("compare something: value < 1, status == 'error'")

    def _compare(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, depth: int
    ) -> ColumnElement[bool]:
        if isinstance(op, ast.NotEq):
            return not_(self._compare(left, ast.Eq(), right, depth))
        if isinstance(op, ast.In | ast.NotIn):
            within = self._within(left, right, depth)
            if isinstance(op, ast.In):
                return within
            return and_(not_(within), self._has_value(left, depth), self._has_value(right, depth))
        if self._is_tag(right):
            left, op, right = right, _TURNED.get(type(op), op), left
        if self._is_tag(left):
            assert isinstance(left, ast.Name)
            return self._tagged(left.id, op, right)
        one, other = self._term(left, depth), self._term(right, depth)
        if one is None or other is None:
            return self._unknown(one, op, other)
        if is_number(one.type) != is_number(other.type):
            raise self._odd("a text cannot be compared with a number")
        present = and_(one.is_not(None), other.is_not(None))
        compare = _ORDERS.get(type(op), _equal)
        return and_(compare(one, other), present)

    def _has_value(self, node: ast.expr, depth: int) -> ColumnElement[bool]:
        """Return that a name has a value: what has none is not in a list, nor outside of it."""
        if isinstance(node, ast.List | ast.Tuple):
            return true()
        if self._is_tag(node):
            assert isinstance(node, ast.Name)
            return self._has(node.id)
        term = self._term(node, depth)
        return false() if term is None else term.is_not(None)

    def _unknown(
        self, one: ColumnElement[Any] | None, op: ast.cmpop, other: ColumnElement[Any] | None
    ) -> ColumnElement[bool]:
        if not isinstance(op, ast.Eq):
            return false()
        there = other if one is None else one
        return true() if there is None else there.is_(None)

    def _within(self, left: ast.expr, right: ast.expr, depth: int) -> ColumnElement[bool]:
        if isinstance(right, ast.List | ast.Tuple):
            parts = [self._compare(left, ast.Eq(), part, depth) for part in right.elts]
            return or_(false(), *parts)
        text = left.value if isinstance(left, ast.Constant) else None
        if not isinstance(text, str) or not isinstance(right, ast.Name):
            raise self._odd("`in` wants a list, or a text in a name: 'py' in lang")
        if self._is_tag(right):
            return self._has(right.id, run_tags.c.value.contains(text, autoescape=True))
        column = self._term(right, depth)
        if column is None or is_number(column.type):
            raise self._odd("a number contains no text")
        return column.contains(text, autoescape=True)

    def _tagged(self, tag: str, op: ast.cmpop, other: ast.expr) -> ColumnElement[bool]:
        if not isinstance(other, ast.Constant) or not isinstance(other.value, str | None):
            raise self._odd(f"{tag} is a tag: compare it with a text")
        if other.value is None:
            return not_(self._has(tag)) if isinstance(op, ast.Eq) else false()
        compare = _ORDERS.get(type(op), _equal)
        return self._has(tag, compare(run_tags.c.value, other.value))

    def _has(self, tag: str, *where: ColumnElement[bool]) -> ColumnElement[bool]:
        table = run_tags.c
        positions = select(table.position).where(
            table.run_id == self._run_id, table.tag == tag, *where
        )
        return self._position.in_(positions)

    def _is_tag(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id not in self._columns and node.id in self._tags

    def _term(self, node: ast.expr, depth: int) -> ColumnElement[Any] | None:
        if depth > _DEEPEST:
            raise UsageError("the expression is nested too deep")
        match node:
            case ast.Name():
                return self._column(node.id)
            case ast.Constant():
                return self._constant(node.value)
            case ast.UnaryOp(op=ast.USub()):
                return -self._number(node.operand, depth + 1)
            case ast.BinOp() if type(node.op) in _COMPUTE:
                left = self._number(node.left, depth + 1)
                computed: ColumnElement[Any] = _COMPUTE[type(node.op)](
                    left, self._number(node.right, depth + 1)
                )
                return computed
        raise self._odd("only names, numbers and texts can be compared")

    def _number(self, node: ast.expr, depth: int) -> ColumnElement[Any]:
        term = self._term(node, depth)
        if term is None or not is_number(term.type):
            raise self._odd("only numbers can be added or multiplied")
        return term

    def _column(self, name: str) -> ColumnElement[Any]:
        if name in self._columns:
            return self._columns[name]
        names = [*self._columns, *self._tags]
        meant = suggest(name, names, listed=names, cutoff=LOOSELY)
        raise UsageError(f"unknown name {name!r} in the expression {self._text!r} ({meant})")

    def _constant(self, value: object) -> ColumnElement[Any] | None:
        if value is None:
            return None
        if isinstance(value, str):
            return literal(value, AnyText)
        try:
            if isinstance(value, int | float):
                return literal(float(value), Float)
        except OverflowError:
            pass
        raise self._odd("only numbers and texts can be compared")

    def _odd(self, why: str) -> UsageError:
        return UsageError(f"cannot filter by {self._text!r}: {why}")
