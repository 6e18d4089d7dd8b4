"""Batch jobs in the store: what was handed in to a provider, until its replies are stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select, update

from proctor.core.suite import Json
from proctor.store.database import Database, chunks
from proctor.store.rows import decode, encode
from proctor.store.schema import batch_calls, batches


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One job that was handed in, or was about to be."""

    id: str
    """Our name of it."""
    model: str
    """The digest of the model's identity."""
    remote: str
    """The provider's id; empty as long as it is not known whether it arrived."""
    created: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCall:
    """One call of a job."""

    key: str
    request: Json
    written: Json
    """What is needed to read the reply."""


class Batches:
    """Jobs whose replies are not stored yet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, batch: BatchRow, calls: Sequence[BatchCall]) -> None:
        """Store a job before it is handed in."""
        with self._database.write(repeatable=False) as connection:
            connection.execute(
                insert(batches),
                [
                    {
                        "id": batch.id,
                        "model": batch.model,
                        "remote": batch.remote,
                        "created": batch.created,
                    }
                ],
            )
            for chunk in chunks(enumerate(calls)):
                connection.execute(
                    insert(batch_calls),
                    [
                        {
                            "batch": batch.id,
                            "number": number,
                            "key": call.key,
                            "request": encode(call.request),
                            "written": encode(call.written),
                        }
                        for number, call in chunk
                    ],
                )

    def arrived(self, batch: str, remote: str) -> None:
        """Store the provider's id of a job."""
        with self._database.write() as connection:
            connection.execute(update(batches).where(batches.c.id == batch).values(remote=remote))

    def remove(self, batch: str) -> None:
        """Forget a job: its replies are stored, or it never arrived."""
        with self._database.write() as connection:
            connection.execute(delete(batch_calls).where(batch_calls.c.batch == batch))
            connection.execute(delete(batches).where(batches.c.id == batch))

    def of_model(self, model: str) -> list[BatchRow]:
        """Return the jobs of a model, the oldest first."""
        query = select(batches).where(batches.c.model == model).order_by(batches.c.created)
        return [BatchRow(**row._mapping) for row in self._database.fetch_all(query)]

    def calls(self, batch: str) -> list[BatchCall]:
        """Return the calls of a job, in the order in which they were handed in."""
        query = select(batch_calls).where(batch_calls.c.batch == batch)
        rows = self._database.fetch_all(query.order_by(batch_calls.c.number))
        return [
            BatchCall(key=row.key, request=decode(row.request), written=decode(row.written))
            for row in rows
        ]

    def pending(self) -> int:
        """Return how many calls are in jobs whose replies are not stored yet."""
        return self._database.count(select(func.count()).select_from(batch_calls))
