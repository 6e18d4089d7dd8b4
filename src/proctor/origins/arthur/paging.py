"""Suites, runs and results by numbered pages, as clients of Arthur Bench ask for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, literal, or_, select

from proctor.core.run import Run
from proctor.store.rows import BROKEN, LinkedCase, SuiteRow, decode_object, encode
from proctor.store.schema import run_results, summaries
from proctor.store.schema import runs as run_table
from proctor.store.schema import suites as suite_table
from proctor.store.store import Store
from proctor.store.suites import description_columns, suite_row

AVERAGE = "avg_score"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """A page of rows in one order."""

    sort: str
    """A column, after a minus to turn the order around."""
    offset: int
    limit: int

    @property
    def column(self) -> str:
        """Return the column alone."""
        return self.sort.removeprefix("-")

    @property
    def descending(self) -> bool:
        """Tell whether the order is turned around."""
        return self.sort.startswith("-")

    def ordered(self, column: Any) -> Any:
        """Return a column in the order wanted."""
        return column.desc() if self.descending else column.asc()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteQuery:
    """Conditions on the suites of a dialect."""

    dialect: str
    name: str | None = None
    criteria: Sequence[str] = ()
    """What the suite's measure is over, any of these; all where there are none."""
    keys: Sequence[str] = ()
    version: str | None = None


class RunSuite(NamedTuple):
    """A suite with the time of its last run."""

    row: SuiteRow
    last_run: float | None


class ValueCount(NamedTuple):
    """The number of a run's cases with one status and value, and the place of the first."""

    value: float | None
    cases: int
    position: int


class NumberedPages:
    """Suites, runs and results of a store by page numbers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database

    def suites(self, suites_query: SuiteQuery, page: PageRequest) -> tuple[list[RunSuite], int]:
        """Return a page of suites by ``name``, ``created_at`` or ``last_run_time``, and the count.

        One that was never run stands where it was created.
        """
        table = suite_table.c
        last = (
            select(func.max(run_table.c.started))
            .where(run_table.c.suite_key == table.key, run_table.c.finished.is_not(None))
            .scalar_subquery()
        )
        where = _suites_where(suites_query)
        orders: dict[str, Any] = {
            "name": table.name,
            "created_at": table.created,
            "last_run_time": func.coalesce(last, table.created),
        }
        query = select(*description_columns(), last.label("last")).where(*where)
        order = page.ordered(orders[page.column])
        fetched = self._database.fetch_all(
            query.order_by(order, table.key).offset(page.offset).limit(page.limit)
        )
        rows = [RunSuite(suite_row(row), row.last) for row in fetched]
        return rows, self._database.count(
            select(func.count()).select_from(suite_table).where(*where)
        )

    def runs(self, suite_key: str, page: PageRequest) -> list[Run]:
        """Return a page of a suite's finished runs by ``name``, ``created_at`` or ``avg_score``."""
        if page.column == AVERAGE:
            ids = self._by_average(suite_key, page)
        else:
            column: Any = {"name": run_table.c.name, "created_at": run_table.c.started}[page.column]
            query = select(run_table.c.id).where(*_finished(suite_key))
            query = query.order_by(page.ordered(column), run_table.c.id)
            ids = [
                row.id
                for row in self._database.fetch_all(query.offset(page.offset).limit(page.limit))
            ]
        return [self._store.runs.get(run_id) for run_id in ids]

    def count_runs(self, suite_key: str) -> int:
        """Return how many finished runs a suite has."""
        query = select(func.count()).select_from(run_table).where(*_finished(suite_key))
        return self._database.count(query)

    def run_settings(self, suite_key: str) -> Iterator[tuple[str, Any]]:
        """Yield the id and the settings of each finished run of a suite."""
        query = select(run_table.c.id, run_table.c.settings).where(*_finished(suite_key))
        for row in self._database.fetch_all(query):
            try:
                yield row.id, decode_object(row.settings)
            except BROKEN:
                yield row.id, {}

    def average(self, run_id: str) -> float | None:
        """Return the first measure of a run, which for a suite of one method is its mean."""
        row = self._database.fetch_first(
            select(summaries.c.document).where(summaries.c.run_id == run_id)
        )
        return None if row is None else _average(row.document)

    def results(self, run_id: str, page: PageRequest) -> list[LinkedCase]:
        """Return a page of a run's cases by ``position`` or ``value``; none is the lowest value."""
        table = run_results.c
        query = select(table.position).where(table.run_id == run_id)
        if page.column == "value":
            # Databases differ in where they put what has no value.
            value = page.ordered(table.value)
            value = value.nulls_last() if page.descending else value.nulls_first()
            query = query.order_by(value, table.position)
        else:
            query = query.order_by(page.ordered(table.position))
        rows = self._database.fetch_all(query.offset(page.offset).limit(page.limit))
        return self._store.attempts.cases_at(run_id, [row.position for row in rows])

    def highest_value(self, run_id: str) -> float | None:
        """Return the highest value of a run."""
        table = run_results.c
        row = self._database.fetch_first(
            select(func.max(table.value)).where(table.run_id == run_id)
        )
        return None if row is None else row[0]

    def counts_between(self, run_id: str, edges: Sequence[float]) -> list[int]:
        """Count values from edge to edge; what equals the last edge is in the last part."""
        table, last = run_results.c, len(edges) - 2

        def part(number: int) -> Any:
            low, high = edges[number], edges[number + 1]
            above = table.value <= high if number == last else table.value < high
            where = (table.run_id == run_id, table.value >= low, above)
            return select(func.count()).select_from(run_results).where(*where).scalar_subquery()

        parts = (part(number).label(f"part_{number}") for number in range(last + 1))
        row = self._database.fetch_first(select(*parts))
        assert row is not None
        return [int(count) for count in row]

    def value_counts(self, run_id: str, limit: int) -> list[ValueCount] | None:
        """Count the cases of a run by status and value; none where more differ than the limit."""
        table = run_results.c
        query = (
            select(table.value, func.count(), func.min(table.position))
            .where(table.run_id == run_id)
            .group_by(table.status, table.value)
            .limit(limit + 1)
        )
        counts = [
            ValueCount(value, int(cases), place)
            for value, cases, place in self._database.fetch_all(query)
        ]
        return counts if len(counts) <= limit else None

    def _by_average(self, suite_key: str, page: PageRequest) -> list[str]:
        """Return ids by their mean, which only the summaries hold; a few bytes of each are kept."""
        query = (
            select(run_table.c.id, summaries.c.document)
            .outerjoin(summaries, summaries.c.run_id == run_table.c.id)
            .where(*_finished(suite_key))
        )
        keyed = [
            (-float("inf") if mean is None else mean, row.id)
            for row in self._database.fetch_all(query)
            for mean in [None if row.document is None else _average(row.document)]
        ]
        keyed.sort(key=lambda pair: pair[1])
        keyed.sort(key=lambda pair: pair[0], reverse=page.descending)
        return [run_id for _, run_id in keyed[page.offset : page.offset + page.limit]]


def _finished(suite_key: str) -> tuple[ColumnElement[bool], ...]:
    return run_table.c.suite_key == suite_key, run_table.c.finished.is_not(None)


def _suites_where(query: SuiteQuery) -> list[ColumnElement[bool]]:
    table = suite_table.c
    conditions: list[ColumnElement[bool]] = [table.dialect == query.dialect]
    if query.name is not None:
        conditions.append(table.name == query.name)
    if query.version is not None:
        conditions.append(table.version == query.version)
    if query.keys:
        conditions.append(table.key.in_(query.keys))
    if query.criteria:
        conditions.append(or_(*(_holds(name) for name in query.criteria)))
    return conditions


def _holds(criterion: str) -> ColumnElement[bool]:
    """Return that a suite's document names a criterion; unlike LIKE, upper case is not lower."""
    part = literal(f'"params":{encode({"criterion": criterion}).strip()}')
    return func.replace(suite_table.c.document, part, "") != suite_table.c.document


def _average(document: str) -> float | None:
    try:
        measures = decode_object(document).get("measures", {})
        value = next((one.get("value") for one in measures.values()), None)
    except BROKEN:
        return None
    return value if isinstance(value, int | float) else None
