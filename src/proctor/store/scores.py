"""Scores in the store, by content key."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from proctor.core.encoding import score_from
from proctor.core.score import Score, ScoreStatus
from proctor.store import sql
from proctor.store.database import Database, among
from proctor.store.homes import Homes
from proctor.store.rows import BROKEN, decode, encode, readable
from proctor.store.statements import statement

if TYPE_CHECKING:
    from sqlalchemy import Executable

DAMAGED = "what the store has of this is damaged or gone; the same command makes it again"
UNFINISHED = tuple(status.value for status in ScoreStatus if not status.is_final)
"""What became of a score that the next run makes again."""


@statement
def final_scores(_database: Database) -> "Executable":
    """Select the keys of scores that need not be made again, among some keys."""
    table = sql.scores.c
    final = (table.status != status for status in UNFINISHED)
    return among(sql.select(table.key).where(*final), table.key)


@statement
def put_scores(database: Database) -> "Executable":
    """Insert scores; an existing one is replaced if it failed."""
    failed = sql.or_(*(sql.scores.c.status == status for status in UNFINISHED))
    return database.upsert(sql.scores, replace=("scorer", "status", "document"), where=failed)


@statement
def scores_among(_database: Database) -> "Executable":
    """Select scores by their keys."""
    table = sql.scores.c
    return among(sql.select(table.key, table.document), table.key)


@statement
def count_scores(_database: Database) -> "Executable":
    """Count the scores of a run, stored or not."""
    mine = sql.run_scores.c.run_id == sql.bindparam("run_id")
    return sql.select(sql.func.count()).where(mine)


class Scores:
    """Scores by key; a failed one is replaced by the next try."""

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self._homes = homes
        self._damaged: set[str] = set()
        """The keys of scores that could not be read, and may be put again."""

    def stored_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys whose score is stored and need not be made again."""
        return {key for (key,) in self._database.fetch_keyed(final_scores, keys)}

    def put(self, rows: Iterable[tuple[str, str, Score]]) -> None:
        """Store scores with key and scorer; an existing one is kept unless it failed."""
        self._database.delete_keys("scores", self._damaged)
        self._database.execute_many(
            put_scores,
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
        rows = self._database.fetch_keyed(scores_among, keys)
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
        return self._database.count(count_scores, {"run_id": run_id})
