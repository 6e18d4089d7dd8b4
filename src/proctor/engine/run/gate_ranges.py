"""Detection of gates that can never hold, from the ranges of their numbers."""

import ast
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, NamedTuple

from proctor.core.expression import Expression
from proctor.errors import UsageError
from proctor.suggestions import suggest


class NumberRange(NamedTuple):
    """Minimum and maximum of a number."""

    low: float = -inf
    high: float = inf


ANY = NumberRange()
SHARE = NumberRange(0.0, 1.0)
COUNT = NumberRange(0.0, inf)
_DIFFERENCE = NumberRange(-1.0, 1.0)
VERDICTS = frozenset(("better", "worse", "no_worse", "equal", "unclear", "nothing"))
Ranges = Mapping[str, "NumberRange | frozenset[str] | Mapping[str, Any]"]


def comparison_ranges(tags: Mapping[str, Iterable[str]], *, plain: bool) -> Ranges:
    """Return what the numbers of a comparison can be; penalties leave the ends of a rate open."""
    share, apart = (SHARE, _DIFFERENCE) if plain else (ANY, ANY)
    difference = dict.fromkeys(("value", "low", "high"), apart)
    counts = ("cases", "better", "worse", "to_right", "to_wrong", "unscored", "errors")
    return {
        **{tag: dict.fromkeys(values, difference) for tag, values in tags.items()},
        **dict.fromkeys(counts, COUNT),
        **dict.fromkeys(("first", "second"), share),
        "difference": difference,
        "p": SHARE,
        "verdict": VERDICTS,
    }


def refuse_impossible(gate: str, ranges: Ranges) -> None:
    """Raise an error if a gate can never hold, or compares with a word that never occurs.

    One that names nothing always comes out the same, whatever the numbers are.
    """
    tree = Expression(gate).tree
    if not any(isinstance(part, ast.Name) for part in ast.walk(tree)):
        raise UsageError(
            f"the gate {gate!r} decides nothing: it names no number (fix: compare one, as in"
            " 'rate.low >= 0.8')"
        )
    _refuse_unknown_words(gate, tree, ranges)
    if _can_be(tree, ranges, outcome=True):
        return
    percent = next((text for part in _beside_shares(tree, ranges) if (text := _as_share(part))), "")
    meant = f"; write {percent}" if percent else ""
    raise UsageError(f"the gate {gate!r} can never hold: {_known_ranges(tree, ranges)}{meant}")


def _refuse_unknown_words(gate: str, tree: ast.expr, ranges: Ranges) -> None:
    """Raise an error if a name is compared with a word that it never is."""
    for part in ast.walk(tree):
        sides = (part.left, *part.comparators) if isinstance(part, ast.Compare) else ()
        texts = [
            inner.value
            for side in sides
            for inner in ast.walk(side)
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
        ]
        for side in sides:
            words = _place(side, ranges)
            unknown = (
                [text for text in texts if text not in words]
                if isinstance(words, frozenset)
                else []
            )
            if unknown:
                raise UsageError(
                    f"the gate {gate!r} can never decide: {ast.unparse(side)} is never "
                    f"{unknown[0]!r} ({suggest(unknown[0], words)})"
                )


def _can_be(node: ast.expr, ranges: Ranges, *, outcome: bool) -> bool:
    """Tell whether an expression can be true, or false."""
    match node:
        case ast.BoolOp():
            combine = all if isinstance(node.op, ast.And) == outcome else any
            return combine(_can_be(part, ranges, outcome=outcome) for part in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return _can_be(node.operand, ranges, outcome=not outcome)
        case ast.Compare():
            sides = [_range_of(part, ranges) for part in (node.left, *node.comparators)]
            pairs = zip(sides, node.ops, sides[1:], strict=False)
            return not outcome or all(_can_compare(left, op, right) for left, op, right in pairs)
    return True


def _can_compare(left: NumberRange, op: ast.cmpop, right: NumberRange) -> bool:
    room = 1e-9
    match op:
        case ast.Lt():
            return left.low < right.high
        case ast.LtE():
            return left.low <= right.high + room
        case ast.Gt():
            return left.high > right.low
        case ast.GtE():
            return left.high >= right.low - room
        case ast.Eq():
            return left.low <= right.high + room and left.high >= right.low - room
    return True


def _range_of(node: ast.expr, ranges: Ranges) -> NumberRange:
    match node:
        case ast.Constant(value=int() | float() as number):
            return NumberRange(float(number), float(number))
        case ast.Name() | ast.Attribute():
            return _named(node, ranges)
        case ast.UnaryOp(op=ast.USub()):
            inner = _range_of(node.operand, ranges)
            return NumberRange(-inner.high, -inner.low)
        case ast.BinOp():
            return _computed(node, _range_of(node.left, ranges), _range_of(node.right, ranges))
    return ANY


def _computed(node: ast.BinOp, left: NumberRange, right: NumberRange) -> NumberRange:
    match node.op:
        case ast.Add():
            return NumberRange(left.low + right.low, left.high + right.high)
        case ast.Sub():
            return NumberRange(left.low - right.high, left.high - right.low)
        case ast.Mult() if right.low == right.high and 0 < right.low < inf:
            return NumberRange(left.low * right.low, left.high * right.low)
        case ast.Mult() if left.low == left.high and 0 < left.low < inf:
            return NumberRange(left.low * right.low, left.low * right.high)
        case ast.Div() if right.low == right.high and 0 < right.low < inf:
            return NumberRange(left.low / right.low, left.high / right.low)
    return ANY


def _named(node: ast.expr, ranges: Ranges) -> NumberRange:
    """Return the range of a name; that of a measure, a group or the rate is its value's."""
    place = _place(node, ranges)
    place = place.get("value", ANY) if isinstance(place, Mapping) else place
    return place if isinstance(place, NumberRange) else ANY


def _place(node: ast.expr, ranges: Ranges) -> Any:
    """Return what is known of a name."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ANY
    place: Any = ranges
    for name in (node.id, *reversed(path)):
        if not isinstance(place, Mapping) or isinstance(place, NumberRange):
            return ANY
        place = place.get(name, ANY)
    return place


def _known_ranges(tree: ast.expr, ranges: Ranges) -> str:
    """Describe the bounded numbers of an expression."""
    words = [
        f"{text} lies between {one.low:g} and {one.high:g}"
        if one.high < inf
        else f"{text} is {one.low:g} or more"
        for text, one in {**_bounded(tree, ranges), **_bounded_sides(tree, ranges)}.items()
    ]
    return ", ".join(words) or "its numbers contradict each other"


def _bounded(tree: ast.expr, ranges: Ranges) -> dict[str, NumberRange]:
    """Return the ranges of those numbers of an expression that have a least one."""
    inner = {id(part.value) for part in ast.walk(tree) if isinstance(part, ast.Attribute)}
    named = {
        ast.unparse(part): _named(part, ranges)
        for part in ast.walk(tree)
        if isinstance(part, ast.Name | ast.Attribute) and id(part) not in inner
    }
    return {text: one for text, one in named.items() if one.low > -inf}


def _bounded_sides(tree: ast.expr, ranges: Ranges) -> dict[str, NumberRange]:
    """Return the ranges of what is computed from numbers and then compared."""
    computed = {
        ast.unparse(side): _range_of(side, ranges)
        for sides in _compared(tree)
        for side in sides
        if isinstance(side, ast.BinOp)
        and any(isinstance(part, ast.Name) for part in ast.walk(side))
    }
    return {text: one for text, one in computed.items() if one.low > -inf}


def _beside_shares(tree: ast.expr, ranges: Ranges) -> list[float]:
    """Return the constants that shares are compared with as they are."""
    return [
        float(side.value)
        for sides in _compared(tree)
        for side in sides
        if isinstance(side, ast.Constant) and isinstance(side.value, int | float)
        if any(
            isinstance(other, ast.Name | ast.Attribute) and _named(other, ranges).high <= 1
            for other in sides
        )
    ]


def _compared(tree: ast.expr) -> list[tuple[ast.expr, ...]]:
    return [
        (part.left, *part.comparators) for part in ast.walk(tree) if isinstance(part, ast.Compare)
    ]


def _as_share(number: float) -> str:
    """Return the share for a number that was probably meant as percent."""
    return f"{number / 100:g} for {number:g} %" if 1 < number <= 100 else ""
