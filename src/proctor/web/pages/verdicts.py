"""The verdict on each criterion of an attempt: what was asked, what it gave, and who said so."""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.score import Score
from proctor.core.suite import Criterion, Json
from proctor.web.pages.case_view import Laid, written
from proctor.web.rendering import number

_QUESTIONS = ("question", "statement", "criterion", "rubric", "instruction", "eval_code", "claim")
"""The parameters of scorers that say what is asked of an answer."""
_NEAR = 1e-9
ORDER = ("bad", "none", "warn", "plain", "good")


def verdict_view(criterion: Criterion, score: Score, judges: Sequence[str]) -> Laid:
    """Lay out the verdict on one criterion, besides its score."""
    params = criterion.scorer.params
    detail = score.detail if isinstance(score.detail, dict) else {}
    asks_judge = "raw" in detail or "asked" in detail or "panel" in detail
    return {
        "kind": kind_of(criterion, score),
        "gave": gave(criterion, score),
        "penalty": criterion.weight < 0,
        "question": next((str(params[name]) for name in _QUESTIONS if params.get(name)), ""),
        "params": written(params) if params else "",
        "judges": ", ".join(judges) if asks_judge else "",
        "tokens": _tokens(detail.get("usage")),
        "cost": _number(detail.get("usage"), "cost"),
        "prompt": [],
    }


def kind_of(criterion: Criterion, score: Score) -> str:
    """Return the meaning of a score: good, bad, warn for part of the points, none for no score."""
    if score.status == "failed":
        return "none"
    if score.points is None or score.out_of is None or not criterion.weight:
        return "plain"
    if criterion.weight < 0:
        return "bad" if score.points > _NEAR else "good"
    if score.points >= score.out_of - _NEAR:
        return "good"
    return "bad" if score.points <= _NEAR else "warn"


def gave(criterion: Criterion, score: Score) -> str:
    """Return what a criterion added to the sum or took from it, such as ``+2 of 3``."""
    if score.points is None:
        return ""
    if score.out_of is None or not criterion.weight:
        return number(score.points)
    worth = criterion.weight * score.points
    if criterion.weight < 0:
        return "−" + number(-worth) if score.points > _NEAR else "0"
    return f"+{number(worth)} / {number(criterion.weight * score.out_of)}"


def in_order(scores: Sequence[Laid]) -> list[Laid]:
    """Return the scores with what failed first."""
    return sorted(scores, key=lambda one: ORDER.index(one["verdict"]["kind"]))


def _tokens(usage: Json) -> int | None:
    counts = [_number(usage, name) for name in ("prompt_tokens", "completion_tokens")]
    known = [int(count) for count in counts if count]
    return sum(known) if known else None


def _number(usage: Any, name: str) -> float | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
