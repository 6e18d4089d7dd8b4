"""Comparisons in the store: one row for each two attempts, order, judge and prompt."""

import time
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import select

from proctor.core.comparison import Comparison
from proctor.core.encoding import comparison_from
from proctor.store.database import Database
from proctor.store.document import decode, encode
from proctor.store.schema import comparisons as table


class Comparisons(Database):
    """Keep comparisons."""

    def put_comparisons(self, rows: Iterable[tuple[str, str, Comparison]]) -> None:
        """Store comparisons, each after its place and the hash of what was compared there.

        One that is at the same place is replaced: a run's answers may have become others.
        """
        replace = [column.name for column in table.c if column.name != "key"]
        self._put(
            self._upsert(table, replace=replace),
            (
                {
                    "key": key,
                    "content": content,
                    "first_run": found.first,
                    "second_run": found.second,
                    "case_id": found.case_id,
                    "judge": found.judge,
                    "outcome": found.outcome.value,
                    "created": time.time(),
                    "document": encode(found),
                }
                for key, content, found in rows
            ),
        )

    def comparisons(self, keys: Iterable[str]) -> dict[str, tuple[str, Comparison]]:
        """Return the comparisons at those places, each after the hash of what was compared."""
        query = select(table.c.key, table.c.content, table.c.document)
        found = self._among(query, table.c.key, keys)
        return {key: (content, comparison_from(decode(text))) for key, content, text in found}

    def comparisons_between(self, runs: Sequence[str]) -> Iterator[Comparison]:
        """Yield all comparisons of these runs with each other, the oldest first."""
        query = (
            select(table.c.document)
            .where(table.c.first_run.in_(runs), table.c.second_run.in_(runs))
            .order_by(table.c.created, table.c.key)
        )
        for row in self._all(query):
            yield comparison_from(decode(row.document))
