"""Attempts in the store: by the key of their content, and case by case in their runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import attempt_from
from proctor.core.fingerprint import digest
from proctor.core.rounds import FILES
from proctor.core.score import Score
from proctor.errors import StoreError
from proctor.store import sql
from proctor.store.database import Database, among, chunks
from proctor.store.record_text import encode_record
from proctor.store.rows import (
    BROKEN,
    LinkedCase,
    LinkedKeys,
    Positions,
    decode,
    readable,
)
from proctor.store.runs import Liveness, Runs
from proctor.store.scores import Scores
from proctor.store.statements import statement
from proctor.store.suites import Suites, damaged_attempt, lost_case

if TYPE_CHECKING:
    from sqlalchemy import Executable

    from proctor.store.parts.linked import PartLinks
    from proctor.store.parts.reader import RunInParts

    class Link(Protocol):
        """What says which attempt a run has at a position, and which scores."""

        @property
        def position(self) -> int:
            """The position of the case in the run's suite."""

        @property
        def index(self) -> int:
            """The number of the attempt at its case."""

        @property
        def attempt_key(self) -> str:
            """The key of the attempt."""

        @property
        def score_keys(self) -> Mapping[str, str]:
            """The keys of its scores, by criterion id."""


Place = tuple[int, int]
Scored = tuple[Attempt, dict[str, Score]]
PAGE = 200
"""Positions that are read at once from rows."""
BLOCK = 1000
"""Positions that are read at once from parts."""


class LinkReader:
    """Reader of a run's links at some positions."""

    def __init__(
        self, database: Database, suites: Suites, scores: Scores, damaged: set[str]
    ) -> None:
        self._database = database
        self._suites = suites
        self._scores = scores
        self._damaged = damaged
        """Where the keys of attempts go that cannot be read."""

    def end_of_page(self, run_id: str, after: int, positions: int) -> int | None:
        """Return the last position of a run's next page; None at its end."""
        table = sql.run_attempts.c
        page = (
            sql.select(table.position)
            .where(table.run_id == run_id, table.position > after)
            .distinct()
            .order_by(table.position)
            .limit(positions)
            .subquery()
        )
        row = self._database.fetch_first(sql.select(sql.func.max(page.c.position)))
        return None if row is None else row[0]

    def cases(self, run_id: str, suite_key: str, within: Positions) -> Iterator[LinkedCase]:
        """Yield the cases with their attempts and scores, in order."""
        by_position: dict[int, tuple[list[Scored], list[dict[str, str]]]] = {}
        keys, read = self._read_scores(run_id, within)
        for place, attempt in self._read_attempts(run_id, within):
            pairs, linked = by_position.setdefault(place[0], ([], []))
            pairs.append((attempt, read.get(place, {})))
            linked.append(keys.get(place, {}))
        stored = self._suites.cases_at(suite_key, within)
        for position, (pairs, linked) in by_position.items():
            yield LinkedCase(position, stored.get(position) or lost_case(position), pairs, linked)

    def keys(self, run_id: str, within: Positions) -> Iterator[Sequence[LinkedKeys]]:
        """Yield the keys of attempts and scores, case by case, in order."""
        table = sql.run_attempts.c
        score_keys, _ = self._read_scores(run_id, within, documents=False)
        query = sql.select(table.position, table.number, table.attempt_key)
        query = query.where(table.run_id == run_id, within.sql(table.position))
        by_position: dict[int, list[LinkedKeys]] = {}
        rows = self._database.fetch_all(query.order_by(table.position, table.number))
        for position, number, key in rows:
            linked = LinkedKeys(key, score_keys.get((position, number), {}))
            by_position.setdefault(position, []).append(linked)
        yield from by_position.values()

    def _read_attempts(self, run_id: str, within: Positions) -> Iterator[tuple[Place, Attempt]]:
        table = sql.run_attempts.c
        query = (
            sql.select(table.position, table.number, table.attempt_key, sql.attempts.c.document)
            .select_from(sql.run_attempts)
            .outerjoin(sql.attempts, sql.attempts.c.key == table.attempt_key)
            .where(table.run_id == run_id, within.sql(table.position))
            .order_by(table.position, table.number)
        )
        for position, number, key, document in self._database.fetch_all(query):
            try:
                attempt = attempt_from(decode(document))
            except BROKEN:
                self._damaged.add(key)
                attempt = damaged_attempt("", number)
            yield (position, number), attempt

    def _read_scores(
        self, run_id: str, within: Positions, *, documents: bool = True
    ) -> tuple[dict[Place, dict[str, str]], dict[Place, dict[str, Score]]]:
        """Return the score keys of attempts, and the scores that are stored."""
        table = sql.run_scores.c
        document: Any = sql.scores.c.document if documents else sql.null()
        query = sql.select(
            table.position, table.number, table.criterion, table.score_key, document
        ).where(table.run_id == run_id, within.sql(table.position))
        if documents:
            query = query.outerjoin(sql.scores, sql.scores.c.key == table.score_key)
        keys: dict[Place, dict[str, str]] = {}
        by_place: dict[Place, dict[str, Score]] = {}
        by_key: dict[str, Score] = {}
        for position, number, criterion, key, document in self._database.fetch_all(query):
            keys.setdefault((position, number), {})[criterion] = key
            if document is None:
                continue
            if key not in by_key:
                by_key[key] = self._scores.decode(key, document)
            by_place.setdefault((position, number), {})[criterion] = by_key[key]
        return keys, by_place


UNFINISHED = tuple(status.value for status in AttemptStatus if not status.is_final)
"""Statuses of attempts that the next run makes again."""


@statement
def final_attempts(_database: Database) -> "Executable":
    """Select the keys of attempts that need not be made again, among some keys."""
    table = sql.attempts.c
    final = (table.status != status for status in UNFINISHED)
    return among(sql.select(table.key).where(*final), table.key)


@statement
def put_attempts(database: Database) -> "Executable":
    """Insert attempts; an existing one is replaced if it must be made again."""
    failed = sql.or_(*(sql.attempts.c.status == status for status in UNFINISHED))
    return database.upsert(sql.attempts, replace=("status", "document"), where=failed)


@statement
def put_attempt_files(database: Database) -> "Executable":
    """Insert which files were left after attempts."""
    return database.upsert(sql.attempt_files)


@statement
def attempts_among(_database: Database) -> "Executable":
    """Select attempts by their keys."""
    table = sql.attempts.c
    return among(sql.select(table.key, table.document), table.key)


@statement
def link_attempts(database: Database) -> "Executable":
    """Insert the attempts of a run, or replace those at the same positions."""
    return database.upsert(sql.run_attempts, replace=("attempt_key",))


@statement
def link_scores(database: Database) -> "Executable":
    """Insert the scores of a run, or replace those at the same positions."""
    return database.upsert(sql.run_scores, replace=("score_key",))


@statement
def count_attempts(_database: Database) -> "Executable":
    """Count the attempts of a run."""
    mine = sql.run_attempts.c.run_id == sql.bindparam("run_id")
    return sql.select(sql.func.count()).where(mine)


@statement
def put_files(database: Database) -> "Executable":
    """Insert files by the keys of their contents."""
    return database.upsert(sql.files)


class Attempts:
    """Attempts by key, and their links, with scores, to runs.

    Failed attempts are replaced by the next try.
    """

    def __init__(
        self, database: Database, runs: Runs, suites: Suites, liveness: Liveness, scores: Scores
    ) -> None:
        self._database = database
        self._runs = runs
        self._suites = suites
        self._homes = suites.homes
        self._liveness = liveness
        self._damaged: set[str] = set()
        """The keys of attempts that could not be read, and may be put again."""
        self._links = LinkReader(database, suites, scores, self._damaged)

    def stored_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys whose attempt is stored and need not be made again."""
        return {key for (key,) in self._database.fetch_keyed(final_attempts, keys)}

    def put(self, rows: Iterable[tuple[str, Attempt]]) -> None:
        """Store attempts by key; an existing one is kept unless it must be made again."""
        left: set[tuple[str, str]] = set()

        def documents() -> Iterator[dict[str, str]]:
            for key, attempt in rows:
                if attempt.notes:
                    left.update(
                        (key, file) for after in _left(attempt) for file in after.values() if file
                    )
                document = encode_record(attempt)
                yield {"key": key, "status": attempt.status.value, "document": document}

        with self._database.batch():
            self._database.delete_keys("attempts", self._damaged)
            self._database.execute_many(put_attempts, documents())
            if left:
                links = ({"attempt_key": key, "file_key": file} for key, file in sorted(left))
                self._database.execute_many(put_attempt_files, links)

    def reopen(self, run_id: str, keys: Iterable[str]) -> None:
        """Have attempts of a run made again, although they ended; other runs keep what they have.

        Until a new one is stored, the old one stays.
        """
        with self._database.batch():
            for key, attempt in self.get_many(keys).items():
                kept = digest("kept", key, attempt)
                linked = (sql.run_attempts.c.attempt_key == key) & (
                    sql.run_attempts.c.run_id != run_id
                )
                with self._database.write() as connection:
                    query = sql.select(sql.run_attempts.c.run_id).where(linked).limit(1)
                    if connection.execute(query).first() is not None:
                        self.put([(kept, attempt)])
                        move = sql.update(sql.run_attempts).where(linked).values(attempt_key=kept)
                        connection.execute(move)
                    again = {"status": AttemptStatus.ERROR.value}
                    connection.execute(
                        sql.update(sql.attempts).where(sql.attempts.c.key == key).values(again)
                    )

    def get_many(self, keys: Iterable[str]) -> dict[str, Attempt]:
        """Return stored attempts by key, failed ones too; damaged ones are left out."""
        rows = self._database.fetch_keyed(attempts_among, keys)
        return readable(rows, attempt_from, self._damaged)

    def link(self, run_id: str, rows: "Iterable[Link]") -> None:
        """Link attempts and scores to a run, replacing links at the same positions."""
        with self._database.write() as connection:
            self._liveness.begin(run_id)
            self._homes.leave_parts(run_id)
            for chunk in chunks(rows):
                places = [
                    {
                        "run_id": run_id,
                        "position": row.position,
                        "number": row.index,
                        "attempt_key": row.attempt_key,
                    }
                    for row in chunk
                ]
                connection.execute(link_attempts, places)
                scored = [
                    {
                        "run_id": run_id,
                        "position": row.position,
                        "number": row.index,
                        "criterion": criterion,
                        "score_key": key,
                    }
                    for row in chunk
                    for criterion, key in row.score_keys.items()
                ]
                if scored:
                    connection.execute(link_scores, scored)

    def unlink(self, run_id: str) -> None:
        """Unlink all attempts and scores from a run; they stay in the store."""
        self._homes.leave_parts(run_id)
        with self._database.write() as connection:
            for table in (sql.run_attempts, sql.run_scores):
                connection.execute(sql.delete(table).where(table.c.run_id == run_id))

    def iter_cases(
        self, run_id: str, *, after: int = -1, positions: int = PAGE
    ) -> Iterator[LinkedCase]:
        """Yield the cases of a run with attempts and scores, in order, reading a page at a time.

        A score that several attempts at a case share is the same object in each of them.
        """
        suite_key = self._runs.suite_key(run_id)
        for within in self._pages(run_id, after, positions):
            yield from self._cases(run_id, suite_key, within)

    def iter_keys(self, run_id: str) -> Iterator[Sequence[LinkedKeys]]:
        """Yield the keys of a run's attempts and scores, case by case, in order."""
        suite_key = self._runs.suite_key(run_id)
        for within in self._pages(run_id):
            if (home := self._homes.run(run_id)) is None:
                yield from self._links.keys(run_id, within)
                continue
            yield from self._part_links(home, suite_key).keys(run_id, within)

    def case(self, run_id: str, case_id: str) -> LinkedCase:
        """Return the attempts and scores of one case of a run."""
        suite_key = self._runs.suite_key(run_id)
        places = self._places_of(run_id, suite_key, case_id)
        for place in places:
            for case in self._cases(run_id, suite_key, Positions(place, place)):
                return case
        more = "" if places else ", nor has its suite"
        raise StoreError(f"the run {run_id} has no case {case_id!r}{more}")

    def cases_at(self, run_id: str, positions: Sequence[int]) -> list[LinkedCase]:
        """Return the cases of a run at some positions, in order."""
        suite_key = self._runs.suite_key(run_id)
        by_position: dict[int, LinkedCase] = {}
        for chunk in chunks(positions):
            cases = self._cases(run_id, suite_key, Positions.of(chunk))
            by_position |= {case.position: case for case in cases}
        return [by_position[position] for position in positions if position in by_position]

    def seconds_at(self, run_id: str, positions: Sequence[int]) -> list[float]:
        """Return how long the attempts at some cases took, where somebody measured it."""
        if (home := self._homes.run(run_id)) is not None:
            from proctor.store.parts.layout import ATTEMPTS
            from proctor.store.parts.orders import seconds_of

            tables = home.tables(ATTEMPTS, ("position", "attempt"), Positions.of(positions))
            return [seconds for table in tables for seconds in seconds_of(table)]
        return [
            attempt.seconds
            for linked in self.cases_at(run_id, positions)
            for attempt, _ in linked.attempts
            if attempt.seconds is not None
        ]

    def count(self, run_id: str) -> int:
        """Return the number of attempts of a run."""
        if (home := self._homes.run(run_id)) is not None:
            return sum(part.attempts for part in home.parts)
        return self._database.count(count_attempts, {"run_id": run_id})

    def _places_of(self, run_id: str, suite_key: str, case_id: str) -> Sequence[int]:
        if (home := self._homes.run(run_id)) is not None:
            places = list(home.columns.find([case_id]).values())
            # Results that are damaged have lost their ids.
            return places or self._suites.places_of(suite_key, case_id)
        return self._suites.places_of(suite_key, case_id)

    def _cases(self, run_id: str, suite_key: str, within: Positions) -> Iterator[LinkedCase]:
        if (home := self._homes.run(run_id)) is not None:
            return self._part_links(home, suite_key).cases(within)
        return self._links.cases(run_id, suite_key, within)

    def _part_links(self, home: "RunInParts", suite_key: str) -> "PartLinks":
        from proctor.store.parts.linked import PartLinks

        return PartLinks(home, partial(self._suites.cases_at, suite_key))

    def _pages(self, run_id: str, after: int = -1, positions: int = PAGE) -> Iterator[Positions]:
        """Yield stretches of a run's positions, each short enough to be read at once."""
        while (last := self._end_of_page(run_id, after, positions)) is not None:
            yield Positions(after + 1, last)
            after = last

    def _end_of_page(self, run_id: str, after: int, positions: int) -> int | None:
        if (home := self._homes.run(run_id)) is None:
            return self._links.end_of_page(run_id, after, positions)
        last = min((after // BLOCK + 1) * BLOCK + BLOCK - 1, home.end - 1)
        return last if last > after else None


def _left(attempt: Attempt) -> Sequence[Mapping[str, str]]:
    """Return the files that an agent left, after each of its rounds."""
    rounds: Sequence[Mapping[str, str]] = attempt.notes.get(FILES, ())
    return rounds


class Files:
    """Files by content key; equal contents are stored once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, contents: Mapping[str, bytes]) -> None:
        """Store contents by key."""
        self._database.execute_many(
            put_files,
            (
                {"key": key, "size": len(content), "content": content}
                for key, content in contents.items()
            ),
        )

    def get(self, key: str) -> bytes:
        """Return the content with a key, or raise a StoreError."""
        if (content := self.get_many([key]).get(key)) is None:
            raise StoreError(f"the store at {self._database.place} has no file {key}")
        return content

    def sizes(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the sizes in bytes of stored contents, by key."""
        return dict(
            self._database.fetch_among(
                sql.select(sql.files.c.key, sql.files.c.size), sql.files.c.key, keys
            )
        )

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored contents, by key."""
        rows = self._database.fetch_among(
            sql.select(sql.files.c.key, sql.files.c.content), sql.files.c.key, keys
        )
        return {key: bytes(content) for key, content in rows}
