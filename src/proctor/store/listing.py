"""Listing of a run's cases: filtered, sorted, a page at a time."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Float,
    Select,
    and_,
    case,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
    tuple_,
)

from proctor.store.conditions import FIELDS, Condition, Terms
from proctor.store.database import Database
from proctor.store.homes import Homes
from proctor.store.queries import (
    FAILED,
    KEY_OF_SORT,
    MOST_COUNTED,
    Cursor,
    KindCounts,
    ListingQuery,
    Sort,
)
from proctor.store.results import result_columns, row_of
from proctor.store.rows import ResultRow
from proctor.store.schema import AnyText, is_number, run_results, run_tags
from proctor.store.searching import Search, texts

if TYPE_CHECKING:
    from proctor.store.parts.orders import PartOrders
    from proctor.store.parts.reader import RunInParts

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


_MOST_TAGS = 100
MOST_PASSED = 5_000
"""Among how many cases of a list the next failure is looked for."""
_Stretch = tuple[list[ColumnElement[bool]], list[Any]]


class Listing:
    """Results of a run, a page at a time."""

    def __init__(self, database: Database, search: Search, homes: Homes) -> None:
        self._database = database
        self._search = search
        self._homes = homes

    def page(self, run_id: str, request: ListingQuery, limit: int) -> list[ResultRow]:
        """Return a page of rows; request one more row to learn whether more follow."""
        home = self._homes.run(run_id)
        if home is not None:
            return self._page_of_parts(run_id, home, request, limit)
        table = run_results.c
        conditions = (table.run_id == run_id, *self._conditions(run_id, request))
        query = select(*result_columns()).where(*conditions)
        searched = texts in query.get_final_froms()
        rows: list[Any] = []
        if request.filters and not searched:
            # Places alone are found in an index; with whole rows SQLite goes through all of a run.
            for where, order in _stretches(request):
                part = select(table.position).where(*conditions, *where).order_by(*order)
                rows += self._database.fetch_all(part.limit(limit - len(rows)))
                if len(rows) == limit:
                    break
            return self._rows_at(run_id, [place for (place,) in rows])
        along = searched and request.sort == "position"
        parts = _along(request, self._search.first_number(run_id)) if along else _stretches(request)
        for where, order in parts:
            if len(rows) < limit:
                part = query.where(*where).order_by(*order).limit(limit - len(rows))
                rows += self._database.fetch_all(part)
        return [row_of(row) for row in rows]

    def _rows_at(self, run_id: str, places: Sequence[int]) -> list[ResultRow]:
        """Return the rows at some places, in their order."""
        table = run_results.c
        query = select(*result_columns()).where(table.run_id == run_id, table.position.in_(places))
        rows = {row.position: row_of(row) for row in self._database.fetch_all(query)}
        return [rows[place] for place in places if place in rows]

    def cursor(self, run_id: str, sort: Sort, position: int) -> Cursor:
        """Return the cursor of the case at a position, in some order."""
        if sort == "position" or self._homes.run(run_id) is not None:
            # In parts the position alone says where a case is.
            return Cursor(None, position)
        table = run_results.c
        query = select(_SORTED[sort]).where(table.run_id == run_id, table.position == position)
        row = self._database.fetch_first(query)
        return Cursor(None if row is None else row[0], position)

    def count(self, run_id: str, request: ListingQuery, most: int = MOST_COUNTED) -> int:
        """Count the cases of a list after its cursor, up to one more than the most."""
        home = self._homes.run(run_id)
        if home is not None:
            from proctor.store.parts import listing

            chosen = self._chosen_in_parts(run_id, home, request)
            orders = self._orders(run_id, home)
            return min(most + 1, listing.count(orders, request, chosen))
        table, counted = run_results.c, 0
        query = select(table.position).where(
            table.run_id == run_id, *self._conditions(run_id, request)
        )
        for where, _ in _stretches(request):
            part = query.where(*where).limit(most + 1 - counted).subquery()
            counted += self._database.count(select(func.count()).select_from(part))
            if counted > most:
                break
        return counted

    def next_failure(self, run_id: str, request: ListingQuery) -> str | None:
        """Return the id of the first case of a list, after its cursor, below its full score.

        It is looked for among the next cases only: most of a large run may have passed.
        """
        home = self._homes.run(run_id)
        if home is not None:
            from proctor.store.parts import listing

            chosen = self._chosen_in_parts(run_id, home, request)
            return listing.next_failure(self._orders(run_id, home), request, chosen, MOST_PASSED)
        if request.search:
            failures = self.page(run_id, replace(request, status=FAILED), 1)
            return failures[0].case_id if failures else None
        table = run_results.c
        key = _SORTED.get(request.sort, table.position).label("key")
        query = select(table.position, table.case_id, table.value, table.full, key).where(
            table.run_id == run_id, *self._conditions(run_id, request)
        )
        for where, order in _stretches(request):
            near = query.where(*where).order_by(*order).limit(MOST_PASSED).subquery()
            places = [near.c.key, near.c.position]
            found = self._database.fetch_first(
                select(near.c.case_id)
                .where(near.c.value < near.c.full)
                .order_by(*(one.desc() if request.falls else one.asc() for one in places))
                .limit(1)
            )
            if found is not None:
                return str(found[0])
        return None

    def kinds(self, run_id: str) -> KindCounts:
        """Count the cases of a run by status; reads all of them once."""
        home = self._homes.run(run_id)
        if home is not None:
            from proctor.store.parts import listing

            return listing.kinds(home.columns)
        table = run_results.c
        below = func.sum(case((table.value < table.full, 1), else_=0))
        query: Select[Any, Any] = (
            select(table.status, func.count(), below)
            .where(table.run_id == run_id)
            .group_by(table.status)
        )
        rows = list(self._database.fetch_all(query))
        return KindCounts(
            {status: cases for status, cases, _ in rows}, sum(int(row[2] or 0) for row in rows)
        )

    def tags(self, run_id: str) -> list[str]:
        """List the tags of a run's cases, by index lookups from one to the next."""
        home = self._homes.run(run_id)
        if home is not None:
            return home.columns.tag_names()[:_MOST_TAGS]
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
        home = self._homes.run(run_id)
        if home is not None:
            from proctor.store.parts import listing

            return listing.histogram(home.columns, bins)
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

    def _page_of_parts(
        self, run_id: str, home: "RunInParts", request: ListingQuery, limit: int
    ) -> list[ResultRow]:
        from proctor.store.parts import listing

        chosen = self._chosen_in_parts(run_id, home, request)
        return listing.page_of(self._orders(run_id, home), request, chosen, limit)

    def _orders(self, run_id: str, home: "RunInParts") -> "PartOrders":
        from proctor.store.parts.orders import PartOrders

        return PartOrders(home, lambda: self._homes.suite_of(run_id))

    def _chosen_in_parts(self, run_id: str, home: "RunInParts", request: ListingQuery) -> Any:
        """Return a mask of the cases that pass the filters; None if there are none."""
        from proctor.store.parts import listing
        from proctor.store.parts.conditions import ColumnTerms

        terms = ColumnTerms.of_run(home.columns, fold_case=self._database.is_sqlite)
        chosen = listing.where(home.columns, request, terms, self.tags(run_id))
        if request.search:
            (search,) = self._search.in_parts([run_id], request.search)
            assert search is not None
            matches = search.mask(len(home.columns))
            chosen = matches if chosen is None else chosen & matches
        return chosen

    def _conditions(self, run_id: str, request: ListingQuery) -> list[ColumnElement[bool]]:
        table = run_results.c
        conditions: list[ColumnElement[bool]] = []
        if request.where.strip():
            terms = SqlTerms(run_id)
            conditions.append(Condition(request.where, terms, self.tags(run_id)).truth())
        if request.search:
            conditions.append(self._searched(run_id, request.search))
        if request.status == FAILED:
            conditions.append(table.value < table.full)
        elif request.status:
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
    if request.falls:
        return [([] if after is None else [number < first + after.position], [number.desc()])]
    return [([] if after is None else [number > first + after.position], [number.asc()])]


_SORTED: Mapping[str, ColumnElement[Any]] = {
    "id": run_results.c.case_id,
    "value": run_results.c.value,
    "state": run_results.c.status,
    **{sort: run_results.c[name] for sort, name in KEY_OF_SORT.items()},
}
"""The column of each order but that of the suite."""


def _stretches(request: ListingQuery) -> Sequence[_Stretch]:
    """Return the parts of a list, each with its start condition and order.

    Rows without what they are sorted by are a separate part, because databases sort NULL
    differently.
    """
    table, after, falls = run_results.c, request.after, request.falls
    position = table.position.desc() if falls else table.position.asc()
    beyond = table.position < after.position if falls and after else (
        table.position > after.position if after else None
    )  # fmt: skip
    if request.sort == "position":
        return [([] if beyond is None else [beyond], [position])]
    own: Any = _SORTED[request.sort]
    # Keeps the database from scanning the whole index for a few matches.
    column: Any = func.coalesce(own, own, type_=own.type) if request.rare else own
    order = [column.desc() if falls else column.asc(), position]
    pair = tuple_(column, table.position)
    rest: list[ColumnElement[bool]] = []
    if after is not None and after.key is not None:
        edge = tuple_(*(_bound(side, value) for side, value in _sides(column, after)))
        rest = [pair < edge if falls else pair > edge]
    if not own.nullable:
        return [(rest, order)]
    present: _Stretch = ([own.is_not(None), *rest], order)
    missing: _Stretch = ([own.is_(None)], [position])
    if after is None:
        return [missing, present] if request.missing_first else [present, missing]
    if after.key is None:
        assert beyond is not None
        begun: _Stretch = ([and_(own.is_(None), beyond)], [position])
        return [begun, present] if request.missing_first else [begun]
    return [present] if request.missing_first else [present, missing]


def _sides(column: Any, after: Cursor) -> tuple[tuple[Any, Any], ...]:
    return (column, after.key), (run_results.c.position, after.position)


def _bound(column: Any, value: Any) -> Any:
    return literal(value, column.type)
