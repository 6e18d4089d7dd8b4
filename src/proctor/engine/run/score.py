"""Grading: judge what is not in the store yet, and store every score as it comes."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.judge import Judge
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import finish_score, is_async, run_scorer, run_scorer_async
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.blame import passed_a_limit
from proctor.core.exchange import Usage
from proctor.core.marks import MARKS, Marks
from proctor.core.rounds import scored_part
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Suite
from proctor.engine.models.call_scope import scored_on_replies
from proctor.engine.models.stored_only import scored_from_store
from proctor.engine.run.aggregate import usage_from
from proctor.engine.run.failure_notices import FailureNotices
from proctor.engine.run.rows_in_memory import AtHand
from proctor.engine.run.scorer_pool import Scorers, spec_key
from proctor.engine.run.stored_soon import StoredSoon
from proctor.io import concurrency
from proctor.store.rows import LinkedCase
from proctor.store.store import Store

FLUSH_ROWS = 500
FLUSH_SECONDS = 0.5
ASYNC_LIMIT = 16
BATCH_SIZE = 4096
"""How many attempts a scorer that judges many at once is given."""


@dataclass
class Graded:
    """Count what grading did."""

    stored: int = 0
    """Scores that were there already."""
    judged: int = 0
    failed: int = 0


class Kind(StrEnum):
    """Say where a criterion is judged."""

    INSTANT = "instant"
    """Here and now."""
    PROCESS = "process"
    """In a process that can be killed."""
    BATCH = "batch"
    """Many at once, in a thread."""
    WAITING = "waiting"
    """On the loop, since it waits for a model or a sandbox."""


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
    suite: Suite
    scorers: Scorers
    executor: Executor
    progress: Callable[[Graded], None]
    at_hand: AtHand | None = None
    """What the run has, where it is in memory; else the store is read."""
    sandbox: Sandbox | None = None
    judge: Judge | None = None
    read_file: Callable[[str], bytes] | None = None
    marks: Marks = MARKS
    check: Callable[[], Awaitable[None]] | None = None
    """Finds out, before a judge is asked, whether all of them are there."""
    limit: int = ASYNC_LIMIT
    """How many attempts are judged at a time by scorers that wait for something."""
    _judges_are_there: bool = False
    """Whether somebody had to be asked by now; before that, nobody need be there."""
    ignore_stored: bool = False
    """Ask judges again, their calls coming from the store: a cassette wants them all."""
    notice: Callable[[str], None] = lambda _: None
    """Is told of the first failure of each kind, and how many there were."""

    def used(self) -> Iterator[Usage]:
        """Yield what each verdict took that need not be asked for."""
        for found in self.store.attempts.iter_cases(self.run_id):
            if self.ignore_stored:
                break
            known = {id(score): score for _, scores in found.attempts for score in scores.values()}
            yield from (_used(score) for score in known.values())

    async def grade(self) -> Graded:
        """Judge every attempt by every criterion whose score is not stored."""
        counted = Graded()
        if not self.ignore_stored and not self.store.scores.are_missing(self.run_id):
            counted.stored = self.store.scores.count(self.run_id)
            self.progress(counted)
            return counted
        names: dict[str, str] = {}
        buffer: list[tuple[str, str, Score]] = []
        notices = FailureNotices(self.notice, "not scored")
        flushed = time.monotonic()

        def store() -> None:
            self._flush(buffer)
            self.progress(counted)

        soon = StoredSoon(store, FLUSH_SECONDS)
        try:
            async with aclosing(self._scores(counted, names)) as scores:
                async for key, score in scores:
                    soon.wish()
                    buffer.append((key, names.pop(key), score))
                    counted.judged += 1
                    if score.status is ScoreStatus.FAILED:
                        counted.failed += 1
                        notices.add(score.reason, buffer[-1][1])
                    if len(buffer) >= FLUSH_ROWS or time.monotonic() - flushed > FLUSH_SECONDS:
                        store()
                        flushed = time.monotonic()
        finally:
            soon.stop()
            self._flush(buffer)
            notices.close()
        self.progress(counted)
        return counted

    def _flush(self, buffer: list[tuple[str, str, Score]]) -> None:
        if buffer:
            self.store.scores.put(buffer)
            buffer.clear()

    async def _scores(
        self, counted: Graded, names: dict[str, str]
    ) -> AsyncGenerator[tuple[str, Score], None]:
        """Judge in rounds: what takes no time, what processes do, many at once, and what waits."""
        kinds = {self._kind(criterion) for criterion in self.scorers.examples(self.suite)}
        if Kind.INSTANT in kinds:
            for pair in self._instant(counted, names):
                yield pair
        begun: list[Waiting] = []
        if Kind.PROCESS in kinds:
            unfinished: dict[str, Waiting] = {}
            tasks = self._tasks(counted, names, unfinished)
            async with aclosing(self.executor.grade(tasks)) as judged:
                async for key, score in judged:
                    work = unfinished.pop(key, None)
                    unfinishable = score.status is not ScoreStatus.SCORED or passed_a_limit(score)
                    if work is None or unfinishable:
                        yield key, score
                    else:
                        begun.append(replace(work, begun=score))
        if Kind.BATCH in kinds:
            async for pair in self._batches(counted, names):
                yield pair
        waits = self._waiting(counted, names) if Kind.WAITING in kinds else ()
        waiting = chain(([work] for work in begun), waits)
        async with aclosing(
            concurrency.map_unordered(waiting, self._judge_all, limit=self.limit)
        ) as done:
            async for pairs in done:
                for pair in pairs:
                    yield pair

    async def _batches(
        self, counted: Graded, names: dict[str, str]
    ) -> AsyncGenerator[tuple[str, Score], None]:
        """Gather what one scorer judges, and let it judge many at once."""
        heaps: dict[tuple[str, bytes], list[Waiting]] = {}
        for case, criterion, missing in self._to_do(Kind.BATCH, counted, names):
            key = spec_key(criterion.scorer)
            heap = heaps.setdefault(key, [])
            heap += [Waiting(found, case, criterion, attempt) for found, attempt in missing]
            if len(heap) >= BATCH_SIZE:
                for pair in await self._judge_batch(heaps.pop(key)):
                    yield pair
        for heap in heaps.values():
            for pair in await self._judge_batch(heap):
                yield pair

    async def _judge_batch(self, works: list[Waiting]) -> list[tuple[str, Score]]:
        scorer = self.scorers.of(works[0].criterion)
        contexts = [
            ScoreContext(case=work.case, attempt=work.attempt, language=self.scorers.language)
            for work in works
        ]
        spec = works[0].criterion.scorer
        made = await self.executor.judge_batch(scorer, spec, contexts)
        return [(work.key, score) for work, score in zip(works, made, strict=True)]

    async def _judge_all(self, works: list[Waiting]) -> list[tuple[str, Score]]:
        """Judge one after the other what belongs together."""
        return [await self._judge(work) for work in works]

    async def _judge(self, work: Waiting) -> tuple[str, Score]:
        scorer = self.scorers.of(work.criterion)
        ctx = ScoreContext(
            case=work.case,
            attempt=work.attempt,
            sandbox=self.sandbox,
            judge=self.judge,
            language=self.scorers.language,
            read_file=self.read_file,
            marks=self.marks,
        )
        begun = work.begun

        async def scored() -> Score:
            if begun is not None:
                return await finish_score(scorer, ctx, begun)
            return await run_scorer_async(scorer, ctx)

        if scorer.needs_judge and self.check is not None:
            if not (self.ignore_stored or self._judges_are_there):
                found = await scored_from_store(scored)
                if found is not None:
                    return work.key, found
            await self.check()
            self._judges_are_there = True
        return work.key, await scored_on_replies(scored)

    def _instant(self, counted: Graded, names: dict[str, str]) -> Iterator[tuple[str, Score]]:
        for case, criterion, missing in self._to_do(Kind.INSTANT, counted, names):
            scorer = self.scorers.of(criterion)
            for key, attempt in missing:
                yield key, run_scorer(scorer, ScoreContext(case=case, attempt=attempt))

    def _tasks(
        self, counted: Graded, names: dict[str, str], unfinished: dict[str, Waiting]
    ) -> Iterator[GradeTask]:
        """Yield what the executor has to judge."""
        for case, criterion, missing in self._to_do(Kind.PROCESS, counted, names):
            scorer = self.scorers.of(criterion)
            if scorer.finishes:
                works = [Waiting(key, case, criterion, attempt) for key, attempt in missing]
                unfinished |= {work.key: work for work in works}
            yield GradeTask(
                case=case,
                criterion=criterion,
                attempts=tuple(attempt for _, attempt in missing),
                keys=tuple(key for key, _ in missing),
                time_limit=scorer.time_limit,
                out_of=scorer.full_marks,
            )

    def _waiting(self, counted: Graded, names: dict[str, str]) -> Iterator[list[Waiting]]:
        """Yield what is judged on the loop, taken from the store as there is room for it.

        Attempts at a case that are judged apart are judged in their order.
        """
        for case, criterion, missing in self._to_do(Kind.WAITING, counted, names):
            works = [Waiting(key, case, criterion, attempt) for key, attempt in missing]
            if self.scorers.of(criterion).per_attempt:
                yield works
            else:
                yield from ([work] for work in works)

    def _to_do(
        self, kind: Kind, counted: Graded, names: dict[str, str]
    ) -> Iterator[tuple[Case, Criterion, list[tuple[str, Attempt]]]]:
        held = self.at_hand
        for found in held.rows() if held else self.store.attempts.iter_cases(self.run_id):
            for criterion in found.case.criteria:
                if self._kind(criterion) is kind and not self._lacks_judge(criterion):
                    missing = self._missing(found, criterion, names, counted)
                    if missing:
                        yield found.case, criterion, missing

    def _lacks_judge(self, criterion: Criterion) -> bool:
        """Tell whether a criterion, which then is only shown, has nobody to judge by it."""
        return self.judge is None and self.scorers.of(criterion).needs_judge

    def _kind(self, criterion: Criterion) -> Kind:
        return kind_of(self.scorers.of(criterion))

    def _missing(
        self,
        found: LinkedCase,
        criterion: Criterion,
        names: dict[str, str],
        counted: Graded,
    ) -> list[tuple[str, Attempt]]:
        again = self.ignore_stored and self.scorers.of(criterion).needs_judge
        missing = []
        for (attempt, scores), keys in zip(found.attempts, found.keys, strict=True):
            if attempt.status is not AttemptStatus.ANSWERED:
                continue
            score = scores.get(criterion.id)
            if score is not None and score.status is not ScoreStatus.FAILED and not again:
                counted.stored += 1
                continue
            key = keys[criterion.id]
            if key not in names:
                names[key] = criterion.scorer.name
                missing.append((key, scored_part(criterion, attempt)))
        return missing


def kind_of(scorer: Scorer) -> Kind:
    """Return where a scorer judges."""
    if is_async(scorer):
        return Kind.WAITING
    if scorer.batches and not scorer.finishes:
        return Kind.BATCH
    return Kind.INSTANT if scorer.instant and not scorer.finishes else Kind.PROCESS


def _used(score: Score) -> Usage:
    """Return what a judge took for a score that will not be asked for again."""
    used = score.detail.get("usage") if isinstance(score.detail, Mapping) else None
    return Usage() if score.status is ScoreStatus.FAILED else usage_from(used)
