"""The words of filters, and of other conditions on the results of a run, as SQL."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Float,
    and_,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
)

from proctor.store.conditions import FIELDS, Terms
from proctor.store.schema import AnyText, is_number, run_results, run_tags

_ORDERS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_COMPUTE: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / func.nullif(right, 0.0),
}
_OWN: Mapping[str, ColumnElement[Any]] = {
    "id": run_results.c.case_id,
    "rate": run_results.c.value / func.nullif(run_results.c.full, 0.0),
    **{name: run_results.c[name] for name in FIELDS[2:]},
}


class SqlTerms(Terms[ColumnElement[Any], ColumnElement[bool]]):
    """Conditions on the results of one run as SQL, or on other columns; never NULL."""

    def __init__(
        self,
        run_id: str,
        *,
        columns: Mapping[str, ColumnElement[Any]] | None = None,
        position: ColumnElement[int] = run_results.c.position,
    ) -> None:
        self._run_id = run_id
        self._columns = _OWN if columns is None else columns
        self._position = position

    @property
    def names(self) -> Collection[str]:
        return self._columns.keys()

    def column(self, name: str) -> ColumnElement[Any]:
        return self._columns[name]

    def constant(self, value: str | float) -> ColumnElement[Any]:
        return literal(value, AnyText if isinstance(value, str) else Float)

    def is_number(self, term: ColumnElement[Any]) -> bool:
        return is_number(term.type)

    def computed(
        self, operation: type[ast.operator], left: ColumnElement[Any], right: ColumnElement[Any]
    ) -> ColumnElement[Any]:
        result: ColumnElement[Any] = _COMPUTE[operation](left, right)
        return result

    def compared(
        self, comparison: type[ast.cmpop], one: ColumnElement[Any], other: ColumnElement[Any]
    ) -> ColumnElement[bool]:
        return and_(_ORDERS[comparison](one, other), self.is_known(one), self.is_known(other))

    def is_known(self, term: ColumnElement[Any]) -> ColumnElement[bool]:
        return term.is_not(None)

    def contains(self, term: ColumnElement[Any], text: str) -> ColumnElement[bool]:
        return term.contains(text, autoescape=True)

    def tagged(
        self, tag: str, comparison: type[ast.cmpop] | None = None, text: str = ""
    ) -> ColumnElement[bool]:
        table = run_tags.c
        where: list[ColumnElement[bool]] = []
        if comparison is ast.In:
            where.append(table.value.contains(text, autoescape=True))
        elif comparison is not None:
            where.append(_ORDERS[comparison](table.value, text))
        positions = select(table.position).where(
            table.run_id == self._run_id, table.tag == tag, *where
        )
        return self._position.in_(positions)

    def always(self, truth: bool) -> ColumnElement[bool]:
        return true() if truth else false()

    def all_of(self, parts: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
        return and_(*parts)

    def any_of(self, parts: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
        return or_(*parts)

    def negated(self, part: ColumnElement[bool]) -> ColumnElement[bool]:
        return not_(part)
