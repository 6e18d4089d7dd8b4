"""Comparisons in the store: one row per pair of attempts, order, judge and prompt."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import func, or_, select

from proctor.core.comparison import Comparison
from proctor.core.encoding import comparison_from
from proctor.store.database import CHUNK, Database
from proctor.store.rows import BROKEN, decode, encode
from proctor.store.schema import comparisons as table


class Comparisons:
    """Comparisons of two attempts by a judge."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, rows: Iterable[tuple[str, str, Comparison]]) -> None:
        """Store comparisons, each with its key and the hash of what was compared.

        One with the same key is replaced: a run's answers may have changed.
        """
        replace = [column.name for column in table.c if column.name != "key"]
        self._database.execute_many(
            self._database.upsert(table, replace=replace),
            (
                {
                    "key": key,
                    "content": content,
                    "first_run": comparison.first,
                    "second_run": comparison.second,
                    "case_id": comparison.case_id,
                    "judge": comparison.judge,
                    "outcome": comparison.outcome.value,
                    "created": time.time(),
                    "document": encode(comparison),
                }
                for key, content, comparison in rows
            ),
        )

    def get_many(self, keys: Iterable[str]) -> dict[str, tuple[str, Comparison]]:
        """Return the comparisons with some keys, each with the hash of what was compared."""
        query = select(table.c.key, table.c.content, table.c.document)
        rows = self._database.fetch_among(query, table.c.key, keys)
        return {
            key: (content, comparison)
            for key, content, text in rows
            if (comparison := _read(text)) is not None
        }

    def count(self, runs: Sequence[str]) -> tuple[int, float]:
        """Return the number of comparisons among some runs, and the time of the last."""
        query: Any = select(func.count(), func.max(table.c.created)).where(
            table.c.first_run.in_(runs), table.c.second_run.in_(runs)
        )
        row = self._database.fetch_first(query)
        return (0, 0.0) if row is None else (row[0], row[1] or 0.0)

    def between(self, runs: Sequence[str]) -> Iterator[Comparison]:
        """Yield all comparisons among some runs, the oldest first."""
        query = (
            select(table.c.document)
            .where(table.c.first_run.in_(runs), table.c.second_run.in_(runs))
            .order_by(table.c.created, table.c.key)
        )
        for row in self._database.fetch_all(query):
            if (comparison := _read(row.document)) is not None:
                yield comparison

    def of_runs(self, runs: Sequence[str]) -> Iterator[tuple[str, str, Comparison]]:
        """Yield all comparisons that involve one of some runs, as ``put`` takes them.

        They come in the order of their keys, a page at a time.
        """
        sides = or_(table.c.first_run.in_(runs), table.c.second_run.in_(runs))
        columns = select(table.c.key, table.c.content, table.c.document)
        query = columns.where(sides).order_by(table.c.key).limit(CHUNK)
        after = ""
        while page := self._database.fetch_all(query.where(table.c.key > after)):
            for key, content, document in page:
                if (comparison := _read(document)) is not None:
                    yield key, content, comparison
            after = page[-1].key


def _read(document: str) -> Comparison | None:
    """Decode a comparison; None if it cannot be read, so that it is made again."""
    try:
        return comparison_from(decode(document))
    except BROKEN:
        return None
