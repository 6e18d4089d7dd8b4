"""Baselines in the store: the run of a suite that later runs are compared with."""

from dataclasses import dataclass

from sqlalchemy import delete, func, select

from proctor.store.database import Database
from proctor.store.database_time import DatabaseTime
from proctor.store.schema import baselines


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedRun:
    """A run that is pinned for the suite of its name."""

    suite: str
    run_id: str
    pinned: float
    """When it was pinned, in seconds since 1970."""


class Baselines:
    """Pinned runs, one for each name of a suite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pin(self, suite: str, run_id: str) -> None:
        """Make a run the baseline of a suite, in place of another one."""
        row = {"suite": suite, "run_id": run_id, "pinned": self._now()}
        statement = self._database.upsert(baselines, replace=("run_id", "pinned"))
        self._database.execute_many(statement, [row])

    def get(self, suite: str) -> PinnedRun | None:
        """Return the baseline of a suite, if it has one."""
        row = self._database.fetch_first(select(baselines).where(baselines.c.suite == suite))
        return None if row is None else PinnedRun(**row._mapping)

    def all(self) -> list[PinnedRun]:
        """Return the baselines of all suites, by their names."""
        rows = self._database.fetch_all(select(baselines).order_by(baselines.c.suite))
        return [PinnedRun(**row._mapping) for row in rows]

    def clear(self, suite: str) -> bool:
        """Leave a suite without a baseline, and tell whether it had one."""
        with self._database.write() as connection:
            deleted = connection.execute(
                select(func.count()).select_from(baselines).where(baselines.c.suite == suite)
            ).scalar_one()
            connection.execute(delete(baselines).where(baselines.c.suite == suite))
        return bool(deleted)

    def _now(self) -> float:
        row = self._database.fetch_first(select(DatabaseTime()))
        assert row is not None
        return float(row[0])
