"""Cases of several runs side by side, filtered by what the runs made of them, a page at a time."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select

from proctor.core.run import Run
from proctor.store.database import Database
from proctor.store.pairs import NEAR, SECONDS, WINDOW, Pairs
from proctor.store.queries import GridCounts, GridQuery, Outcome
from proctor.store.results import Results
from proctor.store.schema import run_results, suite_cases
from proctor.store.searched_places import SearchedPlaces

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


class GridListing:
    """Cases of a first run, with what it and others made of them."""

    def __init__(
        self, database: Database, searched: SearchedPlaces, pairs: Pairs, results: Results
    ) -> None:
        self._database = database
        self._results = results
        self._searched = searched
        self._pairs = pairs

    def page(
        self, runs: Sequence[Run], request: GridQuery, limit: int, after: int = -1
    ) -> tuple[list[str], int | None]:
        """Return the ids of a page of cases in order, and what the next page begins after.

        A page may be short, even empty, before the end, because scanning takes time.
        """
        if request.outcome is None and not request.search:
            rows = list(self._results.iter_rows(runs[0].id, after=after, limit=limit + 1))
            following = rows[limit - 1].position if len(rows) > limit else None
            return [row.case_id for row in rows[:limit]], following
        if self._are_columns(runs):
            return self._page_of_columns(runs, request, limit, after)
        return self._walked(runs, request, limit, after)

    def counts(self, runs: Sequence[Run]) -> GridCounts:
        """Count the cases of the first run by outcome; reads all of them once."""
        if self._are_columns(runs):
            columns = _GridColumns(self._pairs, runs)
            there = columns.there
            return GridCounts(
                int(there.sum()),
                **{name: int((there & columns.mask(name)).sum()) for name in OUTCOMES},
            )
        tables = _tables(runs)
        counted = (func.sum(case((_outcome(tables, name), 1), else_=0)) for name in OUTCOMES)
        query: Any = select(func.count(), *counted)
        row = self._database.fetch_first(_joined(runs, tables, query))
        assert row is not None
        return GridCounts(*(int(number or 0) for number in row))

    def _are_columns(self, runs: Sequence[Run]) -> bool:
        if self._pairs.are_columns(runs):
            return True
        # The rows of two suites are joined by the ids of their cases, unless these are files.
        return any(self._pairs.columns(runs[0], run) is not None for run in _others(runs))

    def _page_of_columns(
        self, runs: Sequence[Run], request: GridQuery, limit: int, after: int
    ) -> tuple[list[str], int | None]:
        columns = _GridColumns(self._pairs, runs)
        chosen = columns.there
        if request.outcome is not None:
            chosen = chosen & columns.mask(request.outcome)
        if request.search:
            chosen = chosen & self._searched.mask(runs, request.search, len(chosen))
        places = chosen.nonzero()[0]
        places = places[places > after][: limit + 1].tolist()
        ids = columns.first.ids_at(places[:limit])
        return ids, places[limit - 1] if len(places) > limit else None

    def _walked(
        self, runs: Sequence[Run], request: GridQuery, limit: int, after: int
    ) -> tuple[list[str], int | None]:
        tables, words = _tables(runs), request.search
        first = tables[0].c
        few = self._searched.few(runs, words) if words else None
        query = _joined(runs, tables, select(first.position, first.case_id))
        if request.outcome is not None:
            query = query.where(_outcome(tables, request.outcome))
        last = self._last(runs[0])
        window = WINDOW if few is None else max(last, 0) + 1
        rows_of_page: list[Any] = []
        until = time.monotonic() + SECONDS
        while after < last:
            end = after + window
            if few is not None:
                inside = [first.position.in_([place for place in few if after < place <= end])]
            else:
                inside = [first.position > after, first.position <= end]
                if words:
                    inside.append(self._searched.within(runs, words, (after, end), tables[0]))
            part = (
                query.where(*inside).order_by(first.position).limit(limit + 1 - len(rows_of_page))
            )
            rows_of_page += self._database.fetch_all(part)
            after = end
            if len(rows_of_page) > limit:
                return [row.case_id for row in rows_of_page[:limit]], rows_of_page[
                    limit - 1
                ].position
            if time.monotonic() > until and after < last:
                return [row.case_id for row in rows_of_page], after
        return [row.case_id for row in rows_of_page], None

    def _last(self, run: Run) -> int:
        query = select(func.max(run_results.c.position)).where(run_results.c.run_id == run.id)
        row = self._database.fetch_first(query)
        return -1 if row is None or row[0] is None else int(row[0])


OUTCOMES: tuple[Outcome, ...] = ("differ", "failed_any", "failed_all")


def _others(runs: Sequence[Run]) -> Sequence[Run]:
    return [run for run in runs[1:] if run.suite_key != runs[0].suite_key]


def _tables(runs: Sequence[Run]) -> list[Any]:
    return [run_results.alias(f"run_{number}") for number in range(len(runs))]


def _joined(runs: Sequence[Run], tables: Sequence[Any], query: Select[Any]) -> Select[Any]:
    """Join the rows of runs, by index lookups only: in one suite by position, else by id."""
    first, joined = tables[0], tables[0]
    for number, (run, table) in enumerate(zip(runs[1:], tables[1:], strict=True)):
        place = first.c.position
        if run.suite_key != runs[0].suite_key:
            other = suite_cases.alias(f"suite_{number}")
            same = and_(other.c.suite_key == run.suite_key, other.c.case_id == first.c.case_id)
            joined, place = joined.outerjoin(other, same), other.c.position
        met = and_(table.c.run_id == run.id, table.c.position == place)
        joined = joined.outerjoin(table, met)
    return query.select_from(joined).where(first.c.run_id == runs[0].id)


def _outcome(tables: Sequence[Any], outcome: Outcome) -> ColumnElement[bool]:
    """Return the condition that cases have an outcome, as ``_GridColumns.mask`` has it."""
    if outcome != "differ":
        failed = [table.c.value < table.c.full for table in tables]
        return or_(*failed) if outcome == "failed_any" else and_(*failed)
    one = _share(tables[0])
    tests: list[ColumnElement[bool]] = []
    for table in tables[1:]:
        other = _share(table)
        tests += [
            table.c.status.is_(None),
            and_(one.is_(None), other.is_not(None)),
            and_(one.is_not(None), other.is_(None)),
            func.coalesce(func.abs(one - other), 0.0) > NEAR,
        ]
    return or_(*tests)


def _share(table: Any) -> Any:
    return table.c.value / func.nullif(table.c.full, 0.0)


class _GridColumns:
    """The cases of a first run, with the columns of all runs."""

    def __init__(self, pairs: Pairs, runs: Sequence[Run]) -> None:
        self._pairs = [pairs.as_columns(runs[0], run) for run in runs[1:]]
        self.first = self._pairs[0].first

    @property
    def there(self) -> "Array":
        """Which cases the first run has."""
        there: Array = self.first.status.codes >= 0
        return there

    def mask(self, outcome: Outcome) -> "Array":
        """Return which cases have an outcome.

        They differ if a run has another share of the full marks than the first, none where that
        has one, or lacks the case.
        """
        import numpy as np

        values = [self.first.value, *(pair.number("value") for pair in self._pairs)]
        fulls = [self.first.full, *(pair.number("full") for pair in self._pairs)]
        sides = list(zip(values, fulls, strict=True))
        with np.errstate(all="ignore"):
            if outcome != "differ":
                failed = [value < full for value, full in sides]
                every = np.logical_or if outcome == "failed_any" else np.logical_and
                mask: Array = every.reduce(failed)
                return mask
            shares = [np.where(full == 0, np.nan, value / full) for value, full in sides]
            one = shares[0]
            differ = np.zeros(len(one), dtype=bool)
            for pair, other in zip(self._pairs, shares[1:], strict=True):
                differ |= ~pair.is_met | (np.isnan(one) != np.isnan(other))
                differ |= np.abs(one - other) > NEAR
            return differ
