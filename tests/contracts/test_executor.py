"""The contract of an executor: batches, and plugins that know them by their earlier name."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass

from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Spec
from proctor.io.concurrency import run_sync


@dataclass(frozen=True)
class Length(Scorer):
    def score(self, ctx: ScoreContext) -> float:
        return len(ctx.output) / 10


class Here(Executor):
    async def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        for task in tasks:
            yield task.keys[0], Score(points=1.0)

    async def close(self) -> None: ...


class EarlierForm(Here):
    async def judge_batch(
        self, scorer: Scorer, spec: Spec, contexts: Sequence[ScoreContext]
    ) -> Sequence[Score]:
        return [Score(points=0.5) for _ in contexts]


def points(executor: Executor) -> list[float | None]:
    contexts = [ScoreContext.of("a"), ScoreContext.of("ab")]
    scores = run_sync(executor.score_batch(Length(), Spec(name="length"), contexts))
    return [score.points for score in scores]


def test_a_batch_is_scored_here_unless_the_executor_has_a_better_place() -> None:
    assert points(Here()) == [0.1, 0.2]


def test_an_executor_that_knows_batches_by_their_earlier_name_gets_them() -> None:
    assert points(EarlierForm()) == [0.5, 0.5]
