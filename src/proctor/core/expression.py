"""Small expressions that people write on the command line: filters of cases and gates of runs."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from math import inf, isclose
from typing import Any

from proctor.errors import UsageError
from proctor.suggestions import LOOSELY, suggest

MAX_LENGTH = 2000

_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda left, right: _are_same(left, right) or left == right,
    ast.NotEq: lambda left, right: not _are_same(left, right) and left != right,
    ast.Lt: lambda left, right: left < right and not _are_same(left, right),
    ast.LtE: lambda left, right: left <= right or _are_same(left, right),
    ast.Gt: lambda left, right: left > right and not _are_same(left, right),
    ast.GtE: lambda left, right: left >= right or _are_same(left, right),
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_COMPUTE: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _are_same(left: Any, right: Any) -> bool:
    """Tell whether two numbers differ by rounding alone."""
    numbers = all(type(side) in (int, float) for side in (left, right))
    return numbers and isclose(left, right, rel_tol=1e-9)


class Several(tuple[str, ...]):
    """The values of a tag: equal to a text when one of them is."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other in tuple(self) if isinstance(other, str) else tuple(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


class Expression:
    """A parsed expression, limited to names it is given, comparisons, and their combinations."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > MAX_LENGTH:
            raise UsageError(f"the expression has more than {MAX_LENGTH} characters")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", error)
            raise UsageError(
                f"cannot read the expression {text!r}: {reason}{_slip(text)}"
            ) from None
        _check(self._tree, text)

    @property
    def tree(self) -> ast.expr:
        """Return what was parsed, which holds nothing that is not allowed."""
        return self._tree

    def check_names(self, names: Mapping[str, Any]) -> None:
        """Raise if any name in the expression is unknown, also where it would not be looked at."""
        for part in self._named():
            _value(part, names, self.text)
            if isinstance(part, ast.Attribute):
                _check_owner(part, names, self.text)

    def unknown(self, names: Mapping[str, Any]) -> list[str]:
        """Return what is named in the expression and has no value, each once."""
        parts = [part for part in self._named() if _number(_value(part, names, self.text)) is None]
        return list(dict.fromkeys(ast.unparse(part) for part in parts))

    def surely_holds(self, names: Mapping[str, Any]) -> bool:
        """Tell whether the expression is true whatever the numbers are that are not known."""
        if not self.holds(names):
            return False
        paths = [name.split(".") for name in self.unknown(names)]
        negated = any(isinstance(part, ast.Not) for part in ast.walk(self._tree))
        if not paths or not negated:
            return True
        for end in (-inf, inf):
            filled = names
            for path in paths:
                filled = _replaced(filled, path, end)
            if not self.holds(filled):
                return False
        return True

    def _named(self) -> list[ast.Name | ast.Attribute]:
        """Return all names, dots and what follows them included."""
        inner = {id(part.value) for part in ast.walk(self._tree) if isinstance(part, ast.Attribute)}
        return [
            part
            for part in ast.walk(self._tree)
            if isinstance(part, ast.Name | ast.Attribute) and id(part) not in inner
        ]

    def value(self, names: Mapping[str, Any]) -> Any:
        """Compute the expression over names; dots lead into mappings."""
        try:
            return _value(self._tree, names, self.text)
        except RecursionError:
            raise UsageError("the expression is nested too deep") from None

    def holds(self, names: Mapping[str, Any]) -> bool:
        """Tell whether the expression is true; comparing with what is unknown is false."""
        return bool(self.value(names))


def _slip(text: str) -> str:
    """Name the fix for what people often write where it is not meant."""
    if "%" in text:
        return " (fix: write a share for a percentage: 0.7 for 70 %)"
    if re.search(r"(?<![=!<>])=(?!=)", text):
        return " (fix: compare with '==' for equal)"
    return ""


def _check(node: ast.AST, text: str) -> None:
    allowed = (
        ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Name, ast.Attribute, ast.Constant,
        ast.List, ast.Tuple, ast.boolop, ast.unaryop, ast.operator, ast.cmpop, ast.expr_context,
    )  # fmt: skip
    for part in ast.walk(node):
        if not isinstance(part, allowed):
            name = type(part).__name__
            raise UsageError(f"{name} is not allowed in the expression {text!r}")


def _value(node: ast.AST, names: Mapping[str, Any], text: str) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return _look_up(node.id, names, text)
        case ast.Attribute():
            inner = _value(node.value, names, text)
            return _look_up(node.attr, inner, text) if isinstance(inner, Mapping) else None
        case ast.List() | ast.Tuple():
            return [_value(part, names, text) for part in node.elts]
        case ast.BoolOp():
            combine = all if isinstance(node.op, ast.And) else any
            return combine(_value(part, names, text) for part in node.values)
        case ast.UnaryOp():
            return _unary(node, names, text)
        case ast.BinOp():
            return _binary(node, names, text)
        case ast.Compare():
            return _compare(node, names, text)
    raise UsageError(f"cannot compute the expression {text!r}")


def _replaced(names: Mapping[str, Any], path: list[str], value: float) -> Mapping[str, Any]:
    """Return names of which one, at the end of a path of dots, has another value."""
    name, *rest = path
    inner = names[name]
    if rest:
        return {**names, name: _replaced(inner, rest, value)}
    return {**names, name: {**inner, "value": value} if isinstance(inner, Mapping) else value}


def raw_value(node: ast.expr, names: Mapping[str, Any], text: str) -> Any:
    """Return what a part of an expression stands for: a number, or all that is known of one."""
    return _value(node, names, text)


def _check_owner(node: ast.Attribute, names: Mapping[str, Any], text: str) -> None:
    if not isinstance(_value(node.value, names, text), Mapping):
        reason = f"{ast.unparse(node.value)} is a single number, without .{node.attr}"
        raise UsageError(f"{reason}, in the expression {text!r}")


def _look_up(name: str, names: Mapping[str, Any], text: str) -> Any:
    if name in names:
        return names[name]
    meant = suggest(name, names, listed=sorted(names), cutoff=LOOSELY)
    raise UsageError(f"unknown name {name!r} in the expression {text!r} ({meant})")


def _unary(node: ast.UnaryOp, names: Mapping[str, Any], text: str) -> Any:
    inner = _value(node.operand, names, text)
    if isinstance(node.op, ast.Not):
        return not inner
    inner = _number(inner)
    if isinstance(inner, int | float | None) and isinstance(node.op, ast.USub):
        return None if inner is None else -inner
    raise UsageError(f"cannot compute the expression {text!r}")


def _binary(node: ast.BinOp, names: Mapping[str, Any], text: str) -> Any:
    left = _number(_value(node.left, names, text))
    right = _number(_value(node.right, names, text))
    compute = _COMPUTE.get(type(node.op))
    numbers = all(isinstance(side, int | float | None) for side in (left, right))
    if compute is None or not numbers:
        raise UsageError(f"only numbers can be added or multiplied in the expression {text!r}")
    if left is None or right is None:
        return None
    try:
        return compute(left, right)
    except (ArithmeticError, OverflowError) as error:
        raise UsageError(f"cannot compute the expression {text!r}: {error}") from None


def _compare(node: ast.Compare, names: Mapping[str, Any], text: str) -> bool:
    left = _number(_value(node.left, names, text))
    for op, part in zip(node.ops, node.comparators, strict=True):
        compare = _COMPARE.get(type(op))
        if compare is None:
            raise UsageError(f"cannot compute the expression {text!r}")
        right = _number(_value(part, names, text))
        unknown = left is None or right is None
        if unknown and not isinstance(op, ast.Eq | ast.NotEq):
            return False
        try:
            if not compare(left, right):
                return False
        except TypeError:
            raise UsageError(
                f"cannot compare {type(left).__name__} with {type(right).__name__}"
                f" in the expression {text!r}"
            ) from None
        left = right
    return True


def _number(thing: Any) -> Any:
    """Let the name of a measure stand for its value."""
    return thing.get("value") if isinstance(thing, Mapping) else thing
