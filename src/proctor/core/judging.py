"""What a scorer returned or raised, as a Score."""

import inspect
from math import isfinite
from typing import Any

from proctor.core.contracts import ScoreContext, Scorer
from proctor.core.score import Score


def judge(scorer: Scorer, ctx: ScoreContext) -> Score:
    """Let a scorer judge; what it raises is a failed score, never an error of the run."""
    try:
        return as_score(scorer, scorer.score(ctx))
    except Exception as error:  # noqa: BLE001 - a scorer is a stranger's code
        return failed_by(scorer, error)


async def judge_async(scorer: Scorer, ctx: ScoreContext) -> Score:
    """Let a scorer judge that waits for something."""
    try:
        return as_score(scorer, await scorer.score(ctx))
    except Exception as error:  # noqa: BLE001 - a scorer is a stranger's code
        return failed_by(scorer, error)


def is_async(scorer: Scorer) -> bool:
    """Tell whether a scorer waits for something, and so belongs on the loop, not into a worker."""
    return inspect.iscoroutinefunction(scorer.score)


def as_score(scorer: Scorer, made: Any) -> Score:
    """Make a Score of what a scorer returned."""
    if isinstance(made, Score):
        return made
    if isinstance(made, bool | int | float) and isfinite(made):
        return Score(points=float(made), out_of=scorer.out_of)
    name = type(scorer).__name__
    shown = repr(made) if isinstance(made, float) else type(made).__name__
    return Score.failed(f"{name} returned {shown}, not a bool, a finite number or a Score")


def failed_by(scorer: Scorer, error: Exception) -> Score:
    """Make the score of a criterion whose scorer raised."""
    text = str(error)
    reason = f"{type(scorer).__name__}: {type(error).__name__}{f': {text}' if text else ''}"
    return Score.failed(reason, out_of=getattr(scorer, "full_marks", scorer.out_of))
