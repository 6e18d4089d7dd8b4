"""Where the texts of several runs of a suite contain some words: what pairs and grids list."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, or_

from proctor.core.run import Run
from proctor.store.database import Database
from proctor.store.listing import contains
from proctor.store.searching import Search

MOST_AT_ONCE = 1_000
"""Up to how many matches of a search in each run are found at once."""


def searched_runs(runs: Sequence[Run]) -> list[Run]:
    """Return the runs whose texts are searched: those of the suite whose cases are listed."""
    return [run for run in runs if run.suite_key == runs[0].suite_key]


class SearchedPlaces:
    """Positions of the cases of a first run that contain some words there or in another run."""

    def __init__(self, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def few(self, runs: Sequence[Run], words: str) -> list[int] | None:
        """Return all positions, in order, where they are few; None where they are many."""
        places: set[int] = set()
        for run in searched_runs(runs):
            matches = self._search.few_places(run.id, words, MOST_AT_ONCE)
            if matches is None:
                return None
            places.update(matches)
        return sorted(places)

    def within(
        self, runs: Sequence[Run], words: str, window: tuple[int, int], first: Any
    ) -> ColumnElement[bool]:
        """Return the condition that a case of a window of positions contains the words.

        ``first`` is the table of the first run's results.
        """
        tests = (self._words_in(run.id, words, window, first) for run in searched_runs(runs))
        return or_(*tests)

    def mask(self, runs: Sequence[Run], words: str, size: int) -> Any:
        """Return which of so many cases contain the words, as far as texts were searched by now."""
        import numpy as np

        matches = np.zeros(size, dtype=bool)
        sides = searched_runs(runs)
        searches = self._search.in_parts([run.id for run in sides], words)
        for run, search in zip(sides, searches, strict=True):
            if search is not None:
                matches |= search.mask(size)
            else:
                places = self._search.places(run.id, words, (-1, size))
                matches[[place for place in self._positions(places) if place < size]] = True
        return matches

    def _words_in(
        self, run_id: str, words: str, window: tuple[int, int], first: Any
    ) -> ColumnElement[bool]:
        """Return the condition that a case contains some words, in texts or in id and tags."""
        places = self._search.places(run_id, words, window)
        position: ColumnElement[int] = first.c.position
        if places is not None:
            return position.in_(places)
        return or_(
            *(contains(self._database, words, text) for text in (first.c.case_id, first.c.tags))
        )

    def _positions(self, places: Select[Any] | Sequence[int] | None) -> Sequence[int]:
        if places is None:
            return ()
        if isinstance(places, Select):
            return [row[0] for row in self._database.fetch_all(places)]
        return places
