"""Attempts and scores in the store, by the key of their content."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Table, delete, or_, select

from proctor.core.agent import FILES
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import attempt_from, score_from
from proctor.core.score import Score, ScoreStatus
from proctor.store.database import Database, chunks
from proctor.store.document import BROKEN, decode, encode
from proctor.store.schema import attempt_files as file_table
from proctor.store.schema import attempts as attempt_table
from proctor.store.schema import scores as score_table

Made = TypeVar("Made")
UNFINISHED = (AttemptStatus.ERROR.value, AttemptStatus.STOPPED.value)
"""How an attempt ended that the next run makes again."""


class Attempts(Database):
    """Keep attempts and scores; what failed is replaced by the next try."""

    def known_attempts(self, keys: Iterable[str]) -> set[str]:
        """Return those keys whose attempt need not be made again."""
        table = attempt_table.c
        query = select(table.key).where(table.status.not_in(UNFINISHED))
        return {key for (key,) in self._among(query, table.key, keys)}

    def put_attempts(self, rows: Iterable[tuple[str, Attempt]]) -> None:
        """Store attempts by key; one that is there stays, unless it has to be made again."""
        failed = or_(*(attempt_table.c.status == status for status in UNFINISHED))
        statement = self._upsert(attempt_table, replace=("status", "document"), where=failed)
        left: set[tuple[str, str]] = set()

        def documents() -> Iterator[dict[str, str]]:
            for key, attempt in rows:
                left.update(
                    (key, file) for after in _left(attempt) for file in after.values() if file
                )
                yield {"key": key, "status": attempt.status.value, "document": encode(attempt)}

        with self.batch():
            self._forget_damaged(attempt_table)
            self._put(statement, documents())
            if left:
                links = ({"attempt_key": key, "file_key": file} for key, file in sorted(left))
                self._put(self._upsert(file_table), links)

    def attempts(self, keys: Iterable[str]) -> dict[str, Attempt]:
        """Return the stored attempts by key, those in error too; damaged ones are left out."""
        table = attempt_table.c
        found = self._among(select(table.key, table.document), table.key, keys)
        return self._readable(found, attempt_from)

    def known_scores(self, keys: Iterable[str]) -> set[str]:
        """Return those keys whose score need not be made again."""
        table = score_table.c
        query = select(table.key).where(table.status != ScoreStatus.FAILED.value)
        return {key for (key,) in self._among(query, table.key, keys)}

    def put_scores(self, rows: Iterable[tuple[str, str, Score]]) -> None:
        """Store scores with key and scorer; one that is there stays, unless it had failed."""
        failed = score_table.c.status == ScoreStatus.FAILED.value
        columns = ("scorer", "status", "document")
        self._forget_damaged(score_table)
        self._put(
            self._upsert(score_table, replace=columns, where=failed),
            (
                {
                    "key": key,
                    "scorer": scorer,
                    "status": score.status.value,
                    "document": encode(score),
                }
                for key, scorer, score in rows
            ),
        )

    def scores(self, keys: Iterable[str]) -> dict[str, Score]:
        """Return the stored scores by key, failed ones too; damaged ones are left out."""
        table = score_table.c
        found = self._among(select(table.key, table.document), table.key, keys)
        return self._readable(found, score_from)

    def _readable(self, rows: Iterable[Any], make: Callable[[Any], Made]) -> dict[str, Made]:
        found = {}
        for key, document in rows:
            try:
                found[key] = make(decode(document))
            except BROKEN:
                self.damaged.add(key)
        return found

    def _forget_damaged(self, table: Table) -> None:
        """Take rows out that could not be read, so that what is put there next is kept."""
        if self.damaged:
            with self._write() as connection:
                for chunk in chunks(self.damaged):
                    connection.execute(delete(table).where(table.c.key.in_(chunk)))


def _left(attempt: Attempt) -> Sequence[Mapping[str, str]]:
    """Return the files that an agent left, after each of its rounds."""
    found: Sequence[Mapping[str, str]] = attempt.notes.get(FILES, ())
    return found
