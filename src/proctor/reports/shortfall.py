"""What keeps a run's numbers from being all of them, in one line that stands first."""

from collections.abc import Mapping, Sequence

from proctor.contracts.report import RunView
from proctor.core.run import RunStatus
from proctor.core.suite import Json
from proctor.reports.reasons import one_line

_LONGEST = 240


def shortfall(view: RunView) -> str:
    """Say what a run lacks and why; empty where nothing is amiss."""
    totals, failures = view.summary.totals, view.summary.failures
    parts = []
    if totals.errors:
        why = _reasons(failures.get("errors"))
        parts.append(f"{totals.errors} of {totals.attempts} attempts failed{why}")
    incomplete = view.run.status is RunStatus.INCOMPLETE
    if totals.cases_unscored and (incomplete or totals.rate is None):
        why = _reasons(failures.get("unscored"))
        parts.append(f"{totals.cases_unscored} of {totals.cases} cases could not be scored{why}")
    if parts:
        return f"incomplete: {'; '.join(parts)}"
    if incomplete:
        return "incomplete: not all attempts were made; the same command goes on"
    return _silent(view)


def _silent(view: RunView) -> str:
    """Say for what one reason most attempts have no answer, where there is one."""
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
