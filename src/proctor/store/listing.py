"""Listing of a run's cases: filtered, sorted, a page at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    tuple_,
)

from proctor.store.conditions import FIELDS, Condition
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
from proctor.store.schema import run_results, run_tags
from proctor.store.searching import Search, texts
from proctor.store.sql_terms import SqlTerms

if TYPE_CHECKING:
    from proctor.store.criterion_shares import CriterionShares, NamedCriteria
    from proctor.store.parts.orders import PartOrders
    from proctor.store.parts.reader import RunInParts

_MOST_TAGS = 100
MOST_PASSED = 5_000
"""Among how many cases of a list the next failure is looked for."""
MOST_NEAR = 1_000
"""Among how many cases, in their order, a page of matches is looked for before all are sorted."""
_Stretch = tuple[list[ColumnElement[bool]], list[Any]]


class Listing:
    """Results of a run, a page at a time."""

    def __init__(
        self, database: Database, search: Search, homes: Homes, shares: "CriterionShares"
    ) -> None:
        self._database = database
        self._search = search
        self._homes = homes
        self._shares = shares

    def page(self, run_id: str, request: ListingQuery, limit: int) -> list[ResultRow]:
        """Return a page of rows; request one more row to learn whether more follow."""
        home = self._homes.run(run_id)
        if home is not None:
            return self._page_of_parts(run_id, home, request, limit)
        if request.criterion:
            return self._rows_at(run_id, self._by_criterion(run_id, request)[:limit])
        table = run_results.c
        conditions = (table.run_id == run_id, *self._conditions(run_id, request))
        query = select(*result_columns()).where(*conditions)
        searched = texts in query.get_final_froms()
        rows: list[Any] = []
        if request.filters and not searched:
            # Places alone are found in an index; with whole rows SQLite goes through all of a run.
            in_index = _stretches(request, indexed=True)
            for (where, order), ordered in zip(_stretches(request), in_index, strict=True):
                part = select(table.position).where(*conditions, *where).order_by(*order)
                wanted = limit - len(rows)
                near = self._near(run_id, request, ordered, part, wanted)
                rows += self._database.fetch_all(part.limit(wanted)) if near is None else near
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

    def _near(
        self, run_id: str, request: ListingQuery, ordered: _Stretch, part: Select[Any], wanted: int
    ) -> Sequence[Any] | None:
        """Return a part of a list if it is full among the first cases of its order.

        To sort all that match takes long where many do; where few do, an index is no help.
        """
        if request.sort == "position" or not request.rare:
            return None
        table, (where, order) = run_results.c, ordered
        first = select(table.position).where(table.run_id == run_id, *where).order_by(*order)
        near = first.limit(MOST_NEAR).subquery()
        # As a join, since all matches would be looked at for a list of places.
        rows = self._database.fetch_all(
            part.join(near, near.c.position == table.position).limit(wanted)
        )
        return rows if len(rows) == wanted else None

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
        if request.criterion:
            return min(most + 1, len(self._by_criterion(run_id, request)))
        table, counted = run_results.c, 0
        query = select(table.position).where(
            table.run_id == run_id, *self._conditions(run_id, request)
        )
        # They are as many in every order, and quickest to count in that of their places.
        whole = replace(request, sort="position") if request.after is None else request
        for where, _ in _stretches(whole):
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
        if request.search or request.criterion:
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
            row = self._database.fetch_first(
                select(near.c.case_id)
                .where(near.c.value < near.c.full)
                .order_by(*(one.desc() if request.falls else one.asc() for one in places))
                .limit(1)
            )
            if row is not None:
                return str(row[0])
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

    def reaches_below(self, run_id: str) -> bool:
        """Tell whether a case of a run came to less than nothing, by one look into an index."""
        home = self._homes.run(run_id)
        if home is not None:
            return bool((home.columns.value < 0).any())
        table = run_results.c
        query = select(table.position).where(table.run_id == run_id, table.value < 0).limit(1)
        return self._database.fetch_first(query) is not None

    def histogram(self, run_id: str, bins: int) -> list[int]:
        """Count the cases of a run by their share of the full score, in equal bins.

        The first count is that of shares below nothing, where penalties outweigh the points; the
        last bin has what lies above the full score, too.
        """
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
        counts = [0] * (bins + 1)
        for value, cases in self._database.fetch_all(query):
            if value is not None and not isnan(value):
                counts[0 if value < 0 else min(bins, int(value * bins) + 1)] += cases
        return counts

    def _page_of_parts(
        self, run_id: str, home: "RunInParts", request: ListingQuery, limit: int
    ) -> list[ResultRow]:
        from proctor.store.parts import listing

        chosen = self._chosen_in_parts(run_id, home, request)
        return listing.page_of(self._orders(run_id, home), request, chosen, limit)

    def _orders(self, run_id: str, home: "RunInParts") -> "PartOrders":
        from proctor.store.parts.orders import PartOrders

        return PartOrders(
            home,
            lambda: self._homes.suite_of(run_id),
            lambda criterion: self._shares.column(run_id, criterion),
        )

    def _by_criterion(self, run_id: str, request: ListingQuery) -> list[int]:
        """Return the positions of a list in the order of what a criterion gave each case."""
        import numpy as np

        from proctor.store.criterion_shares import after_cursor, in_order

        column = self._shares.column(run_id, request.criterion)
        table = run_results.c
        query = select(table.position).where(
            table.run_id == run_id, *self._conditions(run_id, request)
        )
        chosen = np.zeros(len(column), dtype=bool)
        places = np.array([place for (place,) in self._database.fetch_all(query)], dtype=np.int64)
        chosen[places[(places >= 0) & (places < len(column))]] = True
        whole = in_order(column, request)
        places = whole[chosen[whole]]
        if request.after is not None:
            after = request.after.position
            places = places[after_cursor(places, lambda: whole, after, falls=request.falls) :]
        numbers: list[int] = places.tolist()
        return numbers

    def _criteria(self, run_id: str, request: ListingQuery) -> "NamedCriteria | None":
        """Return the criteria of a run where an expression may name some of them."""
        tags = self.tags(run_id)
        from proctor.store.criterion_shares import NamedCriteria, names_in

        if names_in(request.where) <= {*FIELDS, *tags}:
            return None
        return NamedCriteria(self._shares, run_id, tags, request.penalties)

    def _chosen_in_parts(self, run_id: str, home: "RunInParts", request: ListingQuery) -> Any:
        """Return a mask of the cases that pass the filters; None if there are none."""
        from proctor.store.parts import listing
        from proctor.store.parts.conditions import ColumnTerms

        terms = ColumnTerms.of_run(home.columns, fold_case=self._database.is_sqlite)
        tags = self.tags(run_id)
        if request.where.strip() and (criteria := self._criteria(run_id, request)) is not None:
            from proctor.store.criterion_shares import FAILED_BY
            from proctor.store.criterion_terms import CriterionColumnTerms

            terms, tags = CriterionColumnTerms.over(terms, criteria), [*tags, FAILED_BY]
        chosen = listing.where(home.columns, request, terms, tags)
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
            conditions.append(self._expressed(run_id, request))
        if request.search:
            conditions.append(self._searched(run_id, request.search))
        if request.status == FAILED:
            conditions.append(table.value < table.full)
        elif request.status:
            conditions.append(table.status == request.status)
        return conditions

    def _expressed(self, run_id: str, request: ListingQuery) -> ColumnElement[bool]:
        criteria = self._criteria(run_id, request)
        if criteria is None:
            return Condition(request.where, SqlTerms(run_id), self.tags(run_id)).truth()
        from proctor.store.criterion_shares import FAILED_BY
        from proctor.store.criterion_terms import CriterionSqlTerms

        terms = CriterionSqlTerms(criteria, is_sqlite=self._database.is_sqlite)
        return Condition(request.where, terms, [*criteria.tags, FAILED_BY]).truth()

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


def _stretches(request: ListingQuery, *, indexed: bool = False) -> Sequence[_Stretch]:
    """Return the parts of a list, each with its start condition and order.

    ``indexed`` are those that an index gives in their order. Rows without what they are sorted by
    are a separate part, because databases sort NULL differently.
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
    all_sorted = request.rare and not indexed
    column: Any = func.coalesce(own, own, type_=own.type) if all_sorted else own
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
