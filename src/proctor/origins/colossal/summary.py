"""The numbers of a run by category and metric, as a table for terminals."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from proctor.contracts.report import RunView
from proctor.core.attempt import AttemptStatus
from proctor.core.run import Measured
from proctor.core.score import ScoreStatus
from proctor.core.suite import Json
from proctor.reports.reasons import one_line
from proctor.reports.tabular import printed, usage_line

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADER = ("Category", "Metric", "Value", "Interval 95%", "n")
ALL = "all"
RATING = "rating_metric"
_UNKNOWN = "–"
_SHOWN = 120


def summary_table(view: RunView, *, width: int | None = None, color: bool = False) -> str:
    """Return the table with what could not be judged, what it took, and the signature."""
    from rich import box
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
    head = f"{run.name} · suite {run.suite} · {view.status}"
    notes = [*unscored(view), *filter(None, [usage_line(view.summary.usage)])]
    lines = [*notes, f"Signature: {one_line(run.signature) or _UNKNOWN}"]
    parts: list[RenderableType] = [one_line(head), "", table, "", *lines]
    return printed(parts, width=None if width is None else max(width, 60), color=color)


def sections(measures: Mapping[str, Measured]) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of each category, and of metrics that several have those over all."""
    by_category: dict[str, list[tuple[str, ...]]] = {}
    for metric, measured in measures.items():
        for category, row in _by(measured).items():
            ends = row.get("interval")
            cells = _cells(category, metric, row.get("value"), ends, row.get("n", 0))
            by_category.setdefault(category, []).append(cells)
    whole = [
        _cells(ALL, metric, one.value, one.interval, one.n)
        for metric, one in measures.items()
        if len(_by(one)) > 1
    ]
    return {**by_category, ALL: whole} if whole else by_category


def unscored(view: RunView) -> Iterator[str]:
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
                    reasons.setdefault(criterion.label, score.reason if score else "not scored")
    if unanswered:
        yield f"Unanswered: {unanswered}"
    for label, count in counts.items():
        why = one_line(reasons[label])
        yield f"Unscored: {one_line(label)}, {count} times: {why[:_SHOWN]}"


def ratings(view: RunView) -> tuple[int, int]:
    """Return how many ratings a judge gave, and how many could not be had of it."""
    status = Counter(
        score.status
        for result in view.results()
        for attempt in result.attempts
        for criterion in result.case.criteria
        if criterion.scorer.name == RATING
        and (score := attempt.scores.get(criterion.id)) is not None
    )
    return status[ScoreStatus.SCORED], status[ScoreStatus.FAILED]


def _by(measured: Measured) -> Mapping[str, Mapping[str, Json]]:
    by = measured.detail.get("by") if isinstance(measured.detail, Mapping) else None
    return by if isinstance(by, Mapping) else {}


def _cells(category: str, metric: str, value: Json, ends: Json, n: Json) -> tuple[str, ...]:
    shown = _UNKNOWN if value is None else f"{value:.4f}"
    interval = f"{ends[0]:.4f}–{ends[1]:.4f}" if ends else _UNKNOWN
    return one_line(category), one_line(metric), shown, interval, str(n)
