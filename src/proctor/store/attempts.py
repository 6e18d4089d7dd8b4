"""Attempts in the store: by the key of their content, and case by case in their runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import delete, func, or_, select

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import attempt_from
from proctor.core.rounds import FILES
from proctor.errors import StoreError
from proctor.store.database import Database, chunks
from proctor.store.document import encode, readable
from proctor.store.links import LinkReader, between, one_of, place_of
from proctor.store.liveness import Liveness
from proctor.store.rows import LinkedCase, LinkedKeys, RunAttempt
from proctor.store.runs import Runs
from proctor.store.schema import attempt_files as file_table
from proctor.store.schema import attempts as attempt_table
from proctor.store.schema import run_attempts, run_scores, suite_cases
from proctor.store.scores import Scores

UNFINISHED = (AttemptStatus.ERROR.value, AttemptStatus.STOPPED.value)
"""How an attempt ended that the next run makes again."""


class Attempts:
    """Attempts by key, and which of them, with which scores, each run has.

    What failed is replaced by the next try.
    """

    def __init__(self, database: Database, runs: Runs, liveness: Liveness, scores: Scores) -> None:
        self._database = database
        self._runs = runs
        self._liveness = liveness
        self._damaged: set[str] = set()
        """The keys of attempts that could not be read, and may be put again."""
        self._links = LinkReader(database, scores, self._damaged)

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return those keys whose attempt need not be made again."""
        table = attempt_table.c
        query = select(table.key).where(table.status.not_in(UNFINISHED))
        return {key for (key,) in self._database.fetch_among(query, table.key, keys)}

    def put(self, rows: Iterable[tuple[str, Attempt]]) -> None:
        """Store attempts by key; one that is there stays, unless it has to be made again."""
        failed = or_(*(attempt_table.c.status == status for status in UNFINISHED))
        columns = ("status", "document")
        statement = self._database.upsert(attempt_table, replace=columns, where=failed)
        left: set[tuple[str, str]] = set()

        def documents() -> Iterator[dict[str, str]]:
            for key, attempt in rows:
                left.update(
                    (key, file) for after in _left(attempt) for file in after.values() if file
                )
                yield {"key": key, "status": attempt.status.value, "document": encode(attempt)}

        with self._database.batch():
            self._database.delete_keys(attempt_table, self._damaged)
            self._database.execute_many(statement, documents())
            if left:
                links = ({"attempt_key": key, "file_key": file} for key, file in sorted(left))
                self._database.execute_many(self._database.upsert(file_table), links)

    def get_many(self, keys: Iterable[str]) -> dict[str, Attempt]:
        """Return the stored attempts by key, those in error too; damaged ones are left out."""
        table = attempt_table.c
        query = select(table.key, table.document)
        rows = self._database.fetch_among(query, table.key, keys)
        return readable(rows, attempt_from, self._damaged)

    def link(self, run_id: str, rows: Iterable[RunAttempt]) -> None:
        """Give attempts and scores to a run; what is linked at the same place is replaced."""
        to_attempts = self._database.upsert(run_attempts, replace=("attempt_key",))
        to_scores = self._database.upsert(run_scores, replace=("score_key",))
        with self._database.write() as connection:
            self._liveness.begin(run_id)
            for chunk in chunks(rows):
                places = [
                    {**place_of(run_id, row), "attempt_key": row.attempt_key} for row in chunk
                ]
                connection.execute(to_attempts, places)
                scored = [
                    {**place_of(run_id, row), "criterion": criterion, "score_key": key}
                    for row in chunk
                    for criterion, key in row.score_keys.items()
                ]
                if scored:
                    connection.execute(to_scores, scored)

    def unlink(self, run_id: str) -> None:
        """Take all attempts and scores from a run; they stay in the store."""
        with self._database.write() as connection:
            for table in (run_attempts, run_scores):
                connection.execute(delete(table).where(table.c.run_id == run_id))

    def iter_cases(
        self, run_id: str, *, after: int = -1, positions: int = 200
    ) -> Iterator[LinkedCase]:
        """Yield all that a run has, case by case in order, reading so many cases at a time.

        A score that several attempts at a case share is one and the same object in each of them.
        """
        suite_key = self._runs.suite_key(run_id)
        while (last := self._links.end_of_page(run_id, after, positions)) is not None:
            yield from self._links.cases(run_id, suite_key, between(after + 1, last))
            after = last

    def iter_keys(self, run_id: str, *, positions: int = 200) -> Iterator[Sequence[LinkedKeys]]:
        """Yield the keys of a run's attempts and scores, case by case, in the order of them."""
        after = -1
        while (last := self._links.end_of_page(run_id, after, positions)) is not None:
            yield from self._links.keys(run_id, between(after + 1, last))
            after = last

    def case(self, run_id: str, case_id: str) -> LinkedCase:
        """Return all that a run has for one case."""
        suite_key = self._runs.suite_key(run_id)
        table = suite_cases.c
        where = (table.suite_key == suite_key, table.case_id == case_id)
        query = select(table.position).where(*where).order_by(table.position)
        places = self._database.fetch_all(query)
        for row in places:
            for case in self._links.cases(run_id, suite_key, between(row.position, row.position)):
                return case
        more = "" if places else ", nor has its suite"
        raise StoreError(f"the run {run_id} has no case {case_id!r}{more}")

    def cases_at(self, run_id: str, positions: Sequence[int]) -> list[LinkedCase]:
        """Return what a run has at some positions, in their order."""
        suite_key = self._runs.suite_key(run_id)
        by_position: dict[int, LinkedCase] = {}
        for chunk in chunks(positions):
            cases = self._links.cases(run_id, suite_key, one_of(chunk))
            by_position |= {case.position: case for case in cases}
        return [by_position[position] for position in positions if position in by_position]

    def count(self, run_id: str) -> int:
        """Return how many attempts a run has."""
        return self._database.count(select(func.count()).where(run_attempts.c.run_id == run_id))


def _left(attempt: Attempt) -> Sequence[Mapping[str, str]]:
    """Return the files that an agent left, after each of its rounds."""
    rounds: Sequence[Mapping[str, str]] = attempt.notes.get(FILES, ())
    return rounds
