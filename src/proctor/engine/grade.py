"""Grading: judge what is not in the store yet, and store every score as it comes."""

import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace

from proctor import bounded
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.contracts import Executor, GradeTask, ScoreContext
from proctor.core.judging import finish_async, is_async, judge_async
from proctor.core.program import Sandbox
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


@dataclass(frozen=True, slots=True)
class Waiting:
    """Hold an attempt to be judged on the loop, from the beginning or from where it was left."""

    key: str
    case: Case
    criterion: Criterion
    attempt: Attempt
    begun: Score | None = None
    """What the executor gave, where the scorer has still to finish it."""


@dataclass
class Grader:
    """Judge the attempts of one run."""

    store: Store
    run_id: str
    scorers: Scorers
    executor: Executor
    progress: Callable[[Graded], None]
    sandbox: Sandbox | None = None

    async def grade(self) -> Graded:
        """Judge every attempt by every criterion whose score is not stored."""
        counted = Graded()
        names: dict[str, str] = {}
        buffer: list[tuple[str, str, Score]] = []
        flushed = time.monotonic()
        try:
            async with aclosing(self._scores(counted, names)) as scores:
                async for key, score in scores:
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
    ) -> AsyncGenerator[tuple[str, Score], None]:
        waiting: list[Waiting] = []
        unfinished: dict[str, Waiting] = {}
        tasks = self._tasks(counted, names, waiting, unfinished)
        async with aclosing(self.executor.grade(tasks)) as judged:
            async for key, score in judged:
                work = unfinished.pop(key, None)
                if work is None or score.status is not ScoreStatus.SCORED:
                    yield key, score
                else:
                    waiting.append(replace(work, begun=score))
        async with aclosing(bounded.each(waiting, self._judge, limit=ASYNC_LIMIT)) as pairs:
            async for pair in pairs:
                yield pair

    async def _judge(self, work: Waiting) -> tuple[str, Score]:
        scorer = self.scorers.of(work.criterion)
        ctx = ScoreContext(case=work.case, attempt=work.attempt, sandbox=self.sandbox)
        if work.begun is not None:
            return work.key, await finish_async(scorer, ctx, work.begun)
        return work.key, await judge_async(scorer, ctx)

    def _tasks(
        self,
        counted: Graded,
        names: dict[str, str],
        waiting: list[Waiting],
        unfinished: dict[str, Waiting],
    ) -> Iterator[GradeTask]:
        """Yield what the executor has to judge, and put aside what waits for a model."""
        for _, case, attempts in self.store.linked(self.run_id):
            for criterion in case.criteria:
                missing = self._missing(case, criterion, attempts, names, counted)
                if not missing:
                    continue
                scorer = self.scorers.of(criterion)
                works = [Waiting(key, case, criterion, attempt) for key, attempt in missing]
                if is_async(scorer):
                    waiting += works
                    continue
                if scorer.finishes:
                    unfinished |= {work.key: work for work in works}
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
