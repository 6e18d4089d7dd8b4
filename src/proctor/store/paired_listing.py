"""The cases of two runs as a table lists them: searched, filtered, and a page at a time."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Float, Select, case, func, literal, or_, select

from proctor.core.run import Run
from proctor.store.database import Database
from proctor.store.filtering import Condition
from proctor.store.listing import Listing, contains
from proctor.store.pairs import ONE, TWO, VALUES, Change, changed, joined, paired_case
from proctor.store.pairs import difference as difference_of
from proctor.store.rows import StoredPair
from proctor.store.schema import run_results
from proctor.store.searching import Search

WINDOW = 50_000
"""How many places are looked through at once."""
SECONDS = 0.2
"""After so long a page gives what it has, and goes on from there when asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPairs:
    """Which cases of two runs are listed."""

    change: Change | None = None
    """Only those of one kind; else all, first those that changed and then the others."""
    search: str = ""
    where: str = ""
    """An expression over id, kind, first, second, difference, full, weight, and tags."""


class PairCursor(NamedTuple):
    """Where a page begins: after which place, and whether those that changed are through."""

    position: int = -1
    same: bool = False


START = PairCursor()


class PairedListing:
    """The cases of two runs as a table, a page at a time."""

    def __init__(self, database: Database, search: Search, listing: Listing) -> None:
        self._database = database
        self._search = search
        self._listing = listing

    def page(
        self,
        first: Run,
        second: Run,
        request: WantedPairs,
        limit: int,
        after: PairCursor = START,
    ) -> tuple[list[StoredPair], PairCursor | None]:
        """Return a page of pairs in order, and where the next one begins; none at the end.

        A page may be short, even empty, before the end: looking through much takes time.
        """
        row = self._database.fetch_first(
            select(func.max(run_results.c.position)).where(run_results.c.run_id == first.id)
        )
        last = -1 if row is None or row[0] is None else int(row[0])
        columns = select(ONE.c.position, ONE.c.case_id, ONE.c.tags, *VALUES)
        query = joined(first, second, columns)
        if request.where.strip():
            query = query.where(_condition(request.where, first.id, self._listing.tags(first.id)))
        return self._walked(_Walk(query, first, second, request, last), limit, after)

    def _walked(
        self, walk: "_Walk", limit: int, after: PairCursor
    ) -> tuple[list[StoredPair], PairCursor | None]:
        pairs: list[StoredPair] = []
        position, same = after
        until = time.monotonic() + SECONDS
        while True:
            end = position + WINDOW
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
            if time.monotonic() > until and walk.last >= WINDOW:
                return pairs, PairCursor(position, same)

    def _part(self, walk: "_Walk", same: bool) -> list[ColumnElement[bool]]:
        if walk.request.change is not None:
            return [changed(walk.request.change)]
        moved = or_(changed("better"), changed("worse"))
        return [changed(None), ~moved if same else moved]

    def _window(self, walk: "_Walk", after: int, end: int) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = [ONE.c.position > after, ONE.c.position <= end]
        words = walk.request.search
        if not words:
            return conditions
        runs = [walk.first]
        if walk.first.suite_key == walk.second.suite_key:
            runs.append(walk.second)
        tests = [self._words_in(run.id, words, (after, end)) for run in runs]
        return [*conditions, or_(*tests)]

    def _words_in(self, run_id: str, words: str, window: tuple[int, int]) -> ColumnElement[bool]:
        """Return that a case has some words in the texts of a run, or in its id and tags."""
        places = self._search.places(run_id, words, window)
        if places is not None:
            return ONE.c.position.in_(places)
        return or_(*(contains(self._database, words, text) for text in (ONE.c.case_id, ONE.c.tags)))


@dataclass(frozen=True, slots=True)
class _Walk:
    """What stays the same while a list is looked through."""

    query: Select[Any]
    first: Run
    second: Run
    request: WantedPairs
    last: int


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
        "difference": difference_of() + literal(0.0, Float),
    }
    return Condition(text, run_id, tags, columns=columns, position=ONE.c.position).sql()
