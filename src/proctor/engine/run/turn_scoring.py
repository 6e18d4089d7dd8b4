"""What a turn is worth while the dialogue goes on, for dialogues that stop below a threshold."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.judge import Judge
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import finish_score, run_scorer, run_scorer_async, run_scorer_batch
from proctor.core.attempt import Attempt
from proctor.core.blame import passed_a_limit
from proctor.core.marks import MARKS, Marks
from proctor.core.rounds import scored_part
from proctor.core.score import Score, ScoreStatus, Value, turn_values
from proctor.core.suite import Case, Criterion
from proctor.engine.models.call_scope import scored_on_replies
from proctor.engine.run.score import Kind, kind_of
from proctor.engine.run.scorer_pool import Scorers
from proctor.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Hold what a run judges and sets up agents with."""

    executor: Executor
    sandbox: Sandbox | None


@dataclass(frozen=True, kw_only=True)
class TurnGrader:
    """Judge single turns; the scores are stored under the keys that grading will look for."""

    store: Store
    scorers: Scorers
    tools: Tools
    judge: Judge | None
    check: Callable[[], Awaitable[None]]
    marks: Marks = MARKS
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while grading processes are in use."""

    async def value(self, case: Case, attempt: Attempt, turn: int) -> Value | None:
        """Return what a turn is worth; none where nothing in it is judged."""
        criteria = [criterion for criterion in case.criteria if criterion.turn == turn]
        keys = self.scorers.keys(case, attempt)
        known = self.store.scores.get_many(keys[criterion.id] for criterion in criteria)
        scores: dict[str, Score] = {}
        for criterion in criteria:
            score = known.get(keys[criterion.id])
            if score is None or score.status is ScoreStatus.FAILED:
                score = await scored_on_replies(partial(self._score, case, criterion, attempt))
                self.store.scores.put([(keys[criterion.id], criterion.scorer.name, score)])
            scores[criterion.id] = score
        return turn_values(case, scores).get(turn)

    async def _score(self, case: Case, criterion: Criterion, attempt: Attempt) -> Score:
        scorer = self.scorers.of(criterion)
        part = scored_part(criterion, attempt)
        if scorer.needs_judge:
            await self.check()
        ctx = ScoreContext(
            case=case,
            attempt=part,
            sandbox=self.tools.sandbox,
            judge=self.judge,
            language=self.scorers.language,
            read_file=self.store.files.get,
            marks=self.marks,
        )
        kind = kind_of(scorer)
        if kind is Kind.WAITING:
            return await run_scorer_async(scorer, ctx)
        if kind is Kind.INSTANT:
            return run_scorer(scorer, ctx)
        if kind is Kind.BATCH:
            return (await asyncio.to_thread(run_scorer_batch, scorer, [ctx]))[0]
        score = await self._in_process(scorer, case, criterion, part)
        finishable = score.status is ScoreStatus.SCORED and not passed_a_limit(score)
        if scorer.finishes and finishable:
            return await finish_score(scorer, ctx, score)
        return score

    async def _in_process(
        self, scorer: Scorer, case: Case, criterion: Criterion, part: Attempt
    ) -> Score:
        task = GradeTask(
            case=case,
            criterion=criterion,
            attempts=(part,),
            keys=("turn",),
            time_limit=scorer.time_limit,
            out_of=scorer.full_marks,
        )
        async with self._one, aclosing(self.tools.executor.grade([task])) as judged:
            async for _, score in judged:
                return score
        return Score.failed("the grading process gave nothing")
