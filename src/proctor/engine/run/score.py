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
    _scored_now: dict[str, Score] = field(default_factory=dict)
    """The scores of the block that were made at once, by score key."""
    _flushed: float = 0.0

    def used(self) -> Iterator[Usage]:
        """Yield the usage of stored verdicts."""
        if not self.ignore_stored:
            for scores in self.rows.iter_scores():
                yield from map(_used, scores)

    async def blocks(self) -> AsyncGenerator[list[LinkedCase], None]:
        """Score the run block by block, and yield each block's cases with all scores."""
        notices = FailureNotices(self.notice, "not scored")
        self._flushed = time.monotonic()
        soon = StoredSoon(self._store, FLUSH_SECONDS)
        try:
            for block in blocks_of(self.rows.iter_cases()):
                missing = self._missing(block, notices)
                async with aclosing(self.dispatcher.dispatch(missing)) as scored:
                    async for task, score in scored:
                        soon.wish()
                        self._take(task.key, task.criterion, score, notices)
                        self._store_if_due()
                self._scored_now.clear()
                yield block
        finally:
            soon.stop()
            self._flush()
            notices.close()
        self.progress(self.counted)

    def _take(self, key: str, criterion: Criterion, score: Score, notices: FailureNotices) -> Score:
        """Add a score to its attempts, and store it; return it as stored."""
        scorer = criterion.scorer.name
        self._buffer.append((key, scorer, score))
        score_as_stored = stored_score(score)
        for scores, name in self._waiting.pop(key, ()):
            if needs_scoring(scores.get(name)):
                scores[name] = score_as_stored
        self.counted.judged += 1
        if score.status is ScoreStatus.FAILED:
            self.counted.failed += 1
            notices.add(score.reason, scorer)
        return score_as_stored

    def _store_if_due(self) -> None:
        late = time.monotonic() - self._flushed > FLUSH_SECONDS
        if late or len(self._buffer) >= FLUSH_ROWS:
            self._store()
            self._flushed = time.monotonic()

    def _store(self) -> None:
        self._flush()
        self.progress(self.counted)

    def _flush(self) -> None:
        if self._buffer:
            self.store.scores.put(self._buffer)
            self._buffer.clear()

    def _missing(
        self, block: Iterable[LinkedCase], notices: FailureNotices
    ) -> Iterator[list[ScoreTask]]:
        """Score at once what takes no time, and yield the rest."""
        left = False
        for linked in block:
            alone = len(linked.attempts) == 1
            for criterion in linked.case.criteria:
                if not self.dispatcher.can_score(criterion):
                    continue
                if alone and self._score_at_once(linked, criterion, notices):
                    continue
                if group := self._tasks(linked, criterion):
                    left = True
                    yield group
        if left and self._buffer:
            # What is left may take long.
            self._store()

    def _score_at_once(
        self, linked: LinkedCase, criterion: Criterion, notices: FailureNotices
    ) -> bool:
        """Score the only attempt at a case; False where that is to be done elsewhere."""
        (attempt, scores), name = linked.attempts[0], criterion.id
        if attempt.status is not AttemptStatus.ANSWERED or name in scores or self.ignore_stored:
            return False
        if (key := linked.keys[0][name]) in self._waiting:
            return False
        if (score := self._scored_now.get(key)) is None:
            part = scored_part(criterion, attempt)
            if (score := self.dispatcher.instantly(linked.case, criterion, part)) is None:
                return False
            score = self._scored_now[key] = self._take(key, criterion, score, notices)
            self._store_if_due()
        scores[name] = score
        return True

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
            if (score := self._scored_now.get(key)) is not None:
                scores[name] = score
                continue
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
