"""Dispatch of scoring: each attempt goes to where its scorer runs."""

from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, nullcontext
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from proctor.contracts.scorer import ScoreContext, Scorer, decided_by_class
from proctor.contracts.scoring import (
    finish_score,
    run_scorer,
    run_scorer_async,
    run_scorer_batch,
)
from proctor.core.attempt import Attempt
from proctor.core.case_value import Value, turn_values
from proctor.core.failures import passed_a_limit
from proctor.core.prompt_fences import MARKS, Marks
from proctor.core.rounds import scored_part
from proctor.core.score import Score, ScoreStatus, needs_scoring
from proctor.core.suite import Case, Criterion
from proctor.engine.run.score_keys import spec_key
from proctor.engine.run.scorer_pool import Scorers
from proctor.io import concurrency
from proctor.records import dataclass, maker
from proctor.store.store import Store

if TYPE_CHECKING:
    import asyncio

    from proctor.contracts.executor import Executor, GradeTask
    from proctor.contracts.judge import Judge
    from proctor.contracts.sandbox import Sandbox
    from proctor.core.cause import Cause

_CONTEXTS = maker(ScoreContext)
ASYNC_LIMIT = 16
FEWEST_FOR_WORKERS = 64
"""Attempts from which on workers run their programs: to start one takes as long as a few do."""
BATCH_SIZE = 4096
"""Number of attempts per batch of a batch scorer."""


class Kind(StrEnum):
    """Where a scorer runs."""

    INSTANT = "instant"
    """Here and now."""
    PROCESS = "process"
    """In a process that can be killed."""
    BATCH = "batch"
    """Many at once, in a thread."""
    HERE = "here"
    """In a thread of this process, since it is an object of the calling program."""
    WAITING = "waiting"
    """On the event loop, since it waits for a model or a sandbox."""


_KINDS: dict[type[Scorer], Kind] = {}
"""Where the scorers of a class run, if it is the same place for all of them."""


def kind_of(scorer: Scorer) -> Kind:
    """Return where a scorer runs."""
    if (kind := _KINDS.get(type(scorer))) is None:
        kind = _kind_of(scorer)
        if decided_by_class(
            type(scorer), "is_async", "batches", "finishes", "is_instant", "instant"
        ):
            _KINDS[type(scorer)] = kind
    return kind


def _kind_of(scorer: Scorer) -> Kind:
    if scorer.is_async:
        return Kind.WAITING
    if scorer.batches and not scorer.finishes:
        return Kind.BATCH
    return Kind.INSTANT if scorer.is_instant and not scorer.finishes else Kind.PROCESS


def _kind_for(scorers: Scorers, criterion: Criterion, case: Case, attempt: Attempt) -> Kind:
    """Return where a scorer runs on an attempt: what takes long needs a process after all."""
    scorer = scorers.of(criterion)
    kind = kind_of(scorer)
    if kind is Kind.INSTANT and scorer.takes_long(attempt.output, case.references):
        kind = Kind.PROCESS
    elsewhere = kind in (Kind.PROCESS, Kind.BATCH)
    return Kind.HERE if elsewhere and scorers.is_lent(criterion.scorer) else kind


@dataclass(frozen=True, slots=True)
class ScoreTask:
    """An attempt to score by one criterion, from the start or from an intermediate score."""

    key: str
    case: Case
    criterion: Criterion
    attempt: Attempt
    """The part of the attempt that the criterion applies to."""
    begun: Score | None = None
    """The executor's intermediate score, if the scorer has to finish it."""


TaskGroup = Sequence[ScoreTask]
"""Attempts at one case to score by one criterion, in order."""
Scored = tuple[ScoreTask, Score]


class ProgramScoring(Protocol):
    """Scoring of attempts by running programs, in processes of its own."""

    def scored(
        self, tasks: Sequence[ScoreTask]
    ) -> AsyncGenerator[tuple[ScoreTask, Score | None], None]:
        """Score attempts; those that a process ended over have no score."""


def instant_scores(scorers: Scorers, case: Case, attempt: Attempt) -> dict[str, Score]:
    """Score an answer by the instant criteria of its case."""
    scores = {}
    for criterion in case.criteria:
        scorer = scorers.of(criterion)
        if kind_of(scorer) is not Kind.INSTANT:
            continue
        part = scored_part(criterion, attempt)
        if not scorer.takes_long(part.output, case.references):
            scores[criterion.id] = _instant(scorer, case, part)
    return scores


@dataclass
class ScoreDispatcher:
    """Queues of all kinds of scorers, filled in one pass and processed batch by batch."""

    scorers: Scorers
    executor: "Callable[[], Executor]"
    """Gives what scores in processes; what takes no time does without."""
    sandbox: "Sandbox | None" = None
    judge: "Judge | None" = None
    read_file: Callable[[str], bytes] | None = None
    marks: Marks = MARKS
    check: Callable[[], Awaitable[None]] | None = None
    """Check, before the first call, that all judges can be reached."""
    limit: int = ASYNC_LIMIT
    """Concurrency of scorers that wait for something."""
    look_first: bool = True
    """Whether to try stored replies before checking that judges can be reached."""
    several_at_once: bool = False
    """Whether several callers may use the scoring processes at the same time."""
    program_workers: ProgramScoring | None = None
    """Processes that run programs for scorers, where one process could not keep all cores busy."""

    @cached_property
    def _processes(self) -> "asyncio.Lock":
        """Lock while scoring processes are in use."""
        import asyncio

        return asyncio.Lock()

    def can_score(self, criterion: Criterion) -> bool:
        """Tell whether a criterion can be scored; otherwise it is only shown."""
        return self.judge is not None or not self.scorers.of(criterion).needs_judge

    async def dispatch(self, groups: Iterable[TaskGroup]) -> AsyncGenerator[Scored, None]:
        """Score a batch: instant scorers, processes, batch scorers, and waiting ones."""
        queues: dict[Kind, list[TaskGroup]] = {kind: [] for kind in Kind}
        for group in groups:
            queues[self._kind_of_group(group)].append(group)
        for task in chain.from_iterable(queues[Kind.INSTANT]):
            yield task, _instant(self.scorers.of(task.criterion), task.case, task.attempt)
        if not any(of_kind for kind, of_kind in queues.items() if kind is not Kind.INSTANT):
            return
        await concurrency.loop_needed()
        begun: list[TaskGroup] = []
        async with aclosing(self._apart(queues)) as scored:
            async for task, score in scored:
                if self._is_unfinished(task, score):
                    begun.append([replace(task, begun=score)])
                else:
                    yield task, score
        for batch in self._batches(queues[Kind.BATCH]):
            for pair in await self._score_batch(batch):
                yield pair
        async with aclosing(self._score_waiting(begun, queues[Kind.WAITING])) as scored:
            async for pair in scored:
                yield pair

    async def _score_waiting(
        self, begun: Sequence[TaskGroup], groups: Sequence[TaskGroup]
    ) -> AsyncGenerator[Scored, None]:
        """Score by scorers that wait for a model or a sandbox, here or in workers."""
        by_workers, here = self._divided(groups)
        if by_workers:
            async with aclosing(self._by_program_workers(by_workers)) as scored:
                async for pair in scored:
                    yield pair
        waiting = chain(begun, self._waiting(here))
        works = concurrency.map_unordered(waiting, self._score_in_order, limit=self.limit)
        async with aclosing(works) as done:
            async for pairs in done:
                for pair in pairs:
                    yield pair

    def instantly(self, case: Case, criterion: Criterion, part: Attempt) -> Score | None:
        """Score a part of an attempt here and now; None where its scorer runs elsewhere."""
        scorer = self.scorers.of(criterion)
        if kind_of(scorer) is not Kind.INSTANT or scorer.takes_long(part.output, case.references):
            return None
        return _instant(scorer, case, part)

    def kind_of_task(self, task: ScoreTask) -> Kind:
        """Return where the scorer of a task runs."""
        return _kind_for(self.scorers, task.criterion, task.case, task.attempt)

    def _kind_of_group(self, group: TaskGroup) -> Kind:
        if len(group) == 1:
            return self.kind_of_task(group[0])
        kinds = {_kind_for(self.scorers, task.criterion, task.case, task.attempt) for task in group}
        first = next(iter(kinds))
        return next((kind for kind in (Kind.PROCESS, Kind.HERE) if kind in kinds), first)

    async def score(self, task: ScoreTask) -> Score:
        """Score a single attempt."""
        async with aclosing(self.dispatch([[task]])) as scored:
            async for _, score in scored:
                return score
        return Score.failed("the grading process gave nothing")

    async def _apart(
        self, queues: Mapping[Kind, Sequence[TaskGroup]]
    ) -> AsyncGenerator[Scored, None]:
        """Score what may take long: in processes, and objects of the program in a thread."""
        if queues[Kind.PROCESS]:
            async with aclosing(self._in_processes(queues[Kind.PROCESS])) as scored:
                async for pair in scored:
                    yield pair
        for batch in self._batches(queues[Kind.HERE]):
            for pair in await self._score_here(batch):
                yield pair

    async def _in_processes(self, groups: Iterable[TaskGroup]) -> AsyncGenerator[Scored, None]:
        by_key: dict[str, ScoreTask] = {}

        def grade_tasks() -> "Iterator[GradeTask]":
            for group in groups:
                by_key.update((task.key, task) for task in group)
                yield self._grade_task(group)

        alone = nullcontext() if self.several_at_once else self._processes
        async with alone, aclosing(self.executor().grade(grade_tasks())) as scored:
            async for key, score in scored:
                yield by_key.pop(key), score

    def _grade_task(self, group: TaskGroup) -> "GradeTask":
        from proctor.contracts.executor import GradeTask

        scorer = self.scorers.of(group[0].criterion)
        return GradeTask(
            case=group[0].case,
            criterion=group[0].criterion,
            attempts=tuple(task.attempt for task in group),
            keys=tuple(task.key for task in group),
            time_limit=scorer.time_limit,
            out_of=scorer.full_marks,
        )

    def _is_unfinished(self, task: ScoreTask, score: Score) -> bool:
        finishable = score.status is ScoreStatus.SCORED and not passed_a_limit(score)
        return finishable and self.scorers.of(task.criterion).finishes

    def _batches(self, groups: Iterable[TaskGroup]) -> Iterator[list[ScoreTask]]:
        """Group tasks by scorer, and yield them in batches."""
        heaps: dict[tuple[str, bytes], list[ScoreTask]] = {}
        for group in groups:
            key = spec_key(group[0].criterion.scorer)
            heap = heaps.setdefault(key, [])
            heap += group
            if len(heap) >= BATCH_SIZE:
                yield heaps.pop(key)
        yield from heaps.values()

    async def _score_batch(self, tasks: list[ScoreTask]) -> list[Scored]:
        spec = tasks[0].criterion.scorer
        language = self.scorers.language
        contexts = [
            ScoreContext(case=task.case, attempt=task.attempt, language=language) for task in tasks
        ]
        scorer = self.scorers.of(tasks[0].criterion)
        scores = await self.executor().score_batch(scorer, spec, contexts)
        return list(zip(tasks, scores, strict=True))

    async def _score_here(self, tasks: list[ScoreTask]) -> list[Scored]:
        """Score attempts by an object of the calling program, which no other process has."""
        scorer = self.scorers.of(tasks[0].criterion)
        contexts = [
            ScoreContext(case=task.case, attempt=task.attempt, language=self.scorers.language)
            for task in tasks
        ]
        scores = await concurrency.in_thread(partial(run_scorer_batch, scorer, contexts))
        return list(zip(tasks, scores, strict=True))

    def _divided(self, groups: Sequence[TaskGroup]) -> tuple[list[ScoreTask], Sequence[TaskGroup]]:
        """Divide what waits into attempts for workers that run programs, and the rest."""
        if self.program_workers is None:
            return [], groups
        tasks, rest = list[ScoreTask](), list[TaskGroup]()
        for group in groups:
            if self._runs_programs_only(group[0].criterion):
                tasks += group
            else:
                rest.append(group)
        return (tasks, rest) if len(tasks) >= FEWEST_FOR_WORKERS else ([], groups)

    def _runs_programs_only(self, criterion: Criterion) -> bool:
        scorer = self.scorers.of(criterion)
        more = scorer.needs_judge or scorer.reads_files or scorer.per_attempt
        return scorer.needs_sandbox and not more and not self.scorers.is_lent(criterion.scorer)

    async def _by_program_workers(self, tasks: Sequence[ScoreTask]) -> AsyncGenerator[Scored, None]:
        """Score by workers; what one of them ended over is scored here."""
        assert self.program_workers is not None
        left: list[ScoreTask] = []
        async with aclosing(self.program_workers.scored(tasks)) as scored:
            async for task, score in scored:
                if score is None:
                    left.append(task)
                else:
                    yield task, score
        for task in left:
            yield task, await self.score_waiting(task)

    def _waiting(self, groups: Iterable[TaskGroup]) -> Iterator[TaskGroup]:
        """Yield the tasks of waiting scorers in order."""
        for group in groups:
            if self.scorers.of(group[0].criterion).per_attempt:
                yield group
            else:
                yield from ([task] for task in group)

    async def _score_in_order(self, group: TaskGroup) -> list[Scored]:
        return [(task, await self.score_waiting(task)) for task in group]

    async def score_waiting(self, task: ScoreTask) -> Score:
        """Score a single attempt by a scorer that waits for a model or a sandbox."""
        from proctor.engine.models.call_scope import scored_from_store, scored_on_replies

        scorer = self.scorers.of(task.criterion)
        ctx = ScoreContext(
            case=task.case,
            attempt=task.attempt,
            sandbox=self.sandbox,
            judge=self.judge,
            language=self.scorers.language,
            read_file=self.read_file,
            marks=self.marks,
        )
        begun = task.begun

        async def scored() -> Score:
            if begun is not None:
                return await finish_score(scorer, ctx, begun)
            return await run_scorer_async(scorer, ctx)

        if scorer.needs_judge and self.check is not None:
            if self.look_first and (score := await scored_from_store(scored)) is not None:
                return score
            await self.check()
            self.look_first = False  # a judge was asked, so all judges can be reached
        return await scored_on_replies(scored)


def _instant(scorer: Scorer, case: Case, part: Attempt) -> Score:
    return run_scorer(scorer, _CONTEXTS.make(case=case, attempt=part))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Resources for scoring and for the setup of agents."""

    executor: "Callable[[], Executor]"
    sandbox: "Sandbox | None"
    programs: int = 0
    """How many programs the sandbox may be given at once."""
    program_workers: ProgramScoring | None = None


@dataclass(frozen=True, kw_only=True)
class TurnGrader:
    """Scoring of single turns, stored under the keys that scoring the run will use."""

    store: Store
    dispatcher: ScoreDispatcher
    failed: "dict[tuple[str, int], Cause]" = field(default_factory=dict)
    """Whose fault it is that the last turn of an attempt has no value, by case and number."""

    async def value(self, case: Case, attempt: Attempt, turn: int) -> Value | None:
        """Return the value of a turn; None if nothing in it is scored."""
        from proctor.core.cause import cause_of_scores

        criteria = [criterion for criterion in case.criteria if criterion.turn == turn]
        keys = self.dispatcher.scorers.keys(case, attempt)
        stored = self.store.scores.get_many(keys[criterion.id] for criterion in criteria)
        scores: dict[str, Score] = {}
        for criterion in criteria:
            key = keys[criterion.id]
            score = stored.get(key)
            if score is None or needs_scoring(score):
                part = scored_part(criterion, attempt)
                score = await self.dispatcher.score(ScoreTask(key, case, criterion, part))
                self.store.scores.put([(key, criterion.scorer.name, score)])
            scores[criterion.id] = score
        if cause := cause_of_scores(scores.values()):
            self.failed[case.id, attempt.index] = cause
        return turn_values(case, scores).get(turn)
