"""What a run consists of: which attempts with which scores, streamed case by case."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, delete, func, null, or_, select

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import attempt_from, score_from
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Message
from proctor.errors import StoreError
from proctor.store.database import chunks
from proctor.store.document import BROKEN, decode
from proctor.store.liveness import Liveness
from proctor.store.rows import LinkedCase, LinkedKeys, RunAttempt
from proctor.store.schema import (
    attempts,
    cases,
    run_attempts,
    run_results,
    run_scores,
    scores,
    suite_cases,
)
from proctor.store.suites import case_or_broken

DAMAGED = "what the store has of this is damaged or gone; the same command makes it again"
Place = tuple[int, int]
Tried = tuple[Attempt, dict[str, Score]]
Within = Callable[[Column[int]], ColumnElement[bool]]
"""Says which positions are meant."""


class Links(Liveness):
    """Keep which attempts and scores belong to which run."""

    def link(self, run_id: str, rows: Iterable[RunAttempt]) -> None:
        """Give attempts and scores to a run; what is linked at the same place is replaced."""
        to_attempts = self._upsert(run_attempts, replace=("attempt_key",))
        to_scores = self._upsert(run_scores, replace=("score_key",))
        with self._write() as connection:
            self.begin_run(run_id)
            for chunk in chunks(rows):
                places = [{**_place(run_id, row), "attempt_key": row.attempt_key} for row in chunk]
                connection.execute(to_attempts, places)
                judged = [
                    {**_place(run_id, row), "criterion": criterion, "score_key": key}
                    for row in chunk
                    for criterion, key in row.score_keys.items()
                ]
                if judged:
                    connection.execute(to_scores, judged)

    def unlink(self, run_id: str) -> None:
        """Take all attempts and scores from a run; they stay in the store."""
        with self._write() as connection:
            for table in (run_attempts, run_scores):
                connection.execute(delete(table).where(table.c.run_id == run_id))

    def linked(self, run_id: str, *, after: int = -1, positions: int = 200) -> Iterator[LinkedCase]:
        """Yield all that a run has, case by case in order, reading so many cases at a time.

        A score that several attempts at a case share is one and the same object in each of them.
        """
        suite_key = self._suite_of(run_id)
        while (last := self._end_of_page(run_id, after, positions)) is not None:
            yield from self._between(run_id, suite_key, after + 1, last)
            after = last

    def linked_keys(self, run_id: str, *, positions: int = 200) -> Iterator[Sequence[LinkedKeys]]:
        """Yield the keys of a run's attempts and scores, case by case, in the order of them."""
        after = -1
        table = run_attempts.c
        while (last := self._end_of_page(run_id, after, positions)) is not None:
            within = _between(after + 1, last)
            keys, _ = self._scores(run_id, within, documents=False)
            query = select(table.position, table.number, table.attempt_key)
            query = query.where(table.run_id == run_id, within(table.position))
            found: dict[int, list[LinkedKeys]] = {}
            for place, number, key in self._all(query.order_by(table.position, table.number)):
                scored = keys.get((place, number), {})
                found.setdefault(place, []).append(LinkedKeys(key, scored))
            yield from found.values()
            after = last

    def count_attempts(self, run_id: str) -> int:
        """Return how many attempts a run has."""
        row = self._first(select(func.count()).where(run_attempts.c.run_id == run_id))
        return 0 if row is None else int(row[0])

    def count_scores(self, run_id: str) -> int:
        """Return how many scores a run has or still needs."""
        query = select(func.count()).where(run_scores.c.run_id == run_id)
        row = self._first(query)
        return 0 if row is None else int(row[0])

    def lacks_scores(self, run_id: str) -> bool:
        """Tell whether a run needs a score that is not there, or that failed."""
        query = (
            select(run_scores.c.position)
            .outerjoin(scores, scores.c.key == run_scores.c.score_key)
            .where(
                run_scores.c.run_id == run_id,
                or_(scores.c.key.is_(None), scores.c.status == ScoreStatus.FAILED.value),
            )
            .limit(1)
        )
        return self._first(query) is not None

    def one_case(self, run_id: str, case_id: str) -> LinkedCase:
        """Return all that a run has for one case."""
        suite_key = self._suite_of(run_id)
        table = suite_cases.c
        where = (table.suite_key == suite_key, table.case_id == case_id)
        places = self._all(select(table.position).where(*where).order_by(table.position))
        for row in places:
            for found in self._between(run_id, suite_key, row.position, row.position):
                return found
        known = "" if places else ", nor has its suite"
        raise StoreError(f"the run {run_id} has no case {case_id!r}{known}")

    def linked_at(self, run_id: str, positions: Sequence[int]) -> list[LinkedCase]:
        """Return what a run has at some positions, in their order."""
        suite_key = self._suite_of(run_id)
        found: dict[int, LinkedCase] = {}
        for chunk in chunks(positions):
            rows = self._within(run_id, suite_key, _one_of(chunk))
            found |= {row.position: row for row in rows}
        return [found[position] for position in positions if position in found]

    def neighbours(self, run_id: str, position: int) -> tuple[str | None, str | None]:
        """Return the ids of the cases before and after a place in a run."""
        place = run_results.c.position
        query = select(run_results.c.case_id).where(run_results.c.run_id == run_id)
        before = self._first(query.where(place < position).order_by(place.desc()).limit(1))
        after = self._first(query.where(place > position).order_by(place).limit(1))
        return before and before.case_id, after and after.case_id

    def _suite_of(self, run_id: str) -> str:
        row = self._by_id(run_id)
        if row is None:
            raise self._no_run(run_id)
        return str(row.suite_key)

    def _end_of_page(self, run_id: str, after: int, positions: int) -> int | None:
        table = run_attempts.c
        page = (
            select(table.position)
            .where(table.run_id == run_id, table.position > after)
            .distinct()
            .order_by(table.position)
            .limit(positions)
            .subquery()
        )
        row = self._first(select(func.max(page.c.position)))
        return None if row is None else row[0]

    def _between(self, run_id: str, suite_key: str, first: int, last: int) -> Iterator[LinkedCase]:
        return self._within(run_id, suite_key, _between(first, last))

    def _within(self, run_id: str, suite_key: str, within: Within) -> Iterator[LinkedCase]:
        by_position: dict[int, tuple[list[Tried], list[dict[str, str]]]] = {}
        keys, judged = self._scores(run_id, within)
        for place, attempt in self._attempts(run_id, within):
            pairs, linked = by_position.setdefault(place[0], ([], []))
            pairs.append((attempt, judged.get(place, {})))
            linked.append(keys.get(place, {}))
        known = self._cases(suite_key, within)
        for position, (pairs, linked) in by_position.items():
            yield LinkedCase(position, known.get(position) or _lost(position), pairs, linked)

    def _attempts(self, run_id: str, within: Within) -> Iterator[tuple[Place, Attempt]]:
        table = run_attempts.c
        query = (
            select(table.position, table.number, table.attempt_key, attempts.c.document)
            .select_from(run_attempts)
            .outerjoin(attempts, attempts.c.key == table.attempt_key)
            .where(table.run_id == run_id, within(table.position))
            .order_by(table.position, table.number)
        )
        for position, number, key, document in self._all(query):
            try:
                attempt = attempt_from(decode(document))
            except BROKEN:
                self.damaged.add(key)
                attempt = Attempt(
                    case_id="", index=number, status=AttemptStatus.ERROR, error=DAMAGED
                )
            yield (position, number), attempt

    def _scores(
        self, run_id: str, within: Within, *, documents: bool = True
    ) -> tuple[dict[Place, dict[str, str]], dict[Place, dict[str, Score]]]:
        """Return the keys that attempts are linked to, and the scores that there are of them."""
        table = run_scores.c
        document: Any = scores.c.document if documents else null()
        query = select(
            table.position, table.number, table.criterion, table.score_key, document
        ).where(table.run_id == run_id, within(table.position))
        if documents:
            query = query.outerjoin(scores, scores.c.key == table.score_key)
        keys: dict[Place, dict[str, str]] = {}
        found: dict[Place, dict[str, Score]] = {}
        known: dict[str, Score] = {}
        for position, number, criterion, key, document in self._all(query):
            keys.setdefault((position, number), {})[criterion] = key
            if document is None:
                continue
            if key not in known:
                known[key] = self._score(key, document)
            found.setdefault((position, number), {})[criterion] = known[key]
        return keys, found

    def _score(self, key: str, document: str) -> Score:
        try:
            return score_from(decode(document))
        except BROKEN:
            self.damaged.add(key)
            return Score.failed(DAMAGED)

    def _cases(self, suite_key: str, within: Within) -> dict[int, Case]:
        table = suite_cases.c
        query = (
            select(table.position, table.case_id, table.source, cases.c.document)
            .outerjoin(cases, cases.c.key == table.case_key)
            .where(table.suite_key == suite_key, within(table.position))
        )
        return {row.position: case_or_broken(row) for row in self._all(query)}


def _lost(position: int) -> Case:
    said = Message(role="system", content="This case is not in the store any more.")
    return Case(id=f"case {position + 1}", messages=(said,), criteria=())


def _place(run_id: str, row: RunAttempt) -> dict[str, Any]:
    return {"run_id": run_id, "position": row.position, "number": row.index}


def _between(first: int, last: int) -> Within:
    return lambda position: position.between(first, last)


def _one_of(positions: Sequence[int]) -> Within:
    return lambda position: position.in_(positions)
