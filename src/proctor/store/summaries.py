"""Summaries: the numbers of a whole run."""

from collections.abc import Mapping

from sqlalchemy import select

from proctor.core.suite import Json
from proctor.store.database import Database
from proctor.store.document import BROKEN, decode_object, encode
from proctor.store.schema import summaries


class Summaries:
    """The numbers of runs, one document each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, run_id: str, summary_json: Mapping[str, Json]) -> None:
        """Store the numbers of a run, or replace them."""
        row = {"run_id": run_id, "document": encode(summary_json)}
        self._database.execute_many(self._database.upsert(summaries, replace=("document",)), [row])

    def get(self, run_id: str) -> dict[str, Json] | None:
        """Return the numbers of a run: none where it has not come so far, nothing if damaged."""
        row = self._database.fetch_first(
            select(summaries.c.document).where(summaries.c.run_id == run_id)
        )
        if row is None:
            return None
        try:
            return decode_object(row.document)
        except BROKEN:
            return {}
