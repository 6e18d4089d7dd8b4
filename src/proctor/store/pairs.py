"""Pairs of results of two runs, matched by case id: counted, filtered, listed."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from sqlalchemy import ColumnElement, Float, Select, and_, case, func, literal, or_, select

from proctor.core.run import Run
from proctor.core.suite import Case
from proctor.io.concurrency import batched
from proctor.store.conditions import Condition
from proctor.store.database import Database
from proctor.store.homes import Homes
from proctor.store.listing import Listing
from proctor.store.queries import START, PairCursor, PairQuery
from proctor.store.results import result_columns, row_of
from proctor.store.rows import (
    BROKEN,
    SHARES,
    Change,
    PairedCount,
    PairedRow,
    ResultRow,
    ShareCell,
    StoredPair,
    tags_of,
)
from proctor.store.schema import cases, run_results, run_tags, suite_cases
from proctor.store.searched_places import SearchedPlaces
from proctor.store.sql_terms import SqlTerms
from proctor.store.suites import Suites, read_case

if TYPE_CHECKING:
    from proctor.store.parts.pairs import PairColumns


_CASES = 500
"""How many cases of two suites are compared at once."""
NEAR = 1e-9
"""Shares of full marks that differ by less count as equal."""
ONE = run_results.alias("one")
TWO = run_results.alias("two")
VALUES = (
    *(ONE.c[name] for name in ("full", "weight", "status", "value", "low", "high")),
    *(TWO.c[name].label(f"{name}_2") for name in ("full", "status", "value", "low", "high")),
)


class Pairs:
    """Results of two runs as pairs."""

    def __init__(self, database: Database, homes: Homes, suites: Suites) -> None:
        self._database = database
        self._homes = homes
        self._suites = suites
        self._in_use: WeakValueDictionary[object, PairColumns] = WeakValueDictionary()
        """The pairs of files that somebody holds, so that who reads them, too, has no copies."""

    def columns(self, first: Run, second: Run) -> "PairColumns | None":
        """Return the pairs of two runs as columns; None if both are rows of the database."""
        by_id = first.suite_key != second.suite_key
        # The rows of two suites are joined by the ids of the second's cases, unless it has none.
        if self.are_columns((first, second)) or (by_id and self._homes.suite(second.suite_key)):
            return self.as_columns(first, second)
        return None

    def are_columns(self, runs: Sequence[Run]) -> bool:
        """Tell whether some of the runs are files."""
        return any(self._homes.run(run.id) for run in runs)

    def as_columns(self, first: Run, second: Run) -> "PairColumns":
        """Return the pairs of two runs as columns; those of rows are loaded."""
        homes = [self._homes.run(run.id) for run in (first, second)]
        from proctor.store.parts.pairs import LoadedResults, PairColumns

        one, two = (
            LoadedResults(self._rows(run.id)) if home is None else home.columns
            for home, run in zip(homes, (first, second), strict=True)
        )
        same_suite = first.suite_key == second.suite_key
        if not all(homes):
            return PairColumns.of(one, two, same_suite=same_suite)
        key = one.key, two.key, same_suite
        pairs = self._in_use.get(key)
        if pairs is None:
            pairs = self._in_use[key] = PairColumns.of(one, two, same_suite=same_suite)
        return pairs

    def _rows(self, run_id: str) -> Iterator[ResultRow]:
        table = run_results.c
        query = select(*result_columns()).where(table.run_id == run_id)
        return map(row_of, self._database.fetch_pages(query, table.position, -1, None))

    def iter_counts(
        self, first: Run, second: Run, *, tag: str | None = None
    ) -> Iterator[PairedCount]:
        """Yield each distinct pair of results of two runs in rows, with its count.

        With a tag, they are counted for each of its values. The database counts a million results
        much faster than they could be read.
        """
        group = () if tag is None else (run_tags.c.value,)
        query = joined(first, second, select(func.count(), ONE.c.cluster, *group, *VALUES))
        if tag is not None:
            query = query.join(
                run_tags,
                and_(
                    run_tags.c.run_id == first.id,
                    run_tags.c.tag == tag,
                    run_tags.c.position == ONE.c.position,
                ),
            )
        query = query.group_by(ONE.c.cluster, *group, *VALUES)
        with self._database.read() as connection:
            streamed = connection.execution_options(yield_per=1000).execute(query)
            for row in streamed:
                values = PairedRow(*row[2 + len(group) :])
                yield PairedCount(values, row[0], row[2] if group else "", row[1] or "")

    def shares(self, first: Run, second: Run) -> list[ShareCell]:
        """Count the cases with a value in both runs by what share of the first's full it is."""
        pairs = self.columns(first, second)
        if pairs is not None:
            return pairs.share_cells()
        full = func.nullif(ONE.c.full, 0.0)
        one, two = ONE.c.value / full, TWO.c.value / full
        cells = _reached(one).label("first_cuts"), _reached(two).label("second_cuts")
        query = joined(first, second, select(*cells, func.count(), func.avg(one), func.avg(two)))
        query = query.where(one.is_not(None), two.is_not(None)).group_by(*cells).order_by(*cells)
        return [ShareCell(*row) for row in self._database.fetch_all(query)]

    def iter_cases(
        self, first: Run, second: Run, change: Change | None = None, *, after: int = -1
    ) -> Iterator[StoredPair]:
        """Yield the cases that count in both runs, in the order of the first."""
        pairs = self.columns(first, second)
        if pairs is not None:
            yield from _in_columns(pairs, change, after)
            return
        columns = select(ONE.c.position, ONE.c.case_id, ONE.c.tags, *VALUES)
        query = joined(first, second, columns).where(changed(change))
        for row in self._database.fetch_pages(query, ONE.c.position, after, None):
            yield paired_case(row)

    def iter_met(self, first: Run, second: Run) -> Iterator[tuple[str, str, PairedRow]]:
        """Yield id, cluster and results of each case that both runs have, counting or not."""
        pairs = self.columns(first, second)
        if pairs is not None:
            for place in pairs.is_met.nonzero()[0].tolist():
                cluster = pairs.first.cluster.of(place) or ""
                yield pairs.first.ids_at([place])[0], cluster, pairs.row(place)
            return
        columns = select(ONE.c.position, ONE.c.case_id, ONE.c.cluster, *VALUES)
        query = joined(first, second, columns).where(TWO.c.status.is_not(None))
        for row in self._database.fetch_pages(query, ONE.c.position, -1, None):
            yield row[1], row[2] or "", PairedRow(*row[3:])

    def neighbours(
        self, first: Run, second: Run, position: int, change: Change | None = None
    ) -> tuple[str | None, str | None]:
        """Return the ids of the cases before and after a position, of all or of one kind."""
        pairs = self.columns(first, second)
        if pairs is not None:
            places = pairs.changed(change).nonzero()[0]
            sides = (places[places < position][-1:], places[places > position][:1])
            ids = [pairs.first.ids_at(side.tolist()) for side in sides]
            return next(iter(ids[0]), None), next(iter(ids[1]), None)
        query = joined(first, second, select(ONE.c.case_id)).where(changed(change))
        place = ONE.c.position
        before = self._database.fetch_first(
            query.where(place < position).order_by(place.desc()).limit(1)
        )
        after = self._database.fetch_first(query.where(place > position).order_by(place).limit(1))
        return before and before.case_id, after and after.case_id

    def largest_changes(
        self, first: Run, second: Run, change: Change, limit: int
    ) -> list[StoredPair]:
        """Return the cases with the largest change in points, earlier ones first among equals."""
        pairs = self.columns(first, second)
        if pairs is not None:
            return _largest(pairs, change, limit)
        columns = select(ONE.c.position, ONE.c.case_id, ONE.c.tags, *VALUES)
        query = joined(first, second, columns).where(changed(change))
        moved = ONE.c.weight * ONE.c.full * func.abs(difference())
        order = [moved.desc()] if change in ("better", "worse") else []
        rows = self._database.fetch_all(query.order_by(*order, ONE.c.position).limit(limit))
        return [paired_case(row) for row in rows]

    def iter_changed_cases(
        self, first_suite: str, second_suite: str
    ) -> Iterator[tuple[Case, Case]]:
        """Yield the cases that have the same id but different content in two suites."""
        if first_suite == second_suite:
            return
        if self._homes.suite(first_suite) or self._homes.suite(second_suite):
            yield from self._changed_in_parts(first_suite, second_suite)
            return
        one, two = suite_cases.alias("one"), suite_cases.alias("two")
        here, there = cases.alias("here"), cases.alias("there")
        query = (
            select(one.c.position, here.c.document, there.c.document.label("other"))
            .join(two, (two.c.suite_key == second_suite) & (two.c.case_id == one.c.case_id))
            .join(here, here.c.key == one.c.case_key)
            .join(there, there.c.key == two.c.case_key)
            .where(one.c.suite_key == first_suite, one.c.case_key != two.c.case_key)
        )
        for _, document, other in self._database.fetch_pages(query, one.c.position, -1, None):
            try:
                yield read_case(document, ""), read_case(other, "")
            except BROKEN:
                continue

    def _changed_in_parts(self, first_suite: str, second_suite: str) -> Iterator[tuple[Case, Case]]:
        """Yield the changed cases where the cases of a suite are files."""
        for batch in batched(self._suites.iter_cases(first_suite), _CASES):
            here = {case.id: (key, case) for _, key, case in batch}
            there = self._suites.case_keys(second_suite, here)
            changed_ids = [name for name, key in there.items() if here[name][0] != key]
            others = self._suites.cases_by_id(second_suite, changed_ids)
            for name, other in others.items():
                yield here[name][1], other


def _in_columns(pairs: "PairColumns", change: Change | None, after: int) -> Iterator[StoredPair]:
    places = pairs.changed(change).nonzero()[0]
    places = places[places > after]
    for start in range(0, len(places), 500):
        yield from pairs.pairs_at(places[start : start + 500].tolist())


def _largest(pairs: "PairColumns", change: Change, limit: int) -> list[StoredPair]:
    """Return the cases with the largest change in points, of those with a kind of change."""
    import numpy as np

    places = pairs.changed(change).nonzero()[0]
    if change in ("better", "worse"):
        one, two = pairs.shares_at(places)
        moved = pairs.first.weight[places] * pairs.first.full[places] * np.abs(two - one)
        if len(places) > limit:
            edge = np.partition(moved, len(moved) - limit)[len(moved) - limit]
            places, moved = places[moved >= edge], moved[moved >= edge]
        places = places[np.lexsort((places, -moved))]
    return pairs.pairs_at(places[:limit].tolist())


def joined(first: Run, second: Run, query: Select[Any]) -> Select[Any]:
    """Join the rows of two runs, by index lookups only.

    In the same suite a case has the same position; otherwise it is matched by id.
    """
    tables: Any = ONE
    place = ONE.c.position
    if first.suite_key != second.suite_key:
        other = suite_cases.alias("other")
        same = and_(other.c.suite_key == second.suite_key, other.c.case_id == ONE.c.case_id)
        tables, place = ONE.outerjoin(other, same), other.c.position
    met = and_(TWO.c.run_id == second.id, TWO.c.position == place)
    return query.select_from(tables.outerjoin(TWO, met)).where(ONE.c.run_id == first.id)


def difference() -> Any:
    """Return the difference as a share of full marks, positive if the second is better."""
    return func.coalesce(TWO.c.value / func.nullif(TWO.c.full, 0.0), 0.0) - func.coalesce(
        ONE.c.value / func.nullif(ONE.c.full, 0.0), 0.0
    )


def changed(change: Change | None) -> Any:
    """Return the condition that a pair has a kind of change; both must have a value."""
    both = and_(ONE.c.value.is_not(None), TWO.c.value.is_not(None))
    if change is None:
        return both
    if change == "better":
        return and_(both, difference() > NEAR)
    if change == "worse":
        return and_(both, difference() < -NEAR)
    short = or_(ONE.c.value < ONE.c.full - NEAR, TWO.c.value < TWO.c.full - NEAR)
    none = and_(*(part.c.value <= NEAR * func.abs(part.c.full) for part in (ONE, TWO)))
    same = and_(both, func.abs(difference()) <= NEAR)
    kinds = {
        "both_right": ~short,
        "both_wrong": and_(short, none),
        "both_partly": and_(short, ~none),
    }
    return and_(same, kinds[change])


def _reached(share: Any) -> Any:
    """Return how many of the cuts a share reaches."""
    steps = [share >= SHARES[0], share > SHARES[0], *(share >= cut for cut in SHARES[1:])]
    return sum((case((step, 1), else_=0) for step in steps), start=literal(0))


def paired_case(row: Any) -> StoredPair:
    """Build a pair from its row."""
    return StoredPair(row[0], row[1], tags_of(row[2]), PairedRow(*row[3:]))


WINDOW = 50_000
"""How many positions are scanned at once."""
SECONDS = 0.2
"""Time limit of a page, which then returns what it has, with a cursor to continue."""


class PairedListing:
    """Cases of two runs, a page at a time."""

    def __init__(
        self, database: Database, searched: SearchedPlaces, listing: Listing, pairs: Pairs
    ) -> None:
        self._database = database
        self._searched = searched
        self._listing = listing
        self._pairs = pairs

    def page(
        self,
        first: Run,
        second: Run,
        request: PairQuery,
        limit: int,
        after: PairCursor = START,
    ) -> tuple[list[StoredPair], PairCursor | None]:
        """Return a page of pairs in order, and the cursor of the next page; None at the end.

        A page may be short, even empty, before the end, because scanning takes time.
        """
        pairs = self._pairs.columns(first, second)
        if pairs is not None:
            return self._page_of_columns(pairs, (first, second), request, limit, after)
        return self._walked(self._walk(first, second, request), limit, after)

    def _walk(self, first: Run, second: Run, request: PairQuery) -> "_Walk":
        row = self._database.fetch_first(
            select(func.max(run_results.c.position)).where(run_results.c.run_id == first.id)
        )
        last = -1 if row is None or row[0] is None else int(row[0])
        columns = select(ONE.c.position, ONE.c.case_id, ONE.c.tags, *VALUES)
        query = joined(first, second, columns)
        if request.where.strip():
            query = query.where(_condition(request.where, first.id, self._listing.tags(first.id)))
        few = self._searched.few((first, second), request.search) if request.search else None
        return _Walk(query, first, second, request, last, few)

    def around(
        self, first: Run, second: Run, request: PairQuery, position: int, *, moved_only: bool
    ) -> tuple[str | None, str | None]:
        """Return the ids of the cases before and after one, in the order of their list.

        With ``moved_only``, the list ends after the cases that got better or worse.
        """
        pairs = self._pairs.columns(first, second)
        if pairs is not None:
            runs = (first, second)
            return self._around_in_columns(pairs, runs, request, position, moved_only)
        walk = self._walk(first, second, request)
        one_stretch = moved_only or request.change is not None
        moved = or_(changed("better"), changed("worse"))
        here = joined(first, second, select(ONE.c.position)).where(ONE.c.position == position)
        same = not one_stretch and self._database.fetch_first(here.where(moved)) is None
        before = self._nearest(walk, position, same=same, backward=True)
        after = self._nearest(walk, position, same=same)
        if before is None and same:
            before = self._nearest(walk, walk.last + 1, same=False, backward=True)
        if after is None and not same and not one_stretch:
            after = self._nearest(walk, -1, same=True)
        return before, after

    def _nearest(
        self, walk: "_Walk", position: int, *, same: bool, backward: bool = False
    ) -> str | None:
        """Return the id of the nearest case of a stretch, as far as the time allows to look."""
        until = time.monotonic() + SECONDS
        order = ONE.c.position.desc() if backward else ONE.c.position
        while (position > 0) if backward else (position < walk.last):
            low = position - 1 - walk.window if backward else position
            window = self._window(walk, low, low + walk.window)
            part = walk.query.where(*self._part(walk, same), *window)
            row = self._database.fetch_first(part.order_by(order).limit(1))
            if row is not None:
                return str(row.case_id)
            position = low + 1 if backward else low + walk.window
            if time.monotonic() > until:
                break
        return None

    def _around_in_columns(
        self,
        pairs: "PairColumns",
        runs: tuple[Run, Run],
        request: PairQuery,
        position: int,
        moved_only: bool,
    ) -> tuple[str | None, str | None]:
        import numpy as np

        chosen, moved = self._chosen(pairs, runs, request)
        parts = [chosen] if request.change is not None else [chosen & moved, chosen & ~moved]
        parts = parts[:1] if moved_only else parts
        stretch = int(len(parts) > 1 and not moved[position])
        places = [part.nonzero()[0] for part in parts]
        here = places[stretch]
        before = np.concatenate([*places[:stretch], here[here < position]])[-1:]
        after = np.concatenate([here[here > position], *places[stretch + 1 :]])[:1]
        ids = [pairs.first.ids_at(side.tolist()) for side in (before, after)]
        return next(iter(ids[0]), None), next(iter(ids[1]), None)

    def _chosen(
        self, pairs: "PairColumns", runs: tuple[Run, Run], request: PairQuery
    ) -> tuple[Any, Any]:
        """Return which pairs match, and which of all got better or worse if that gives an order."""
        import numpy as np

        chosen = pairs.changed(request.change)
        if request.where.strip():
            terms = pairs.terms(fold_case=self._database.is_sqlite)
            chosen &= Condition(request.where, terms, self._listing.tags(runs[0].id)).truth()
        if request.search:
            chosen &= self._searched.mask(runs, request.search, len(pairs))
        if request.change is None:
            return chosen, pairs.changed("better") | pairs.changed("worse")
        return chosen, np.zeros(len(pairs), dtype=bool)

    def _page_of_columns(
        self,
        pairs: "PairColumns",
        runs: tuple[Run, Run],
        request: PairQuery,
        limit: int,
        after: PairCursor,
    ) -> tuple[list[StoredPair], PairCursor | None]:
        import numpy as np

        chosen, moved = self._chosen(pairs, runs, request)
        stretches = [(chosen & moved).nonzero()[0], (chosen & ~moved).nonzero()[0]]
        stretches = stretches[int(request.change is not None or after.same) :]
        stretches[0] = stretches[0][stretches[0] > after.position]
        places = np.concatenate(stretches)[: limit + 1].tolist()
        shown = places[:limit]
        following = None
        if len(places) > limit:
            same = request.change is None and not moved[shown[-1]]
            following = PairCursor(shown[-1], bool(same))
        return pairs.pairs_at(shown), following

    def _walked(
        self, walk: "_Walk", limit: int, after: PairCursor
    ) -> tuple[list[StoredPair], PairCursor | None]:
        pairs: list[StoredPair] = []
        position, same = after
        until = time.monotonic() + SECONDS
        while True:
            end = position + walk.window
            part = walk.query.where(*self._part(walk, same), *self._window(walk, position, end))
            rows = self._database.fetch_all(part.order_by(ONE.c.position).limit(limit - len(pairs)))
            pairs += [paired_case(row) for row in rows]
            if len(pairs) >= limit:
                return pairs, PairCursor(pairs[-1].position, same)
            position = end
            if position >= walk.last:
                if same or walk.request.change is not None:
                    return pairs, None
                position, same = -1, True
            if time.monotonic() > until and walk.last >= walk.window:
                return pairs, PairCursor(position, same)

    def _part(self, walk: "_Walk", same: bool) -> list[ColumnElement[bool]]:
        if walk.request.change is not None:
            return [changed(walk.request.change)]
        moved = or_(changed("better"), changed("worse"))
        return [changed(None), ~moved if same else moved]

    def _window(self, walk: "_Walk", after: int, end: int) -> list[ColumnElement[bool]]:
        if walk.places is not None:
            return [ONE.c.position.in_([place for place in walk.places if after < place <= end])]
        conditions: list[ColumnElement[bool]] = [ONE.c.position > after, ONE.c.position <= end]
        words = walk.request.search
        if not words:
            return conditions
        runs = (walk.first, walk.second)
        return [*conditions, self._searched.within(runs, words, (after, end), ONE)]


@dataclass(frozen=True, slots=True)
class _Walk:
    """Fixed parameters of a scan."""

    query: Select[Any]
    first: Run
    second: Run
    request: PairQuery
    last: int
    places: Sequence[int] | None
    """The cases that contain the words, where they are few."""

    @property
    def window(self) -> int:
        """Return how many positions are scanned at once."""
        return WINDOW if self.places is None else max(self.last, 0) + 1


def _condition(text: str, run_id: str, tags: list[str]) -> ColumnElement[bool]:
    kind = case(
        (changed("better"), "better"),
        (changed("worse"), "worse"),
        (changed("both_wrong"), "both_wrong"),
        (changed("both_partly"), "both_partly"),
        else_="both_right",
    )
    columns: dict[str, ColumnElement[Any]] = {
        "id": ONE.c.case_id,
        "kind": kind,
        "first": ONE.c.value,
        "second": TWO.c.value,
        "full": ONE.c.full,
        "weight": ONE.c.weight,
        "difference": difference() + literal(0.0, Float),
    }
    terms = SqlTerms(run_id, columns=columns, position=ONE.c.position)
    return Condition(text, terms, tags).truth()
