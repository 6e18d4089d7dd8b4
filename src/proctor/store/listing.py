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
    """Say after which row a page begins: its number or text in the order, and its place."""

    key: float | str | None
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Say which cases of a run are listed, and in which order."""

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

    def page(self, run_id: str, wanted: Wanted, limit: int) -> list[ResultRow]:
        """Return the page of rows that is wanted; ask for one more to know if there are more."""
        table = run_results.c
        columns = [column for column in table if column.name != "run_id"]
        query = select(*columns).where(table.run_id == run_id, *self._conditions(run_id, wanted))
        rows: list[Any] = []
        along = texts in query.get_final_froms() and wanted.sort == "position"
        parts = _along(wanted, self._search.first_number(run_id)) if along else _stretches(wanted)
        for where, order in parts:
            if len(rows) < limit:
                part = query.where(*where).order_by(*order).limit(limit - len(rows))
                rows += self._database.fetch_all(part)
        return [row_of(row) for row in rows]

    def tags(self, run_id: str) -> list[str]:
        """List the tags that the cases of a run have, hopping from one to the next."""
        table, found = run_tags.c, list[str]()
        while len(found) < _MOST_TAGS:
            query = select(func.min(table.tag)).where(table.run_id == run_id)
            row = self._database.fetch_first(query.where(table.tag > found[-1]) if found else query)
            if row is None or row[0] is None:
                break
            found.append(row[0])
        return found

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
        for found, cases in self._database.fetch_all(query):
            if found is not None and not isnan(found):
                counts[min(bins - 1, max(0, int(found * bins)))] += cases
        return counts

    def _conditions(self, run_id: str, wanted: Wanted) -> list[ColumnElement[bool]]:
        table = run_results.c
        made: list[ColumnElement[bool]] = []
        if wanted.where.strip():
            made.append(Condition(wanted.where, run_id, self.tags(run_id)).sql())
        if wanted.search:
            made.append(self._searched(run_id, wanted.search))
        if wanted.status:
            made.append(table.status == wanted.status)
        return made

    def _searched(self, run_id: str, words: str) -> ColumnElement[bool]:
        """Return that a case has some words in its texts, or in id and tags where texts are not."""
        found = self._search.condition(run_id, words)
        if found is None:
            return or_(*(contains(self._database, words, text) for text in _TEXTS))
        if isinstance(found, ColumnElement):
            return found
        return run_results.c.position.in_(found)


_TEXTS = (run_results.c.case_id, run_results.c.tags)


def contains(database: Database, words: str, text: Any) -> ColumnElement[bool]:
    """Return that a text has some words in it; SQLite's LIKE takes cases for alike itself."""
    test = text.contains if database.is_sqlite else text.icontains
    condition: ColumnElement[bool] = test(words, autoescape=True)
    return condition


def _along(wanted: Wanted, first: int) -> Sequence[_Stretch]:
    """Return the list as a walk along the index of texts, whose order is that of places."""
    number, after = texts.c.rowid, wanted.after
    if wanted.descending:
        return [([] if after is None else [number < first + after.position], [number.desc()])]
    return [([] if after is None else [number > first + after.position], [number.asc()])]


def _stretches(wanted: Wanted) -> Sequence[_Stretch]:
    """Return the parts that a list consists of, each with what it begins after and its order.

    By value, the rows without one are a part of their own, the lowest: databases differ in where
    they put them.
    """
    table, after = run_results.c, wanted.after
    position = table.position.desc() if wanted.descending else table.position.asc()
    beyond = table.position < after.position if wanted.descending and after else (
        table.position > after.position if after else None
    )  # fmt: skip
    if wanted.sort == "position":
        return [([] if beyond is None else [beyond], [position])]
    column: Any = table.case_id if wanted.sort == "id" else table.value
    if wanted.rare:
        # Keeps the database from walking the whole order in search of the few that fit.
        column = func.coalesce(column, column, type_=column.type)
    order = [column.desc() if wanted.descending else column.asc(), position]
    pair = tuple_(column, table.position)
    rest: list[ColumnElement[bool]] = []
    if after is not None and after.key is not None:
        edge = tuple_(*(_bound(side, value) for side, value in _sides(column, after)))
        rest = [pair < edge if wanted.descending else pair > edge]
    if wanted.sort == "id":
        return [(rest, order)]
    with_value: _Stretch = ([table.value.is_not(None), *rest], order)
    without: _Stretch = ([table.value.is_(None)], [position])
    if after is None:
        return [with_value, without] if wanted.descending else [without, with_value]
    if after.key is None:
        assert beyond is not None
        begun: _Stretch = ([and_(table.value.is_(None), beyond)], [position])
        return [begun] if wanted.descending else [begun, with_value]
    return [with_value, without] if wanted.descending else [with_value]


def _sides(column: Any, after: Cursor) -> tuple[tuple[Any, Any], ...]:
    return (column, after.key), (run_results.c.position, after.position)


def _bound(column: Any, value: Any) -> Any:
    return literal(value, column.type)
