"""The verdict on each criterion of an attempt: what was asked, what it gave, and who said so."""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.contracts.report import RunView
from proctor.core.attempt import used_by_candidate
from proctor.core.cause import cause_of
from proctor.core.run import CaseResult, Run
from proctor.core.score import Score
from proctor.core.suite import Criterion, Json
from proctor.engine.run.judge_prompts import judge_messages
from proctor.web.highlight import pieces
from proctor.web.pages.case_view import Laid, written
from proctor.web.rendering import number

_QUESTIONS = ("question", "statement", "criterion", "rubric", "instruction", "eval_code", "claim")
"""The parameters of scorers that say what is asked of an answer."""
_NEAR = 1e-9
ORDER = ("bad", "none", "warn", "plain", "good")


def add_verdicts(run: Run, result: CaseResult, attempts: Sequence[Laid]) -> None:
    """Add the verdicts to the scores of attempts, failed ones first, and what each attempt took."""
    judges = [str(judge["model"]) for judge in run.settings.get("judges") or ()]
    criteria = {criterion.id: criterion for criterion in result.case.criteria}
    for attempt, item in zip(attempts, result.attempts, strict=True):
        for score in attempt["scores"]:
            criterion = criteria[score["id"]]
            score["verdict"] = verdict_view(criterion, item.scores[criterion.id], judges)
        attempt["scores"] = in_order(attempt["scores"])
        used = used_by_candidate(item.attempt)
        attempt["tokens"] = [used.get(name) for name in ("prompt_tokens", "completion_tokens")]
        attempt["cost"] = used.get("cost")
        attempt["calls_made"] = used.get("calls")
        cause = cause_of(item.attempt, item.scores.values())
        attempt["cause"] = cause.value if cause is not None else ""


def add_prompts(
    view: RunView, result: CaseResult, attempts: Sequence[Laid], *, most: int | None
) -> None:
    """Add what the judge was shown to the verdicts of some attempts."""
    criteria = {criterion.id: criterion for criterion in result.case.criteria}
    by_index = {item.attempt.index: item.attempt for item in result.attempts}
    for attempt in attempts:
        for score in attempt["scores"]:
            messages = judge_messages(
                result.case,
                criteria[score["id"]],
                by_index[attempt["index"]],
                language=view.suite.language,
            )
            score["verdict"]["prompt"] = [
                {"role": one.role, "text": pieces(one.content, most=most)} for one in messages
            ]


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
        "seconds": _seconds(detail),
        "prompt": [],
        "alike": "",
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
    counted = [int(count) for count in counts if count]
    return sum(counted) if counted else None


def _seconds(detail: Mapping[str, Json]) -> float | None:
    """Return how long the judge took: for one question, or for all that were asked."""
    questions = detail.get("asked")
    told = [detail, *(questions if isinstance(questions, list | tuple) else ())]
    seconds = [one for one in (_number(row, "seconds") for row in told) if one is not None]
    return sum(seconds) if seconds else None


def _number(usage: Any, name: str) -> float | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
