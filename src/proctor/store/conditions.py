"""Expressions over cases as conditions: one reading of them, for rows and for columns."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Generic, TypeVar

from proctor.core.expression import Expression
from proctor.errors import UsageError
from proctor.suggestions import LOOSELY, suggest

Term = TypeVar("Term")
Truth = TypeVar("Truth")

NUMBERS = ("value", "full", "weight", "low", "high", "spread")
FIELDS = ("id", "rate", "status", *NUMBERS)
"""Names in expressions on the cases of a run, besides tags."""
_DEEPEST = 40
_TURNED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_SAME: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}
"""What people write who think of Python."""
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class Terms(ABC, Generic[Term, Truth]):
    """What expressions are made of: columns, constants, and conditions on them.

    A condition is true or false for each case; a comparison with what a case lacks is false.
    """

    @property
    @abstractmethod
    def names(self) -> Collection[str]:
        """The names of columns."""

    @abstractmethod
    def column(self, name: str) -> Term:
        """Return a column."""

    @abstractmethod
    def constant(self, value: str | float) -> Term:
        """Return a constant."""

    @abstractmethod
    def is_number(self, term: Term) -> bool:
        """Tell whether a term is a number, and not a text."""

    @abstractmethod
    def computed(self, operation: type[ast.operator], left: Term, right: Term) -> Term:
        """Return the result of a calculation; none where it divides by zero."""

    @abstractmethod
    def compared(self, comparison: type[ast.cmpop], one: Term, other: Term) -> Truth:
        """Compare two terms of a kind."""

    @abstractmethod
    def is_known(self, term: Term) -> Truth:
        """Return which cases have a value."""

    @abstractmethod
    def contains(self, term: Term, text: str) -> Truth:
        """Return which cases have a value that contains a text."""

    @abstractmethod
    def tagged(self, tag: str, comparison: type[ast.cmpop] | None = None, text: str = "") -> Truth:
        """Return which cases have a tag, with a value that compares so with a text.

        ``ast.In`` stands for values that contain the text.
        """

    @abstractmethod
    def always(self, truth: bool) -> Truth:
        """Return the condition that holds for every case, or for none."""

    @abstractmethod
    def all_of(self, parts: Sequence[Truth]) -> Truth:
        """Return where all conditions hold."""

    @abstractmethod
    def any_of(self, parts: Sequence[Truth]) -> Truth:
        """Return where one of some conditions holds."""

    @abstractmethod
    def negated(self, part: Truth) -> Truth:
        """Return where a condition does not hold."""


class Condition(Generic[Term, Truth]):
    """An expression as a condition on cases."""

    def __init__(self, text: str, terms: Terms[Term, Truth], tags: Collection[str]) -> None:
        self._text = text
        self._terms = terms
        self._tags = tags
        self._tree = Expression(text).tree

    def truth(self) -> Truth:
        """Return where the expression holds."""
        return self._truth(self._tree, 0)

    def _truth(self, node: ast.AST, depth: int) -> Truth:
        if depth > _DEEPEST:
            raise UsageError("the expression is nested too deep")
        terms = self._terms
        match node:
            case ast.BoolOp():
                parts = [self._truth(part, depth + 1) for part in node.values]
                return terms.all_of(parts) if isinstance(node.op, ast.And) else terms.any_of(parts)
            case ast.UnaryOp(op=ast.Not()):
                return terms.negated(self._truth(node.operand, depth + 1))
            case ast.Constant(value=bool()):
                return terms.always(bool(node.value))
            case ast.Compare():
                sides = [node.left, *node.comparators]
                comparisons = [_SAME.get(type(op), type(op)) for op in node.ops]
                pairs = zip(sides, comparisons, sides[1:], strict=False)
                return terms.all_of([self._compared(*pair, depth) for pair in pairs])
        raise self._odd("compare something: value < 1, status == 'error'")

    def _compared(
        self, left: ast.expr, comparison: type[ast.cmpop], right: ast.expr, depth: int
    ) -> Truth:
        terms = self._terms
        if comparison is ast.NotEq:
            return terms.negated(self._compared(left, ast.Eq, right, depth))
        if comparison in (ast.In, ast.NotIn):
            within = self._within(left, right, depth)
            if comparison is ast.In:
                return within
            have_values = [self._has_value(side, depth) for side in (left, right)]
            return terms.all_of([terms.negated(within), *have_values])
        if self._is_tag(right):
            left, comparison, right = right, _TURNED.get(comparison, comparison), left
        if self._is_tag(left):
            assert isinstance(left, ast.Name)
            return self._tagged(left.id, comparison, right)
        one, other = self._term(left, depth), self._term(right, depth)
        if one is None or other is None:
            return self._unknown(one, comparison, other)
        if terms.is_number(one) != terms.is_number(other):
            raise self._odd("a text cannot be compared with a number")
        return terms.compared(comparison, one, other)

    def _has_value(self, node: ast.expr, depth: int) -> Truth:
        """Return where a name has a value, for ``in`` and ``not in``."""
        if isinstance(node, ast.List | ast.Tuple):
            return self._terms.always(True)
        if self._is_tag(node):
            assert isinstance(node, ast.Name)
            return self._terms.tagged(node.id)
        term = self._term(node, depth)
        return self._terms.always(False) if term is None else self._terms.is_known(term)

    def _unknown(self, one: Term | None, comparison: type[ast.cmpop], other: Term | None) -> Truth:
        terms = self._terms
        if comparison is not ast.Eq:
            return terms.always(False)
        there = other if one is None else one
        return terms.always(True) if there is None else terms.negated(terms.is_known(there))

    def _within(self, left: ast.expr, right: ast.expr, depth: int) -> Truth:
        terms = self._terms
        if isinstance(right, ast.List | ast.Tuple):
            parts = [self._compared(left, ast.Eq, part, depth) for part in right.elts]
            return terms.any_of([terms.always(False), *parts])
        text = left.value if isinstance(left, ast.Constant) else None
        if not isinstance(text, str) or not isinstance(right, ast.Name):
            raise self._odd("`in` expects a list, or a text in a name: 'py' in lang")
        if self._is_tag(right):
            return terms.tagged(right.id, ast.In, text)
        column = self._term(right, depth)
        if column is None or terms.is_number(column):
            raise self._odd("a number contains no text")
        return terms.contains(column, text)

    def _tagged(self, tag: str, comparison: type[ast.cmpop], other: ast.expr) -> Truth:
        terms = self._terms
        if not isinstance(other, ast.Constant) or not isinstance(other.value, str | None):
            raise self._odd(f"{tag} is a tag: compare it with a text")
        if other.value is None:
            none = terms.negated(terms.tagged(tag))
            return none if comparison is ast.Eq else terms.always(False)
        return terms.tagged(tag, comparison, other.value)

    def _is_tag(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name) or node.id in self._terms.names:
            return False
        return node.id in self._tags

    def _term(self, node: ast.expr, depth: int) -> Term | None:
        if depth > _DEEPEST:
            raise UsageError("the expression is nested too deep")
        match node:
            case ast.Name():
                return self._column(node.id)
            case ast.Constant():
                return self._constant(node.value)
            case ast.UnaryOp(op=ast.USub()):
                zero = self._terms.constant(0.0)
                return self._terms.computed(ast.Sub, zero, self._number(node.operand, depth + 1))
            case ast.BinOp() if type(node.op) in _OPERATORS:
                left = self._number(node.left, depth + 1)
                right = self._number(node.right, depth + 1)
                return self._terms.computed(type(node.op), left, right)
        raise self._odd("only names, numbers and texts can be compared")

    def _number(self, node: ast.expr, depth: int) -> Term:
        term = self._term(node, depth)
        if term is None or not self._terms.is_number(term):
            raise self._odd("only numbers can be added or multiplied")
        return term

    def _column(self, name: str) -> Term:
        if name in self._terms.names:
            return self._terms.column(name)
        names = [*self._terms.names, *self._tags]
        meant = suggest(name, names, listed=names, cutoff=LOOSELY)
        listing = f"known are: {', '.join(names)}"
        meant = meant if meant == listing else f"{meant} {listing}"
        raise UsageError(f"unknown name {name!r} in the expression {self._text!r} ({meant})")

    def _constant(self, value: Any) -> Term | None:
        if value is None:
            return None
        if isinstance(value, str):
            return self._terms.constant(value)
        try:
            if isinstance(value, int | float):
                return self._terms.constant(float(value))
        except OverflowError:
            pass
        raise self._odd("only numbers and texts can be compared")

    def _odd(self, why: str) -> UsageError:
        return UsageError(f"cannot filter by {self._text!r}: {why}")
