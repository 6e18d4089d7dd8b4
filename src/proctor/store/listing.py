"""Listing of a run's cases: filtered, sorted, a page at a time."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Float,
    Select,
    and_,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
    tuple_,
)

from proctor.core.case_value import ValueStatus
from proctor.core.expression import Expression
from proctor.errors import UsageError
from proctor.store.database import Database
from proctor.store.results import row_of
from proctor.store.rows import AnyText, ResultRow, is_number
from proctor.store.schema import run_results, run_tags
from proctor.store.searching import Search, texts
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
"""Names in expressions besides tags."""


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
        """Return the condition, which is true or false for each row, never NULL."""
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
        """Return the condition that a name has a value, for ``in`` and ``not in``."""
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
            raise self._odd("`in` expects a list, or a text in a name: 'py' in lang")
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


_MOST_TAGS = 100
_Stretch = tuple[list[ColumnElement[bool]], list[Any]]
Sort = Literal["position", "value", "id"]


class Cursor(NamedTuple):
    """The row that a page begins after: its sort key and its position."""

    key: float | str | None
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingQuery:
    """Query for the cases of a run: filters and order."""

    where: str = ""
    """An expression over the case's id, value, rate, status, … and its tags."""
    search: str = ""
    """A text in the id, a tag, the question or an answer, ignoring case."""
    status: str = ""
    sort: Sort = "position"
    descending: bool = False
    after: Cursor | None = None

    @property
    def rare(self) -> bool:
        """Tell whether possibly few cases match."""
        usual = ("", ValueStatus.SCORED.value)
        return bool(self.where or self.search or self.status not in usual)


class Listing:
    """Results of a run, a page at a time."""

    def __init__(self, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def page(self, run_id: str, request: ListingQuery, limit: int) -> list[ResultRow]:
        """Return a page of rows; request one more row to learn whether more follow."""
        table = run_results.c
        columns = [column for column in table if column.name != "run_id"]
        query = select(*columns).where(table.run_id == run_id, *self._conditions(run_id, request))
        rows: list[Any] = []
        along = texts in query.get_final_froms() and request.sort == "position"
        parts = _along(request, self._search.first_number(run_id)) if along else _stretches(request)
        for where, order in parts:
            if len(rows) < limit:
                part = query.where(*where).order_by(*order).limit(limit - len(rows))
                rows += self._database.fetch_all(part)
        return [row_of(row) for row in rows]

    def tags(self, run_id: str) -> list[str]:
        """List the tags of a run's cases, by index lookups from one to the next."""
        table, tags = run_tags.c, list[str]()
        while len(tags) < _MOST_TAGS:
            query = select(func.min(table.tag)).where(table.run_id == run_id)
            row = self._database.fetch_first(query.where(table.tag > tags[-1]) if tags else query)
            if row is None or row[0] is None:
                break
            tags.append(row[0])
        return tags

    def histogram(self, run_id: str, bins: int) -> list[int]:
        """Count the cases of a run by their share of the full score, in equal bins."""
        table = run_results.c
        share = table.value / func.nullif(table.full, 0.0)
        query: Select[Any, Any] = (
            select(share.label("share"), func.count().label("cases"))
            .where(table.run_id == run_id, table.value.is_not(None))
            .group_by(share)
        )
        counts = [0] * bins
        for value, cases in self._database.fetch_all(query):
            if value is not None and not isnan(value):
                counts[min(bins - 1, max(0, int(value * bins)))] += cases
        return counts

    def _conditions(self, run_id: str, request: ListingQuery) -> list[ColumnElement[bool]]:
        table = run_results.c
        conditions: list[ColumnElement[bool]] = []
        if request.where.strip():
            conditions.append(Condition(request.where, run_id, self.tags(run_id)).sql())
        if request.search:
            conditions.append(self._searched(run_id, request.search))
        if request.status:
            conditions.append(table.status == request.status)
        return conditions

    def _searched(self, run_id: str, words: str) -> ColumnElement[bool]:
        """Return the condition that a case contains some words, in id and tags if not indexed."""
        condition = self._search.condition(run_id, words)
        if condition is None:
            return or_(*(contains(self._database, words, text) for text in _TEXTS))
        if isinstance(condition, ColumnElement):
            return condition
        return run_results.c.position.in_(condition)


_TEXTS = (run_results.c.case_id, run_results.c.tags)


def contains(database: Database, words: str, text: Any) -> ColumnElement[bool]:
    """Return the condition that a text contains some words; SQLite's LIKE ignores case."""
    test = text.contains if database.is_sqlite else text.icontains
    condition: ColumnElement[bool] = test(words, autoescape=True)
    return condition


def _along(request: ListingQuery, first: int) -> Sequence[_Stretch]:
    """Return the list as a scan of the text index, which is ordered by position."""
    number, after = texts.c.rowid, request.after
    if request.descending:
        return [([] if after is None else [number < first + after.position], [number.desc()])]
    return [([] if after is None else [number > first + after.position], [number.asc()])]


def _stretches(request: ListingQuery) -> Sequence[_Stretch]:
    """Return the parts of a list, each with its start condition and order.

    By value, rows without one are a separate, lowest part, because databases sort NULL
    differently.
    """
    table, after = run_results.c, request.after
    position = table.position.desc() if request.descending else table.position.asc()
    beyond = table.position < after.position if request.descending and after else (
        table.position > after.position if after else None
    )  # fmt: skip
    if request.sort == "position":
        return [([] if beyond is None else [beyond], [position])]
    column: Any = table.case_id if request.sort == "id" else table.value
    if request.rare:
        # Keeps the database from scanning the whole index for a few matches.
        column = func.coalesce(column, column, type_=column.type)
    order = [column.desc() if request.descending else column.asc(), position]
    pair = tuple_(column, table.position)
    rest: list[ColumnElement[bool]] = []
    if after is not None and after.key is not None:
        edge = tuple_(*(_bound(side, value) for side, value in _sides(column, after)))
        rest = [pair < edge if request.descending else pair > edge]
    if request.sort == "id":
        return [(rest, order)]
    with_value: _Stretch = ([table.value.is_not(None), *rest], order)
    without: _Stretch = ([table.value.is_(None)], [position])
    if after is None:
        return [with_value, without] if request.descending else [without, with_value]
    if after.key is None:
        assert beyond is not None
        begun: _Stretch = ([and_(table.value.is_(None), beyond)], [position])
        return [begun] if request.descending else [begun, with_value]
    return [with_value, without] if request.descending else [with_value]


def _sides(column: Any, after: Cursor) -> tuple[tuple[Any, Any], ...]:
    return (column, after.key), (run_results.c.position, after.position)


def _bound(column: Any, value: Any) -> Any:
    return literal(value, column.type)
