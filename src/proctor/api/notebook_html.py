"""Runs and comparisons as HTML for notebooks: what a person looks at first, and no script."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from proctor.reports.reasons import one_line

if TYPE_CHECKING:
    from proctor.api.case_views import CaseView
    from proctor.contracts.report import RunView
    from proctor.core.run import Group, Totals
    from proctor.engine.compare.results import CasePair

SHOWN = 20
"""How many cases are listed."""
LONGEST = 120


def rates_html(runs: "Iterable[tuple[str, Totals, str]]") -> str:
    """Return the rates of several runs, each with its name and status, in one table."""
    rows = (
        (name, _percent(totals.rate), _ends(totals.interval), status, totals.cases)
        for name, totals, status in runs
    )
    return _table(("Run", "Rate", "Interval 95%", "Status", "Cases"), rows)


def run_html(view: "RunView", cases: "Sequence[CaseView]") -> str:
    """Return the numbers of a run, and the cases that lost most."""
    totals, measures = view.summary.totals, view.summary.measures
    rows = [("All cases", totals), *_groups(view)]
    parts = [
        f"<p><b>{_text(view.run.name)}</b>: {_text(view.candidate)} · {_text(view.status)}</p>"
    ]
    parts.append(
        _table(
            ("", "Rate", "Interval 95%", "Score", "Cases"),
            (
                (name, _percent(group.rate), _ends(group.interval), _score(group), group.cases)
                for name, group in rows
            ),
        )
    )
    if measures:
        parts.append(
            _table(
                ("Measure", "Value", "Interval 95%", "n"),
                (
                    (name, _number(one.value), _ends(one.interval, percent=False), one.n)
                    for name, one in measures.items()
                ),
            )
        )
    counts = [
        f"{number} {what}"
        for number, what in (
            (totals.errors, "errors"),
            (totals.unscored, "unscored"),
            (totals.unanswered, "unanswered"),
        )
        if number
    ]
    if counts:
        parts.append(f"<p>{_text(', '.join(counts))}</p>")
    lost = sorted(cases, key=lambda case: -1.0 if case.value is None else case.value)
    parts.append(
        _table(
            ("Case", "Value", "Output", "Why"),
            ((case.id, _number(case.value), case.output, case.why) for case in lost[:SHOWN]),
        )
    )
    if len(lost) > SHOWN:
        parts.append(f"<p>… and {len(lost) - SHOWN} more cases</p>")
    return "\n".join(parts)


def comparison_html(
    sentences: Sequence[str], runs: Sequence[str], cases: "Sequence[CasePair]"
) -> str:
    """Return what a comparison came to, and the cases that changed."""
    changed = [pair for pair in cases if pair.difference]
    rows = sorted(changed, key=lambda pair: pair.difference)[:SHOWN]
    parts = [f"<p><b>{escape(one_line(line))}</b></p>" for line in sentences]
    parts.append(
        _table(
            ("Case", runs[0], runs[1], "Difference"),
            ((p.id, _number(p.first), _number(p.second), _number(p.difference)) for p in rows),
        )
    )
    return "\n".join(parts)


def _groups(view: "RunView") -> "Iterable[tuple[str, Group]]":
    for tag, rows in view.summary.groups.items():
        for name, group in rows.items():
            yield f"{tag}: {name}", group


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    body = [
        "<tr>"
        + "".join(f"<td style='text-align:left'>{_text(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows
    ]
    if not body:
        return ""
    head = "".join(f"<th style='text-align:left'>{_text(name)}</th>" for name in header)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _text(value: object) -> str:
    text = one_line(str(value))
    return escape(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.1%}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _ends(interval: tuple[float, float] | None, *, percent: bool = True) -> str:
    if interval is None:
        return "–"
    shown = _percent if percent else _number
    return f"{shown(interval[0])} to {shown(interval[1])}"


def _score(group: "Group") -> str:
    return f"{group.score:.4g} of {group.full:.4g}"
