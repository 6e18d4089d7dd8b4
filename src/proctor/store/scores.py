"""Scores in the store, by content key."""

from collections.abc import Iterable

from sqlalchemy import func, or_, select

from proctor.core.encoding import score_from
from proctor.core.score import Score, ScoreStatus
from proctor.store.database import Database
from proctor.store.rows import BROKEN, decode, encode, readable
from proctor.store.runs import Homes
from proctor.store.schema import run_scores
from proctor.store.schema import scores as score_table

DAMAGED = "what the store has of this is damaged or gone; the same command makes it again"
UNFINISHED = tuple(status.value for status in ScoreStatus if not status.is_final)
"""What became of a score that the next run makes again."""


class Scores:
    """Scores by key; a failed one is replaced by the next try."""

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self._homes = homes
        self._damaged: set[str] = set()
        """The keys of scores that could not be read, and may be put again."""

    def stored_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys whose score is stored and need not be made again."""
        table = score_table.c
        query = select(table.key).where(table.status.not_in(UNFINISHED))
        return {key for (key,) in self._database.fetch_among(query, table.key, keys)}

    def put(self, rows: Iterable[tuple[str, str, Score]]) -> None:
        """Store scores with key and scorer; an existing one is kept unless it failed."""
        failed = or_(*(score_table.c.status == status for status in UNFINISHED))
        columns = ("scorer", "status", "document")
        self._database.delete_keys(score_table, self._damaged)
        self._database.execute_many(
            self._database.upsert(score_table, replace=columns, where=failed),
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

    def get_many(self, keys: Iterable[str]) -> dict[str, Score]:
        """Return stored scores by key, failed ones too; damaged ones are left out."""
        table = score_table.c
        query = select(table.key, table.document)
        rows = self._database.fetch_among(query, table.key, keys)
        return readable(rows, score_from, self._damaged)

    def decode(self, key: str, document: str) -> Score:
        """Decode a score; an unreadable one is a failed score."""
        try:
            return score_from(decode(document))
        except BROKEN:
            self._damaged.add(key)
            return Score.failed(DAMAGED)

    def count(self, run_id: str) -> int:
        """Return the number of scores of a run, stored or not."""
        if (home := self._homes.run(run_id)) is not None:
            return sum(part.scores for part in home.parts)
        return self._database.count(select(func.count()).where(run_scores.c.run_id == run_id))
