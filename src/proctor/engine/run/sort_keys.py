"""What the cases of a run can be sorted by in a list, computed when its results are stored."""

from collections.abc import Iterable

from proctor.core.attempt import AttemptStatus, token_count, used_by_candidate
from proctor.core.run import CaseResult
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Criterion, Json
from proctor.reports.reasons import full_marks
from proctor.store.rows import SortKeys, reason_text, tag_text

_NEAR = 1e-9


def sort_keys(result: CaseResult) -> SortKeys:
    """Return what a case can be sorted by."""
    attempts = [item.attempt for item in result.attempts]
    used = [used_by_candidate(attempt) for attempt in attempts if attempt.usage]
    question = next((m.content for m in reversed(result.case.messages) if m.role == "user"), "")
    tokens = total(map(token_count, used))
    return SortKeys(
        attempts=len(attempts),
        tokens=None if tokens is None else int(tokens),
        seconds=total(attempt.seconds for attempt in attempts),
        cost=total(usage.get("cost") for usage in used),
        question_length=len(question) or None,
        answer_length=max((len(attempt.output) for attempt in attempts), default=0) or None,
        reason=None if full_marks(result) else _first_reason(result),
        tag_text=tag_text(result.case.tags) if result.case.tags else None,
    )


def total(numbers: Iterable[Json]) -> float | None:
    """Return the sum of what is a number; None where nothing is."""
    own = [number for number in numbers if type(number) in (int, float)]
    return sum(own) if own else None


def _first_reason(result: CaseResult) -> str | None:
    """Return which criterion lacks points and why, or why there is no answer, of one attempt."""
    for item in result.attempts:
        if item.attempt.status is not AttemptStatus.ANSWERED:
            return reason_text("", item.attempt.error or item.attempt.status.value)
        for criterion in result.case.criteria:
            score = item.scores.get(criterion.id)
            if score is not None and _lacks(criterion, score):
                return reason_text(criterion.id, score.reason)
    return None


def _lacks(criterion: Criterion, score: Score) -> bool:
    if score.status is ScoreStatus.FAILED:
        return True
    if score.points is None or score.out_of is None:
        return False
    if criterion.weight < 0:
        return score.points > _NEAR
    return score.points < score.out_of - _NEAR
