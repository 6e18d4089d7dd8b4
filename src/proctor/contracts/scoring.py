"""What a scorer returned or raised, as a Score."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import AttemptStatus
from proctor.core.fingerprint import is_plain, plain
from proctor.core.score import Score, ScoreStatus


def run_scorer(scorer: Scorer, ctx: ScoreContext) -> Score:
    """Score one attempt; what the scorer raises is a failed score, never an error of the run."""
    if (score := unanswered(scorer, ctx)) is not None:
        return score
    if scorer.is_async:
        return Score.failed(f"{type(scorer).__name__} waits for a sandbox or a model: not scored")
    try:
        return as_score(scorer, scorer.score(ctx))
    except Exception as error:  # noqa: BLE001 - a scorer is a stranger's code
        return failed_by(scorer, error)


def run_scorer_batch(scorer: Scorer, contexts: Sequence[ScoreContext]) -> list[Score]:
    """Score many attempts at once; one that breaks the batch costs only itself."""
    silent = [unanswered(scorer, ctx) for ctx in contexts]
    if any(silent):
        answered = [ctx for ctx, score in zip(contexts, silent, strict=True) if score is None]
        rest = iter(run_scorer_batch(scorer, answered))
        return [next(rest) if score is None else score for score in silent]
    if not contexts:
        return []
    try:
        results = list(scorer.score_batch(contexts))
        if len(results) != len(contexts):
            raise ValueError(f"{len(results)} results for {len(contexts)} attempts")
        return [as_score(scorer, one) for one in results]
    except Exception as error:  # noqa: BLE001 - a scorer is a stranger's code
        if len(contexts) == 1:
            return [failed_by(scorer, error)]
        half = len(contexts) // 2
        return [
            *run_scorer_batch(scorer, contexts[:half]),
            *run_scorer_batch(scorer, contexts[half:]),
        ]


async def run_scorer_async(scorer: Scorer, ctx: ScoreContext) -> Score:
    """Score one attempt with a scorer that waits for something."""
    if (score := unanswered(scorer, ctx)) is not None:
        return score
    try:
        return as_score(scorer, await scorer.score(ctx))
    except Exception as error:  # noqa: BLE001 - a scorer is a stranger's code
        return failed_by(scorer, error)


async def finish_score(scorer: Scorer, ctx: ScoreContext, score: Score) -> Score:
    """Let a scorer finish a score that a grading process gave."""
    if unanswered(scorer, ctx) is not None:
        return score
    try:
        return as_score(scorer, await scorer.finish(ctx, score))
    except Exception as error:  # noqa: BLE001 - a scorer is a stranger's code
        return failed_by(scorer, error)


def unanswered(scorer: Scorer, ctx: ScoreContext) -> Score | None:
    """Return the score of a turn that was not reached or in which an agent failed: a plain miss."""
    if ctx.attempt.status is not AttemptStatus.UNANSWERED:
        return None
    full = scorer.full_marks
    if full is None:
        return Score(status=ScoreStatus.NOT_APPLICABLE, reason=ctx.attempt.error)
    return Score(points=0.0, out_of=full, reason=ctx.attempt.error, detail={"unanswered": True})


def as_score(scorer: Scorer, result: Any) -> Score:
    """Make a Score of what a scorer returned."""
    if isinstance(result, Score):
        return _sound(type(scorer).__name__, result)
    if isinstance(result, bool | int | float) and isfinite(result):
        return Score(points=float(result), out_of=scorer.out_of)
    name = type(scorer).__name__
    shown = repr(result) if isinstance(result, float) else type(result).__name__
    return Score.failed(f"{name} returned {shown}, not a bool, a finite number or a Score")


def _sound(name: str, score: Score) -> Score:
    """Return a score as it is, or a failed one where it cannot be added or stored."""
    if score.points is None and score.status is ScoreStatus.SCORED:
        return Score.failed(f"{name} returned a scored Score with no points", out_of=score.out_of)
    for number in (score.points, score.out_of):
        if number is not None and not isfinite(number):
            return Score.failed(f"{name} gave {score.points} of {score.out_of} points")
    if not is_plain(score.detail):
        plain(score.detail)
    return score


def failed_by(scorer: Scorer, error: Exception) -> Score:
    """Make the score of a criterion whose scorer raised."""
    text = str(error)
    reason = f"{type(scorer).__name__}: {type(error).__name__}{f': {text}' if text else ''}"
    return Score.failed(reason, out_of=scorer.full_marks)
