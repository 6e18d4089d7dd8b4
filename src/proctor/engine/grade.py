"""Grading: judge what is not in the store yet, and store every score as it comes."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from proctor import bounded
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.contracts import Executor, GradeTask, ScoreContext
from proctor.core.judging import is_async, judge_async
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion
from proctor.engine.scoring import Scorers
from proctor.store.store import Store

FLUSH_ROWS = 500
FLUSH_SECONDS = 0.5
ASYNC_LIMIT = 16


@dataclass
class Graded:
    """Count what grading did."""

    stored: int = 0
    """Scores that were there already."""
    judged: int = 0
    failed: int = 0


@dataclass
class Grader:
    """Judge the attempts of one run."""

    store: Store
    run_id: str
    scorers: Scorers
    executor: Executor
    progress: Callable[[Graded], None]

    async def grade(self) -> Graded:
        """Judge every attempt by every criterion whose score is not stored."""
        counted = Graded()
        names: dict[str, str] = {}
        buffer: list[tuple[str, str, Score]] = []
        flushed = time.monotonic()
        try:
            async for key, score in self._scores(counted, names):
                buffer.append((key, names.pop(key), score))
                counted.judged += 1
                counted.failed += score.status is ScoreStatus.FAILED
                if len(buffer) >= FLUSH_ROWS or time.monotonic() - flushed > FLUSH_SECONDS:
                    self._flush(buffer)
                    flushed = time.monotonic()
                    self.progress(counted)
        finally:
            self._flush(buffer)
        self.progress(counted)
        return counted

    def _flush(self, buffer: list[tuple[str, str, Score]]) -> None:
        if buffer:
            self.store.put_scores(buffer)
            buffer.clear()

    async def _scores(
        self, counted: Graded, names: dict[str, str]
    ) -> AsyncIterator[tuple[str, Score]]:
        waiting: list[tuple[str, Case, Criterion, Attempt]] = []
        async for pair in self.executor.grade(self._tasks(counted, names, waiting)):
            yield pair
        async for pair in bounded.each(waiting, self._judge, limit=ASYNC_LIMIT):
            yield pair

    async def _judge(self, work: tuple[str, Case, Criterion, Attempt]) -> tuple[str, Score]:
        key, case, criterion, attempt = work
        scorer = self.scorers.of(criterion)
        return key, await judge_async(scorer, ScoreContext(case=case, attempt=attempt))

    def _tasks(
        self,
        counted: Graded,
        names: dict[str, str],
        waiting: list[tuple[str, Case, Criterion, Attempt]],
    ) -> Iterator[GradeTask]:
        """Yield what the executor has to judge, and put aside what waits for a model."""
        for _, case, attempts in self.store.linked(self.run_id):
            for criterion in case.criteria:
                missing = self._missing(case, criterion, attempts, names, counted)
                if not missing:
                    continue
                scorer = self.scorers.of(criterion)
                if is_async(scorer):
                    waiting += [(key, case, criterion, attempt) for key, attempt in missing]
                    continue
                yield GradeTask(
                    case=case,
                    criterion=criterion,
                    attempts=tuple(attempt for _, attempt in missing),
                    keys=tuple(key for key, _ in missing),
                    time_limit=scorer.time_limit,
                )

    def _missing(
        self,
        case: Case,
        criterion: Criterion,
        attempts: list[tuple[Attempt, dict[str, Score]]],
        names: dict[str, str],
        counted: Graded,
    ) -> list[tuple[str, Attempt]]:
        found = []
        for attempt, scores in attempts:
            if attempt.status is not AttemptStatus.ANSWERED:
                continue
            score = scores.get(criterion.id)
            if score is not None and score.status is not ScoreStatus.FAILED:
                counted.stored += 1
                continue
            key = self.scorers.keys(case, attempt)[criterion.id]
            if key not in names:
                names[key] = criterion.scorer.name
                found.append((key, attempt))
        return found
