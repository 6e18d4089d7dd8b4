"""Where the cases of runs and suites are: in rows, or in files of parts."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from proctor.store import sql
from proctor.store.database import Database
from proctor.store.statements import statement

if TYPE_CHECKING:
    from sqlalchemy import Executable

    from proctor.store.parts.reader import RunInParts, SuiteInParts
    from proctor.store.transactions import Transaction


@statement
def part_of_run(_database: Database) -> "Executable":
    """Select a part of a run."""
    table = sql.run_parts.c
    return sql.select(table.number).where(table.run_id == sql.bindparam("run_id")).limit(1)


@statement
def part_of_suite(_database: Database) -> "Executable":
    """Select a part of a suite."""
    table = sql.suite_parts.c
    return sql.select(table.number).where(table.suite_key == sql.bindparam("suite_key")).limit(1)


class PartsOfRuns(Protocol):
    """What is done with runs and suites that have parts; ``parts.ledger`` does it."""

    def run(self, run_id: str) -> "RunInParts":
        """Return a run whose cases are files, to read from."""

    def suite(self, suite_key: str) -> "SuiteInParts":
        """Return a suite whose cases are files, to read from."""

    def drop_run(self, run_id: str) -> None:
        """Delete the parts of a run, with their files."""

    def drop_suite(self, suite_key: str) -> None:
        """Delete the parts of a suite, with their files."""

    def delete_files(self, places: Iterable[str]) -> None:
        """Delete the files of parts that no row commits any more."""

    def sweep(self) -> int:
        """Delete old files that no row commits, and return their bytes."""


class Homes:
    """Where the cases of runs and suites are: rows of tables, or files of parts.

    Callers of repositories do not know which it is; repositories ask here. Modules of parts are
    imported for runs and suites that have any.
    """

    def __init__(self, database: Database, parts: Callable[[], PartsOfRuns]) -> None:
        self._database = database
        self._parts = parts

    def any_parts(self) -> bool:
        """Tell whether the cases of some run are files."""
        query = sql.select(sql.run_parts.c.number).limit(1)
        return self._database.fetch_first(query) is not None

    def run(self, run_id: str) -> "RunInParts | None":
        """Return a run whose cases are files; None for one in rows."""
        if self._database.fetch_first(part_of_run, {"run_id": run_id}) is None:
            return None
        return self._parts().run(run_id)

    def suite(self, suite_key: str) -> "SuiteInParts | None":
        """Return a suite whose cases are files; None for one in rows."""
        if self._database.fetch_first(part_of_suite, {"suite_key": suite_key}) is None:
            return None
        return self._parts().suite(suite_key)

    def suite_of(self, run_id: str) -> "SuiteInParts | None":
        """Return a run's suite, if its cases are files."""
        row = self._database.fetch_first(
            sql.select(sql.runs.c.suite_key).where(sql.runs.c.id == run_id)
        )
        return None if row is None else self.suite(row.suite_key)

    def leave_parts(self, run_id: str) -> None:
        """Give up the parts of a run that gets rows."""
        if self.run(run_id) is not None:
            self._parts().drop_run(run_id)

    def leave_suite_parts(self, suite_key: str) -> None:
        """Give up the parts of a suite that gets rows."""
        if self.suite(suite_key) is not None:
            self._parts().drop_suite(suite_key)

    def forget(self, connection: "Transaction", run_id: str, suite_key: str | None) -> list[str]:
        """Delete the rows of a run's parts, and of a suite's, and return the places of both."""
        places: list[str] = []
        owned = [sql.run_parts.c.run_id == run_id]
        if suite_key is not None:
            owned.append(sql.suite_parts.c.suite_key == suite_key)
        for table, mine in zip((sql.run_parts, sql.suite_parts), owned, strict=False):
            places += connection.execute(sql.select(table.c.place).where(mine)).scalars()
            connection.execute(sql.delete(table).where(mine))
        return places

    def delete_files(self, places: Sequence[str]) -> None:
        """Delete the files of forgotten parts, and such as nobody committed long ago."""
        if places:
            self._parts().delete_files(places)
            self._parts().sweep()
