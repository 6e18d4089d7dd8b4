"""One text scored by one scorer, with nothing around it: what ``Scorer.score_text`` does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from proctor import registry
from proctor.api.function_models import AModel
from proctor.api.grader import Grader
from proctor.api.object_specs import spec_of
from proctor.api.python_words import told_in_python
from proctor.contracts.judge import Judge
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import finish_score, run_scorer, run_scorer_async
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Criterion
from proctor.errors import MissingResource, UsageError
from proctor.io.concurrency import run_sync


@told_in_python()
def score_alone(
    scorer: Scorer,
    ctx: ScoreContext,
    judge: Judge | AModel | Sequence[AModel] | None,
    sandbox: str | Sandbox,
) -> Score:
    """Score the attempt of a context, with whatever the scorer needs for it."""
    name, spec = type(scorer).__name__, spec_of("scorer", scorer)
    # Made anew of its parameters, which are checked and read as in a suite.
    scorer = registry.build("scorer", spec)
    if problems := [*scorer.problems()]:
        raise UsageError(f"{name}: {'; '.join(problems)}")
    if missing := [*scorer.missing()]:
        raise MissingResource(f"{name}: {'; '.join(missing)}")
    if scorer.needs_judge and judge is None:
        raise UsageError(f"{name} asks a judge (fix: judge='openai:NAME', or a function of a text)")
    if isinstance(judge, Judge) or isinstance(sandbox, Sandbox):
        return _with_objects(scorer, ctx, judge, sandbox)
    if not (scorer.is_async or scorer.finishes):
        scorer.open()
        return run_scorer(scorer, ctx)
    criterion = Criterion(id=name, scorer=spec)
    case = replace(ctx.case, criteria=(criterion,))
    judges: Any = judge if judge is not None and scorer.needs_judge else ()
    with Grader([case], judge=judges, sandbox=sandbox, deadline=None, warm=False) as grader:
        return grader.score_one(case.id, ctx.attempt).scores[name]


def _with_objects(scorer: Scorer, ctx: ScoreContext, judge: Any, sandbox: Any) -> Score:
    """Score with a judge or a sandbox that the caller made."""
    if isinstance(judge, Judge):
        ctx = replace(ctx, judge=judge)
    elif judge is not None:
        raise UsageError("a sandbox that is an object goes along with a judge that is one")
    if isinstance(sandbox, Sandbox):
        ctx = replace(ctx, sandbox=sandbox)
    scorer.open()
    return run_sync(_scored(scorer, ctx))


async def _scored(scorer: Scorer, ctx: ScoreContext) -> Score:
    if scorer.is_async:
        return await run_scorer_async(scorer, ctx)
    score = run_scorer(scorer, ctx)
    if not scorer.finishes or score.status is not ScoreStatus.SCORED:
        return score
    return await finish_score(scorer, ctx, score)
