"""Scoring of outputs as they come: each by itself, within its deadline, many at a time."""

import asyncio
import heapq
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count, islice

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import value_of
from proctor.core.rounds import scored_part
from proctor.core.score import Score, needs_scoring
from proctor.core.suite import Case, Criterion
from proctor.engine.grading.column_scoring import ColumnScoring, Numbered, unanswered
from proctor.engine.grading.graded_output import GradedOutput, Output, attempt_of
from proctor.engine.run.score_dispatch import BATCH_SIZE, Kind, ScoreDispatcher, ScoreTask
from proctor.errors import ProctorError, UsageError
from proctor.io.concurrency import in_thread, leaving_out_time_in_line, map_unordered
from proctor.store.store import Store
from proctor.suggestions import LOOSELY, suggest

COLUMN = 1024
"""How many outputs are scored as columns at a time."""
FEW = 4
"""Up to so many are scored at once where they are, since a thread would take longer."""
MOST_SLOW = 20
FLUSH_ROWS, FLUSH_SECONDS = 500, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingLimits:
    """How long one output may take, and how many are worked at."""

    deadline: float | None = 60.0
    """Seconds after which an output is given up, without a score; time in line does not count."""
    slow: float = 10.0
    """Seconds from which an output is reported as slow."""
    at_once: int = 16
    """How many outputs are worked at that wait for a process, a sandbox or a judge."""

    def __post_init__(self) -> None:
        if self.deadline is not None and not self.deadline > 0:
            raise UsageError(f"the deadline must be more than 0 s, not {self.deadline:g} s")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowOutput:
    """An output that took long."""

    case_id: str
    seconds: float
    why: str


@dataclass
class GradingCounts:
    """What a grader has done so far."""

    graded: int = 0
    unscored: int = 0
    late: int = 0
    """Outputs without a score because their deadline passed."""
    pending: int = 0
    """Outputs that wait or are worked at."""
    slowest: list[tuple[float, int, SlowOutput]] = field(default_factory=list)

    def slow_outputs(self) -> list[SlowOutput]:
        """Return the outputs that took longest, the longest first."""
        return [one for _, _, one in sorted(self.slowest, key=lambda row: -row[0])]


@dataclass
class OutputGrading:
    """The scoring of outputs by the cases of one suite, in one event loop."""

    cases: Mapping[str, Case]
    dispatcher: ScoreDispatcher
    limits: GradingLimits
    store: Store | None = None
    """The cache of scores, if there is one."""
    on_slow: Callable[[SlowOutput], None] = lambda _: None
    counts: GradingCounts = field(default_factory=GradingCounts)
    _numbers: "count[int]" = field(default_factory=count)
    _gathered: "list[tuple[ScoreTask, asyncio.Future[Score]]]" = field(default_factory=list)
    _unstored: list[tuple[str, str, Score]] = field(default_factory=list)
    _flushed: float = 0.0

    def __post_init__(self) -> None:
        self._columns = ColumnScoring(self.dispatcher.scorers)
        self._room = asyncio.Semaphore(self.limits.at_once)
        self._batching = asyncio.Lock()

    def find_case(self, case_id: str) -> Case:
        """Return a case, or raise a UsageError that names what was meant."""
        case = self.cases.get(case_id)
        if case is None:
            hint = suggest(str(case_id), list(islice(self.cases, 10_000)), cutoff=LOOSELY)
            raise UsageError(f"the suite has no case {case_id!r:.200} ({hint})")
        return case

    def numbered(self, pairs: Iterable[tuple[str, Output]], first: int = 0) -> Iterator[Numbered]:
        """Yield outputs with their cases; an unknown case raises a UsageError."""
        for index, (case_id, output) in enumerate(pairs, first):
            yield index, self.find_case(case_id), output

    async def stream(self, outputs: Iterable[Numbered]) -> AsyncGenerator[GradedOutput, None]:
        """Score outputs, and yield each result when it is there.

        Outputs are taken one by one as there is room for them.
        """
        work = map_unordered(self._shares(outputs), self._grade_share, limit=self.limits.at_once)
        async with aclosing(work) as done:
            async for results in done:
                for result in results:
                    yield result

    async def grade(self, index: int, case: Case, output: Output) -> GradedOutput:
        """Score one output."""
        self.counts.pending += 1
        try:
            if output is None:
                result = unanswered(index, case)
            elif self.store is None and self._columns.fits(case, output):
                result = self._columns.grade([(index, case, output)])[0]
            else:
                result = await self._grade_in_line(index, case, output)
        finally:
            self.counts.pending -= 1
        self._count(result)
        return result

    async def close(self) -> None:
        """Store what is left."""
        self._flush()

    def _shares(self, outputs: Iterable[Numbered]) -> Iterator[list[Numbered]]:
        """Yield what is scored together: many rows of columns, or one output by itself."""
        rows: list[Numbered] = []
        for numbered in outputs:
            if self.store is None and self._columns.fits(numbered[1], numbered[2]):
                rows.append(numbered)
                if len(rows) == COLUMN:
                    yield rows
                    rows = []
            else:
                yield [numbered]
        if rows:
            yield rows

    async def _grade_share(self, share: list[Numbered]) -> list[GradedOutput]:
        if len(share) == 1:
            return [await self.grade(*share[0])]
        self.counts.pending += len(share)
        try:
            if len(share) <= FEW:
                results = self._columns.grade(share)
            else:
                results = await in_thread(lambda: self._columns.grade(share))
        finally:
            self.counts.pending -= len(share)
        for result in results:
            self._count(result)
        return results

    async def _grade_in_line(self, index: int, case: Case, output: Output) -> GradedOutput:
        attempt = attempt_of(case, output)
        if attempt.status is not AttemptStatus.ANSWERED:
            return unanswered(index, case)
        keys = self._keys(case, attempt)
        scores = self._stored_scores(keys)
        missing = [one for one in case.criteria if needs_scoring(scores.get(one.id))]
        missing = [one for one in missing if self.dispatcher.can_score(one)]
        began, late, error = time.monotonic(), False, ""
        if missing:
            async with self._room:
                began = time.monotonic()
                try:
                    async with asyncio.timeout(self.limits.deadline) as limit:
                        with leaving_out_time_in_line(limit) as in_line:
                            await self._score(case, attempt, missing, scores)
                except TimeoutError:
                    late = True
                except ProctorError as problem:
                    error = str(problem)
                began += in_line.seconds
            self._fill(missing, scores, self._reason(late, error))
            self._remember(missing, scores, keys)
        self.counts.late += late
        return GradedOutput(
            index=index,
            case=case,
            output=output,
            scores=scores,
            worth=value_of(case, scores),
            seconds=max(0.0, time.monotonic() - began),
            stored=not missing,
        )

    def _reason(self, late: bool, error: str) -> str:
        if late:
            return f"scoring took longer than the {self.limits.deadline:g} s allowed"
        return error

    def _fill(self, missing: Sequence[Criterion], scores: dict[str, Score], reason: str) -> None:
        """Give criteria that were not reached a failed score that says why."""
        for criterion in missing:
            if criterion.id not in scores:
                full = self.dispatcher.scorers.of(criterion).full_marks
                scores[criterion.id] = Score.failed(reason, out_of=full)

    async def _score(
        self, case: Case, attempt: Attempt, criteria: Sequence[Criterion], scores: dict[str, Score]
    ) -> None:
        """Score an attempt by some criteria, what takes no time first."""
        groups = []
        for criterion in criteria:
            task = ScoreTask(
                str(next(self._numbers)), case, criterion, scored_part(criterion, attempt)
            )
            kind = self.dispatcher.kind_of_task(task)
            if kind is Kind.BATCH:
                scores[criterion.id] = await self._in_batch(task)
            elif kind is Kind.WAITING and len(criteria) == 1:
                scores[criterion.id] = await self.dispatcher.score_waiting(task)
                return
            else:
                groups.append([task])
        async with aclosing(self.dispatcher.dispatch(groups)) as scored:
            async for task, score in scored:
                scores[task.criterion.id] = score

    async def _in_batch(self, task: ScoreTask) -> Score:
        """Score by a batch scorer, together with all that came while it was busy."""
        score: asyncio.Future[Score] = asyncio.get_running_loop().create_future()
        self._gathered.append((task, score))
        # What others wait for goes on where this one is given up.
        await asyncio.shield(asyncio.ensure_future(self._score_gathered()))
        return await score

    async def _score_gathered(self) -> None:
        async with self._batching:
            batch, self._gathered = self._gathered[:BATCH_SIZE], self._gathered[BATCH_SIZE:]
            waiting = {task.key: future for task, future in batch if not future.cancelled()}
            if not waiting:
                return
            groups = [[task] for task, _ in batch if task.key in waiting]
            async with aclosing(self.dispatcher.dispatch(groups)) as scored:
                async for task, score in scored:
                    if not waiting[task.key].done():
                        waiting[task.key].set_result(score)

    def _keys(self, case: Case, attempt: Attempt) -> Mapping[str, str]:
        return {} if self.store is None else self.dispatcher.scorers.keys_of(case, attempt)

    def _stored_scores(self, keys: Mapping[str, str]) -> dict[str, Score]:
        if self.store is None:
            return {}
        unstored = {key: score for key, _, score in self._unstored}
        stored = {**self.store.scores.get_many(keys.values()), **unstored}
        return {name: stored[key] for name, key in keys.items() if key in stored}

    def _remember(
        self,
        criteria: Sequence[Criterion],
        scores: Mapping[str, Score],
        keys: Mapping[str, str],
    ) -> None:
        if self.store is None:
            return
        self._unstored += [
            (keys[criterion.id], criterion.scorer.name, scores[criterion.id])
            for criterion in criteria
            if not needs_scoring(scores.get(criterion.id))
        ]
        overdue = time.monotonic() - self._flushed > FLUSH_SECONDS
        if overdue or len(self._unstored) >= FLUSH_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._flushed = time.monotonic()
        if self.store is not None and self._unstored:
            rows, self._unstored = self._unstored, []
            self.store.scores.put(rows)

    def _count(self, result: GradedOutput) -> None:
        counts = self.counts
        counts.graded += 1
        counts.unscored += not result.scored
        if result.seconds < self.limits.slow:
            return
        slow = SlowOutput(case_id=result.case_id, seconds=result.seconds, why=result.why)
        row = (result.seconds, counts.graded, slow)
        if len(counts.slowest) < MOST_SLOW:
            heapq.heappush(counts.slowest, row)
        else:
            heapq.heappushpop(counts.slowest, row)
        self.on_slow(slow)
