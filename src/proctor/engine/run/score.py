"""Scoring of a run: one pass over its cases, in which missing scores are made and stored."""

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import field

from proctor.core.attempt import AttemptStatus
from proctor.core.exchange import Usage
from proctor.core.failures import FailureNotices
from proctor.core.rounds import scored_part
from proctor.core.score import Score, ScoreStatus, needs_scoring
from proctor.core.suite import Criterion
from proctor.engine.run.aggregate import stored_score
from proctor.engine.run.attempt_writer import RunRows, StoredSoon
from proctor.engine.run.score_dispatch import ScoreDispatcher, ScoreTask
from proctor.engine.run.totals import usage_from
from proctor.records import dataclass
from proctor.store.rows import LinkedCase
from proctor.store.store import Store

FLUSH_ROWS = 500
FLUSH_SECONDS = 0.5
BLOCK = 4096
"""Number of attempts scored and summed up at a time."""


@dataclass
class Graded:
    """Counts of scores while a run is scored."""

    stored: int = 0
    """Scores that were stored before."""
    judged: int = 0
    failed: int = 0


@dataclass
class RunScoring:
    """Scoring of one run: missing scores are made block by block, and stored soon."""

    store: Store
    rows: RunRows
    dispatcher: ScoreDispatcher
    progress: Callable[[Graded], None]
    ignore_stored: bool = False
    """Score again with calls from the store, so that a recording is complete."""
    notice: Callable[[str], None] = lambda _: None
    """Callback for the first failure of each kind, and the number of failures."""
    counted: Graded = field(default_factory=Graded)
    _buffer: list[tuple[str, str, Score]] = field(default_factory=list)
    _waiting: dict[str, list[tuple[dict[str, Score], str]]] = field(default_factory=dict)
    """Recipients of scores in progress, by score key: an attempt's scores, and the criterion."""

    def used(self) -> Iterator[Usage]:
        """Yield the usage of stored verdicts."""
        if not self.ignore_stored:
            for scores in self.rows.iter_scores():
                yield from map(_used, scores)

    async def blocks(self) -> AsyncGenerator[list[LinkedCase], None]:
        """Score the run block by block, and yield each block's cases with all scores."""
        notices = FailureNotices(self.notice, "not scored")
        flushed = time.monotonic()
        soon = StoredSoon(self._store, FLUSH_SECONDS)
        try:
            for block in blocks_of(self.rows.iter_cases()):
                async with aclosing(self.dispatcher.dispatch(self._missing(block))) as scored:
                    async for task, score in scored:
                        soon.wish()
                        self._take(task, score, notices)
                        late = time.monotonic() - flushed > FLUSH_SECONDS
                        if len(self._buffer) >= FLUSH_ROWS or late:
                            self._store()
                            flushed = time.monotonic()
                yield block
        finally:
            soon.stop()
            self._flush()
            notices.close()
        self.progress(self.counted)

    def _take(self, task: ScoreTask, score: Score, notices: FailureNotices) -> None:
        """Add a score to its attempts, and store it."""
        scorer = task.criterion.scorer.name
        self._buffer.append((task.key, scorer, score))
        score_as_stored = stored_score(score)
        for scores, criterion in self._waiting.pop(task.key):
            before = scores.get(criterion)
            if needs_scoring(before):
                scores[criterion] = score_as_stored
        self.counted.judged += 1
        if score.status is ScoreStatus.FAILED:
            self.counted.failed += 1
            notices.add(score.reason, scorer)

    def _store(self) -> None:
        self._flush()
        self.progress(self.counted)

    def _flush(self) -> None:
        if self._buffer:
            self.store.scores.put(self._buffer)
            self._buffer.clear()

    def _missing(self, block: Iterable[LinkedCase]) -> Iterator[list[ScoreTask]]:
        for linked in block:
            for criterion in linked.case.criteria:
                if self.dispatcher.can_score(criterion) and (
                    group := self._tasks(linked, criterion)
                ):
                    yield group

    def _tasks(self, linked: LinkedCase, criterion: Criterion) -> list[ScoreTask]:
        again = self.ignore_stored and self.dispatcher.scorers.of(criterion).needs_judge
        name = criterion.id
        tasks = []
        for (attempt, scores), keys in zip(linked.attempts, linked.keys, strict=True):
            if attempt.status is not AttemptStatus.ANSWERED:
                continue
            if not again and not needs_scoring(scores.get(name)):
                self.counted.stored += 1
                continue
            key = keys[name]
            if (waiting_attempts := self._waiting.get(key)) is None:
                self._waiting[key] = [(scores, name)]
                part = scored_part(criterion, attempt)
                tasks.append(ScoreTask(key, linked.case, criterion, part))
            else:
                waiting_attempts.append((scores, name))
        return tasks


def blocks_of(cases: Iterable[LinkedCase]) -> Iterator[list[LinkedCase]]:
    """Split a run into lists of cases with about that many attempts together."""
    block: list[LinkedCase] = []
    attempts = 0
    for linked in cases:
        block.append(linked)
        attempts += len(linked.attempts)
        if attempts >= BLOCK:
            yield block
            block, attempts = [], 0
    if block:
        yield block


def _used(score: Score) -> Usage:
    """Return the usage of a stored verdict."""
    used = score.detail.get("usage") if isinstance(score.detail, Mapping) else None
    return Usage() if score.status is ScoreStatus.FAILED else usage_from(used)
