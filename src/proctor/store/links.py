"""What a run consists of: which attempts with which scores, read by the places of its cases."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, func, null, select

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import attempt_from
from proctor.core.score import Score
from proctor.core.suite import Case, Message
from proctor.store.database import Database
from proctor.store.document import BROKEN, decode
from proctor.store.rows import LinkedCase, LinkedKeys, RunAttempt
from proctor.store.schema import attempts, cases, run_attempts, run_scores, scores, suite_cases
from proctor.store.scores import DAMAGED, Scores
from proctor.store.suites import case_or_broken

Place = tuple[int, int]
Scored = tuple[Attempt, dict[str, Score]]
Within = Callable[[Column[int]], ColumnElement[bool]]
"""Says which positions are meant."""


class LinkReader:
    """Reader of what is linked to a run at some positions."""

    def __init__(self, database: Database, scores: Scores, damaged: set[str]) -> None:
        self._database = database
        self._scores = scores
        self._damaged = damaged
        """Where the keys of attempts go that cannot be read."""

    def end_of_page(self, run_id: str, after: int, positions: int) -> int | None:
        """Return the last of the next so many positions of a run; none at its end."""
        table = run_attempts.c
        page = (
            select(table.position)
            .where(table.run_id == run_id, table.position > after)
            .distinct()
            .order_by(table.position)
            .limit(positions)
            .subquery()
        )
        row = self._database.fetch_first(select(func.max(page.c.position)))
        return None if row is None else row[0]

    def cases(self, run_id: str, suite_key: str, within: Within) -> Iterator[LinkedCase]:
        """Yield the cases with their attempts and scores, in order."""
        by_position: dict[int, tuple[list[Scored], list[dict[str, str]]]] = {}
        keys, read = self._read_scores(run_id, within)
        for place, attempt in self._read_attempts(run_id, within):
            pairs, linked = by_position.setdefault(place[0], ([], []))
            pairs.append((attempt, read.get(place, {})))
            linked.append(keys.get(place, {}))
        stored = self._read_cases(suite_key, within)
        for position, (pairs, linked) in by_position.items():
            yield LinkedCase(position, stored.get(position) or _lost(position), pairs, linked)

    def keys(self, run_id: str, within: Within) -> Iterator[Sequence[LinkedKeys]]:
        """Yield the keys of attempts and scores, case by case, in order."""
        table = run_attempts.c
        score_keys, _ = self._read_scores(run_id, within, documents=False)
        query = select(table.position, table.number, table.attempt_key)
        query = query.where(table.run_id == run_id, within(table.position))
        by_position: dict[int, list[LinkedKeys]] = {}
        rows = self._database.fetch_all(query.order_by(table.position, table.number))
        for position, number, key in rows:
            linked = LinkedKeys(key, score_keys.get((position, number), {}))
            by_position.setdefault(position, []).append(linked)
        yield from by_position.values()

    def _read_attempts(self, run_id: str, within: Within) -> Iterator[tuple[Place, Attempt]]:
        table = run_attempts.c
        query = (
            select(table.position, table.number, table.attempt_key, attempts.c.document)
            .select_from(run_attempts)
            .outerjoin(attempts, attempts.c.key == table.attempt_key)
            .where(table.run_id == run_id, within(table.position))
            .order_by(table.position, table.number)
        )
        for position, number, key, document in self._database.fetch_all(query):
            try:
                attempt = attempt_from(decode(document))
            except BROKEN:
                self._damaged.add(key)
                attempt = Attempt(
                    case_id="", index=number, status=AttemptStatus.ERROR, error=DAMAGED
                )
            yield (position, number), attempt

    def _read_scores(
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

    def _read_cases(self, suite_key: str, within: Within) -> dict[int, Case]:
        table = suite_cases.c
        query = (
            select(table.position, table.case_id, table.source, cases.c.document)
            .outerjoin(cases, cases.c.key == table.case_key)
            .where(table.suite_key == suite_key, within(table.position))
        )
        return {row.position: case_or_broken(row) for row in self._database.fetch_all(query)}


def place_of(run_id: str, row: RunAttempt) -> dict[str, Any]:
    """Return the columns that say where in a run an attempt is."""
    return {"run_id": run_id, "position": row.position, "number": row.index}


def between(first: int, last: int) -> Within:
    """Return the condition that a position lies between two, or is one of them."""
    return lambda position: position.between(first, last)


def one_of(positions: Sequence[int]) -> Within:
    """Return the condition that a position is one of some."""
    return lambda position: position.in_(positions)


def _lost(position: int) -> Case:
    message = Message(role="system", content="This case is not in the store any more.")
    return Case(id=f"case {position + 1}", messages=(message,), criteria=())
