"""Verdicts that a plan need not count: their calls are stored, though their scores are not."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from proctor import registry
from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import finish_score, run_scorer_async
from proctor.core.attempt import Attempt
from proctor.core.failures import passed_a_limit
from proctor.core.rounds import scored_part
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Spec
from proctor.engine.models.call_scope import scored_from_store
from proctor.engine.models.roles import Models, judge_of
from proctor.engine.run.prepare import PreparedRun
from proctor.io.concurrency import run_sync
from proctor.store.store import Store

MOST_MISSED = 100
"""After this many verdicts in a row without stored calls, the lookup stops."""


@dataclass
class StoredVerdicts:
    """Verdicts from stored calls, to learn whether new calls are needed; none is stored."""

    ready: PreparedRun
    store: Store | None
    _missed: int = 0

    def are_stored(self, verdicts: Sequence[tuple[Case, Criterion, Attempt]]) -> list[bool]:
        """Tell for each verdict whether stored calls suffice."""
        asks_judge = [self._asks(criterion) for _, criterion, _ in verdicts]
        if self.store is None or not any(asks_judge) or self._missed >= MOST_MISSED:
            return [False] * len(verdicts)
        return run_sync(self._look(self.store, verdicts, asks_judge))

    async def _look(
        self,
        store: Store,
        verdicts: Sequence[tuple[Case, Criterion, Attempt]],
        asks_judge: list[bool],
    ) -> list[bool]:
        settings = self.ready.settings
        models = Models(store, replace(settings.calls, record=None, max_cost=None))
        try:
            panel = settings.panel
            judge = judge_of(panel, [models.open(choice, "judge") for choice in panel.judges])
            begun = await self._begun(verdicts)
            stored_flags = []
            for number, (case, criterion, attempt) in enumerate(verdicts):
                if not asks_judge[number] or self._missed >= MOST_MISSED:
                    stored_flags.append(False)
                    continue
                ctx = ScoreContext(
                    case=case,
                    attempt=scored_part(criterion, attempt),
                    judge=judge,
                    language=self.ready.scorers.language,
                    read_file=store.files.get,
                    marks=models.marks,
                )
                stored_flags.append(await self._is_stored(criterion, ctx, begun.get(number)))
            return stored_flags
        finally:
            await models.close()

    async def _begun(self, verdicts: Sequence[tuple[Case, Criterion, Attempt]]) -> dict[int, Score]:
        """Return, by number, the intermediate scores that a judge would only finish."""
        tasks = [
            GradeTask(
                case=case,
                criterion=criterion,
                attempts=(scored_part(criterion, attempt),),
                keys=(str(number),),
                time_limit=scorer.time_limit,
                out_of=scorer.full_marks,
            )
            for number, (case, criterion, attempt) in enumerate(verdicts)
            if (scorer := self.ready.scorers.of(criterion)).finishes and scorer.needs_judge
        ]
        if not tasks:
            return {}
        params = {"allow_import": self.ready.settings.suite.allow_import}
        executor: Executor = registry.build("executor", Spec(name="local", params=params))
        try:
            async with aclosing(executor.grade(tasks)) as graded:
                return {int(key): score async for key, score in graded}
        finally:
            await executor.close()

    async def _is_stored(
        self, criterion: Criterion, ctx: ScoreContext, begun: Score | None
    ) -> bool:
        scorer = self.ready.scorers.of(criterion)
        if begun is None:
            score = await scored_from_store(lambda: run_scorer_async(scorer, ctx))
        elif begun.status is not ScoreStatus.SCORED or passed_a_limit(begun):
            return True
        else:
            score = await scored_from_store(lambda: finish_score(scorer, ctx, begun))
        self._missed = self._missed + 1 if score is None else 0
        return score is not None

    def _asks(self, criterion: Criterion) -> bool:
        scorer = self.ready.scorers.of(criterion)
        asks = scorer.needs_judge and (scorer.is_async or scorer.finishes)
        return asks and bool(self.ready.settings.panel.judges)
