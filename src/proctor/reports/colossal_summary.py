"""The numbers of a run by category and metric, as a table for terminals."""

import io
from collections import Counter
from collections.abc import Iterator, Mapping

from proctor.core.attempt import AttemptStatus
from proctor.core.run import Measured
from proctor.core.score import ScoreStatus
from proctor.core.suite import Json
from proctor.reports.reasons import one_line
from proctor.reports.tabular import usage_line
from proctor.reports.view import RunView

HEADER = ("Category", "Metric", "Value", "Interval 95%", "n")
ALL = "all"
_UNKNOWN = "–"
_SHOWN = 120


def summary_table(view: RunView, *, width: int = 100, color: bool = False) -> str:
    """Return the table with what could not be judged, what it took, and the signature."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    run = view.run
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(HEADER):
        table.add_column(name, justify="left" if place < 2 else "right", no_wrap=place > 1)
    for rows in sections(view.summary.measures).values():
        for cells in rows:
            table.add_row(*(Text(cell) for cell in cells))
        table.add_section()
    file = io.StringIO()
    console = Console(
        file=file, width=max(width, 60), force_terminal=color,
        color_system="standard" if color else None, highlight=False, markup=False, emoji=False,
    )  # fmt: skip
    head = f"{run.name} · suite {run.suite} · {view.status}"
    notes = [*unjudged(view), *filter(None, [usage_line(view.summary.usage)])]
    lines = [*notes, f"Signature: {one_line(run.signature) or _UNKNOWN}"]
    for part in (one_line(head), "", table, "", *lines):
        console.print(part, soft_wrap=isinstance(part, str))
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n"))


def sections(measures: Mapping[str, Measured]) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of each category, and of metrics that several have those over all."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for metric, measured in measures.items():
        for category, row in _by(measured).items():
            ends = row.get("interval")
            cells = _cells(category, metric, row.get("value"), ends, row.get("n", 0))
            found.setdefault(category, []).append(cells)
    whole = [
        _cells(ALL, metric, one.value, one.interval, one.n)
        for metric, one in measures.items()
        if len(_by(one)) > 1
    ]
    return {**found, ALL: whole} if whole else found


def unjudged(view: RunView) -> Iterator[str]:
    """Say which numbers could not be found out, how often, and why the first of them not."""
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    unanswered = 0
    for result in view.results():
        for attempt in result.attempts:
            if attempt.attempt.status is not AttemptStatus.ANSWERED:
                unanswered += 1
                continue
            for criterion in result.case.criteria:
                score = attempt.scores.get(criterion.id)
                if score is None or score.status is ScoreStatus.FAILED:
                    counts[criterion.label] += 1
                    reasons.setdefault(criterion.label, score.reason if score else "not judged")
    if unanswered:
        yield f"Unanswered: {unanswered}"
    for label, count in counts.items():
        why = one_line(reasons[label])
        yield f"Unscored: {one_line(label)}, {count} times: {why[:_SHOWN]}"


def _by(measured: Measured) -> Mapping[str, Mapping[str, Json]]:
    found = measured.detail.get("by") if isinstance(measured.detail, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _cells(category: str, metric: str, value: Json, ends: Json, n: Json) -> tuple[str, ...]:
    shown = _UNKNOWN if value is None else f"{value:.4f}"
    interval = f"{ends[0]:.4f}–{ends[1]:.4f}" if ends else _UNKNOWN
    return one_line(category), one_line(metric), shown, interval, str(n)
