"""The cases of a run as tables list them: filtered, sorted, and a page at a time by index."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, literal, or_, select, tuple_

from proctor.core.score import ValueStatus
from proctor.store.database import Database
from proctor.store.filtering import Condition
from proctor.store.results import row_of
from proctor.store.rows import ResultRow
from proctor.store.schema import run_results, run_tags
from proctor.store.searching import Search, texts

_MOST_TAGS = 100
_Stretch = tuple[list[ColumnElement[bool]], list[Any]]
Sort = Literal["position", "value", "id"]


class Cursor(NamedTuple):
    """The row that a page begins after: its number or text in the order, and its place."""

    key: float | str | None
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which cases of a run are listed, and in which order."""

    where: str = ""
    """An expression over the case's id, value, rate, status, … and its tags."""
    search: str = ""
    """A text that the id, a tag, the question or an answer contains, in upper or lower case."""
    status: str = ""
    sort: Sort = "position"
    descending: bool = False
    after: Cursor | None = None

    @property
    def rare(self) -> bool:
        """Tell whether perhaps few of the cases fit."""
        usual = ("", ValueStatus.SCORED.value)
        return bool(self.where or self.search or self.status not in usual)


class Listing:
    """The results of a run as a table, a page at a time."""

    def __init__(self, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def page(self, run_id: str, request: Wanted, limit: int) -> list[ResultRow]:
        """Return the page of rows that is wanted; ask for one more to know if there are more."""
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
        """List the tags that the cases of a run have, hopping from one to the next."""
        table, tags = run_tags.c, list[str]()
        while len(tags) < _MOST_TAGS:
            query = select(func.min(table.tag)).where(table.run_id == run_id)
            row = self._database.fetch_first(query.where(table.tag > tags[-1]) if tags else query)
            if row is None or row[0] is None:
                break
            tags.append(row[0])
        return tags

    def histogram(self, run_id: str, bins: int) -> list[int]:
        """Count the cases of a run by their share of the full score, in so many equal parts."""
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

    def _conditions(self, run_id: str, request: Wanted) -> list[ColumnElement[bool]]:
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
        """Return that a case has some words in its texts, or in id and tags where texts are not."""
        condition = self._search.condition(run_id, words)
        if condition is None:
            return or_(*(contains(self._database, words, text) for text in _TEXTS))
        if isinstance(condition, ColumnElement):
            return condition
        return run_results.c.position.in_(condition)


_TEXTS = (run_results.c.case_id, run_results.c.tags)


def contains(database: Database, words: str, text: Any) -> ColumnElement[bool]:
    """Return that a text has some words in it; SQLite's LIKE takes cases for alike itself."""
    test = text.contains if database.is_sqlite else text.icontains
    condition: ColumnElement[bool] = test(words, autoescape=True)
    return condition


def _along(request: Wanted, first: int) -> Sequence[_Stretch]:
    """Return the list as a walk along the index of texts, whose order is that of places."""
    number, after = texts.c.rowid, request.after
    if request.descending:
        return [([] if after is None else [number < first + after.position], [number.desc()])]
    return [([] if after is None else [number > first + after.position], [number.asc()])]


def _stretches(request: Wanted) -> Sequence[_Stretch]:
    """Return the parts that a list consists of, each with what it begins after and its order.

    By value, the rows without one are a part of their own, the lowest: databases differ in where
    they put them.
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
        # Keeps the database from walking the whole order in search of the few that fit.
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
