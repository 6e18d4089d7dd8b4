"""Writing of attempts: the one place where they enter the store and become part of a run.

Written rows stay in memory for scoring and summing, or are read from the store if they are many.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from proctor.core.attempt import Attempt
from proctor.core.fingerprint import is_plain, plain
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.engine.run.aggregate import stored_score
from proctor.errors import StoreError
from proctor.io.concurrency import batched, is_without_loop
from proctor.records import dataclass
from proctor.store.rows import LinkedCase
from proctor.store.store import Store

if TYPE_CHECKING:
    import asyncio


@dataclass(eq=False)
class StoredSoon:
    """A function call within some seconds after the first request for it.

    A store error is raised by the next call, or by the last one.
    """

    store: Callable[[], None]
    seconds: float
    _timer: "asyncio.TimerHandle | None" = None

    def wish(self) -> None:
        """Request a call within these seconds; where there is no loop, nothing is waited for."""
        if self._timer is None and not is_without_loop():
            import asyncio

            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._call)

    def stop(self) -> None:
        """Cancel the request: the function is called elsewhere."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _call(self) -> None:
        self._timer = None
        with suppress(StoreError):
            self.store()


MOST_IN_MEMORY = 5_000
"""Maximum number of a run's attempts in memory."""
MOST_TEXT = 64 * 2**20
"""Maximum number of their characters."""
BATCH = 500
"""Number of attempts written or looked up at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """An attempt at its position in a run, with its key and the keys of its scores."""

    position: int
    index: int
    case: Case
    attempt: Attempt
    key: str
    score_keys: Mapping[str, str] = field(default_factory=dict)
    """The key of the score by the id of its criterion."""
    scores: Mapping[str, Score] = field(default_factory=dict)
    """Existing scores by criterion id."""

    @property
    def attempt_key(self) -> str:
        """Return the key, as a link to the attempt names it."""
        return self.key


@dataclass(eq=False)
class RunRows:
    """Attempts and scores of a run, case by case in order, from memory or the store."""

    store: Store
    run_id: str
    _in_memory: dict[tuple[int, int], AttemptRow] | None = field(default_factory=dict)
    """Written rows by position and index; None if they are too many."""
    positions: tuple[int, ...] | None = None
    """The places of the only cases that are meant, where not all are."""
    _text: int = 0
    _cases: list[LinkedCase] | None = None

    def add(self, rows: Iterable[AttemptRow]) -> None:
        """Add written rows."""
        if self._in_memory is None:
            return
        for row in rows:
            self._in_memory[row.position, row.index] = as_stored(row)
            self._text += _length(row.attempt)
            if len(self._in_memory) > MOST_IN_MEMORY or self._text > MOST_TEXT:
                self.drop_memory()
                return

    def drop_memory(self) -> "RunRows":
        """Keep nothing in memory: read from the store."""
        self._in_memory = None
        return self

    def clear(self) -> None:
        """Start over, since the store has no row of the run any more."""
        self._in_memory, self._text = {}, 0

    @property
    def are_in_memory(self) -> bool:
        """Tell whether all stored rows of the run are in memory."""
        if self._cases is None:
            rows_in_memory = self._in_memory
            if rows_in_memory is None or self.store.attempts.count(self.run_id) != len(
                rows_in_memory
            ):
                return False
            self._cases = list(self._linked(rows_in_memory))
            self._in_memory = None
        return True

    def iter_cases(self) -> Iterator[LinkedCase]:
        """Yield the cases with their attempts and scores, from memory if possible."""
        if self.positions is not None:
            return iter(self.store.attempts.cases_at(self.run_id, sorted(self.positions)))
        if self.are_in_memory and self._cases is not None:
            return iter(self._cases)
        return self.store.attempts.iter_cases(self.run_id)

    def iter_scores(self) -> Iterator[list[Score]]:
        """Yield the scores of each case, each shared one once."""
        if self.positions is not None or self.are_in_memory:
            for linked in self.iter_cases():
                by_id = {id(score): score for _, of in linked.attempts for score in of.values()}
                yield list(by_id.values())
            return
        for keys in self.store.attempts.iter_keys(self.run_id):
            score_keys = {key for linked in keys for key in linked.score_keys.values()}
            yield list(self.store.scores.get_many(score_keys).values())

    def _linked(self, rows_in_memory: Mapping[tuple[int, int], AttemptRow]) -> Iterator[LinkedCase]:
        """Yield the cases in memory, with scores that were stored before."""
        ordered = [rows_in_memory[place] for place in sorted(rows_in_memory)]
        cases = (list(rows) for _, rows in groupby(ordered, lambda row: row.position))
        for batch in batched(cases, BATCH):
            scores = self.store.scores.get_many(
                key
                for rows in batch
                for row in rows
                for criterion, key in row.score_keys.items()
                if criterion not in row.scores
            )
            for rows in batch:
                yield _linked_case(rows, scores)


def _linked_case(rows: list[AttemptRow], stored: Mapping[str, Score]) -> LinkedCase:
    """Build a case from its rows; a score that several of them share is one object."""
    if len(rows) == 1 and not rows[0].scores:
        only = rows[0]
        kept = {name: one for name, key in only.score_keys.items() if (one := stored.get(key))}
        return LinkedCase(only.position, only.case, [(only.attempt, kept)], [dict(only.score_keys)])
    scores_by_key = {
        row.score_keys[criterion]: score for row in rows for criterion, score in row.scores.items()
    }
    attempts = []
    for row in rows:
        keys = row.score_keys.items()
        scores = {name: scores_by_key.get(key) or stored.get(key) for name, key in keys}
        attempts.append((row.attempt, {name: one for name, one in scores.items() if one}))
    return LinkedCase(
        rows[0].position, rows[0].case, attempts, [dict(row.score_keys) for row in rows]
    )


def as_stored(row: AttemptRow) -> AttemptRow:
    """Return a row as the store would return it, with untyped values as JSON."""
    attempt = row.attempt
    if not (row.scores or attempt.usage or attempt.meta or attempt.notes):
        return row
    if not all(map(is_plain, (attempt.usage, attempt.meta, attempt.notes))):
        attempt = replace(
            attempt,
            usage=plain(attempt.usage),
            meta=plain(attempt.meta),
            notes=plain(attempt.notes),
        )
    scores = {name: stored_score(score) for name, score in row.scores.items()}
    same = attempt is row.attempt and all(scores[name] is row.scores[name] for name in scores)
    return row if same else replace(row, attempt=attempt, scores=scores)


def _length(attempt: Attempt) -> int:
    """Return the approximate number of characters of an attempt."""
    characters = 0
    for message in attempt.messages:
        characters += len(message.content) + len(message.thinking)
    return characters + (len(repr(attempt.notes)) if attempt.notes else 0)


@dataclass(frozen=True)
class AttemptWriter:
    """Writer of attempts to the store, in atomic batches.

    ``rows`` has what was written, so that it need not be read back.
    """

    store: Store
    run_id: str
    rows: RunRows = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", RunRows(self.store, self.run_id))

    def write(self, batch: Sequence[AttemptRow]) -> None:
        """Store attempts with their scores, linked to the run."""
        if not batch:
            return
        with self.store.batch():
            self.store.attempts.put((row.key, row.attempt) for row in batch)
            self.store.scores.put(_scores(batch))
            self.store.attempts.link(self.run_id, batch)
        self.rows.add(batch)

    def link(self, batch: Sequence[AttemptRow]) -> None:
        """Link stored attempts to the run."""
        if batch:
            self.store.attempts.link(self.run_id, batch)
            self.rows.add(batch)

    def unlink(self) -> None:
        """Unlink all attempts from the run; they stay in the store."""
        self.store.attempts.unlink(self.run_id)
        self.rows.clear()


def _scores(batch: Sequence[AttemptRow]) -> Iterator[tuple[str, str, Score]]:
    for row in batch:
        if row.scores:
            scorers = {criterion.id: criterion.scorer.name for criterion in row.case.criteria}
            for name, score in row.scores.items():
                yield row.score_keys[name], scorers.get(name, name), score
