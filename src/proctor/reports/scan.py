"""Scans of a run as text and JSON."""

from dataclasses import fields
from typing import TYPE_CHECKING

from proctor.core.fingerprint import plain
from proctor.core.scan import KindFinding, ScanFindings, ScanMark
from proctor.core.suite import Json
from proctor.reports.reasons import one_line
from proctor.reports.scan_notes import score_lines
from proctor.reports.tabular import printed

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADER = ("Kind", "Marked", "Of", "Labels", "Kappa", "Share of cases, corrected")
MOST_SHOWN = 50


def scan_table(
    findings: ScanFindings, name: str, *, width: int | None = None, color: bool = False
) -> str:
    """Return what was marked, how far people agree, and the score that follows."""
    judges = ", ".join(dict.fromkeys(kind.judge for kind in findings.kinds))
    parts: list[RenderableType] = [one_line(f"{name} · scanned by {judges}"), "", _table(findings)]
    for kind, mark in findings.marks[:MOST_SHOWN]:
        place = f"{mark.case}, attempt {mark.attempt}"
        parts += ["", one_line(f"{kind}: {place}"), one_line(f"  “{mark.passage}”")]
        if mark.reason:
            parts.append(one_line(f"  {mark.reason}"))
    if len(findings.marks) > MOST_SHOWN:
        parts.append(f"… and {len(findings.marks) - MOST_SHOWN} more (--json has all)")
    parts += ["", *score_lines(findings)]
    return printed(parts, width=width, color=color)


def scan_object(findings: ScanFindings) -> dict[str, Json]:
    """Make the object that ``scan --json`` prints."""
    names = ("rate", "scanned_rate", "corrected", "interval", "labelled", "warning")
    return {
        **{name: plain(getattr(findings, name)) for name in names},
        "kinds": [_all_fields(kind) for kind in findings.kinds],
        "marks": [{"kind": kind, **_all_fields(mark)} for kind, mark in findings.marks],
    }


def _all_fields(row: KindFinding | ScanMark) -> dict[str, Json]:
    """Return all fields of a row, also such as are none."""
    return {one.name: plain(getattr(row, one.name)) for one in fields(row)}


def _table(findings: ScanFindings) -> "RenderableType":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(HEADER):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=True)
    for kind in findings.kinds:
        table.add_row(*kind_cells(kind))
    return table


def kind_cells(kind: KindFinding) -> tuple[str, ...]:
    """Return the cells of one kind, under ``HEADER``."""
    of = f"{kind.looked_at}" + (f" ({kind.unread} unread)" if kind.unread else "")
    kappa = share = "–"
    if kind.kappa is not None:
        ends = kind.kappa_interval
        kappa = f"{kind.kappa:.2f}" + (f" [{ends[0]:.2f}–{ends[1]:.2f}]" if ends else "")
    if kind.share is not None and kind.interval is not None:
        share = f"{kind.share:.1%} [{kind.interval[0]:.1%}–{kind.interval[1]:.1%}]"
    return kind.kind, str(kind.marked), of, str(kind.labelled), kappa, share
