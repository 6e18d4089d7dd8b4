"""Reasons for the value of a case, in short lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from proctor.contracts.report import RunView
from proctor.core.case_value import ValueStatus, shares
from proctor.core.run import CAUSES, AttemptResult, CaseResult, RunStatus
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json
from proctor.late_patterns import late_pattern

if TYPE_CHECKING:
    from proctor.core.cause import Cause

_NEAR = 1e-9
_UNREACHED, _SILENT = "the candidate could not be reached", "no answer"
# Control and formatting characters, which could move a terminal's cursor or reverse text.
_UNPRINTABLE = late_pattern(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")


def one_line(text: str) -> str:
    """Return untrusted text as one line that is safe to show."""
    return _UNPRINTABLE.sub(" ", text).strip()


def full_marks(result: CaseResult) -> bool:
    """Tell whether a case has full marks."""
    value = result.folded.value
    return value is not None and is_full(value, result.case)


def is_full(value: float, case: Case) -> bool:
    """Tell whether a value is all that a case is worth."""
    return value >= case.full_score - _NEAR


def reasons(result: CaseResult) -> list[str]:
    """Say why a case is unscored, in error, or short of full marks; empty otherwise."""
    if result.folded.status in (ValueStatus.UNSCORED, ValueStatus.ERROR):
        return unscored_reasons(result)
    return [] if full_marks(result) else lost_reasons(result)


def cause_of_case(result: CaseResult) -> "Cause | None":
    """Return whose fault it is that a case has no value; none where it has one."""
    if result.folded.status not in (ValueStatus.UNSCORED, ValueStatus.ERROR):
        return None
    from proctor.core.cause import cause_of

    causes = (cause_of(item.attempt, item.scores.values()) for item in result.attempts)
    return next((cause for cause in causes if cause is not None), None)


def formula(case: Case, item: AttemptResult) -> str:
    """Write out how the points of an attempt became its value."""
    parts = [f"{points + 0.0:g}" for _, points, _ in shares(case, item.scores)]
    total = " + ".join(parts) or "0"
    if case.min_points is not None or case.max_points is not None:
        low = "" if case.min_points is None else f", at least {case.min_points:g}"
        high = "" if case.max_points is None else f", at most {case.max_points:g}"
        total = f"({total}{low}{high})"
    elif len(parts) > 1:
        total = f"({total})"
    return f"{total} / {item.value.out_of:g} * {case.full_score:g} = {item.value.value:.4g}"


def spans_of(detail: Json) -> Iterator[tuple[int, int]]:
    """Yield the spans of an answer that a score matched."""
    for row in [*rows_of(detail, "rules"), *rows_of(detail, "texts"), *rows_of([detail])]:
        several = row.get("spans")
        for span in [*(several if isinstance(several, list) else ()), row.get("span")]:
            match span:
                case [int(start), int(stop)] if start < stop:
                    yield start, stop


def rows_of(detail: Json, name: str = "") -> list[dict[str, Json]]:
    """Return the objects in a list of a score's detail, which may contain anything."""
    rows = detail.get(name) if name and isinstance(detail, dict) else detail
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def unscored_reasons(result: CaseResult) -> list[str]:
    """Say what failed in each attempt that could not be scored, each reason once."""
    reasons: dict[str, None] = {}
    for attempt in result.attempts:
        if attempt.value.status is ValueStatus.ERROR:
            reasons[attempt.attempt.error or _UNREACHED] = None
        elif attempt.value.status is ValueStatus.UNSCORED:
            reasons.update(dict.fromkeys(_failures(result.case, attempt)))
    return list(reasons)


def lost_reasons(result: CaseResult) -> list[str]:
    """Say which criteria lost points in the attempts that the case's value comes from."""
    chosen = [place for bucket in result.folded.chosen for place in bucket]
    attempts = [result.attempts[place] for place in chosen] or result.attempts
    reasons: dict[str, None] = {}
    for attempt in attempts:
        if attempt.value.status is ValueStatus.UNANSWERED:
            reasons[attempt.attempt.error or _SILENT] = None
        else:
            reasons.update(dict.fromkeys(_losses(result.case, attempt)))
    value = result.folded.value
    if not reasons and value is not None:
        return [f"worth {value:g} of {result.case.full_score:g}"]
    return list(reasons)


def attempt_reasons(case: Case, attempt: AttemptResult) -> list[str]:
    """Say why one attempt is unscored, in error, or short of full marks; empty otherwise."""
    value = attempt.value
    if value.status is ValueStatus.ERROR:
        return [attempt.attempt.error or _UNREACHED]
    if value.status is ValueStatus.UNANSWERED:
        return [attempt.attempt.error or _SILENT]
    if value.status is ValueStatus.UNSCORED:
        return list(_failures(case, attempt))
    if value.value is None or value.value >= case.full_score - _NEAR:
        return []
    return list(_losses(case, attempt)) or [f"worth {value.value:g} of {case.full_score:g}"]


def _failures(case: Case, attempt: AttemptResult) -> Iterator[str]:
    broken = False
    for criterion in case.criteria:
        score = attempt.scores.get(criterion.id)
        if criterion.weight and (score is None or score.status is ScoreStatus.FAILED):
            broken = True
            yield f"{criterion.id}: {score.reason if score is not None else 'not graded'}"
    if not broken:
        yield "no criterion gives points"


def _losses(case: Case, attempt: AttemptResult) -> Iterator[str]:
    for criterion in case.criteria:
        score = attempt.scores.get(criterion.id)
        if score is not None and (lost := _lost(criterion, score)):
            yield f"{lost}: {score.reason}" if score.reason else lost


def _lost(criterion: Criterion, score: Score) -> str:
    if score.points is None or score.out_of is None:
        return ""
    if criterion.weight < 0 and score.points > _NEAR:
        return f"{criterion.id} took off {-criterion.weight * score.points:g}"
    if criterion.weight > 0 and score.points < score.out_of - _NEAR:
        return f"{criterion.id} {score.points:g} of {score.out_of:g}"
    return ""


_LONGEST = 240


def shortfall(view: RunView) -> str:
    """Say what a run lacks and why; empty if it is complete."""
    totals, failures = view.summary.totals, view.summary.failures
    parts = []
    if totals.errors:
        why, whose = _reasons(failures.get("errors")), causes_text(failures.get(CAUSES))
        parts.append(f"{totals.errors} of {totals.attempts} attempts failed{whose}{why}")
    incomplete = view.run.status is RunStatus.INCOMPLETE
    if totals.cases_unscored and (incomplete or totals.rate is None):
        why = _reasons(failures.get("unscored"))
        parts.append(f"{totals.cases_unscored} of {totals.cases} cases could not be scored{why}")
    if parts:
        return f"incomplete: {'; '.join(parts)}"
    if incomplete:
        return "incomplete: not all attempts were made; the same command resumes"
    return _silent(view)


def causes_text(rows: Sequence[Mapping[str, Json]] | None) -> str:
    """Write whose fault failed attempts were, where it was not one and the same."""
    if not rows or len(rows) < 2:
        return ""
    listed = ", ".join(f"{row['reason']} {row['count']}" for row in rows)
    return f" ({listed})"


def _silent(view: RunView) -> str:
    """Say why most attempts have no answer, if there is one dominant reason."""
    totals = view.summary.totals
    rows = view.summary.failures.get("unanswered") or ()
    if rows and rows[0]["count"] * 2 > totals.attempts:
        return f"{rows[0]['count']} of {totals.attempts} attempts have no answer{_reasons(rows)}"
    return ""


def _reasons(rows: Sequence[Mapping[str, Json]] | None) -> str:
    """Write the most frequent reasons, with counts where there are several."""
    if not rows:
        return ""
    shown = [_cut(str(row["reason"])) for row in rows[:2]]
    if len(rows) > 1:
        shown = [f"{text} ({row['count']})" for text, row in zip(shown, rows, strict=False)]
    more = ", …" if len(rows) > 2 else ""
    return f": {', '.join(shown)}{more}"


def _cut(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
