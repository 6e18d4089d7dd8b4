"""What a scan of transcripts says of a run's score, in lines for reports."""

from proctor.core.scan import ScanFindings
from proctor.reports.reasons import one_line


def score_lines(findings: ScanFindings) -> list[str]:
    """Say what the score is, what it would be by the marks, and what labels make of that."""
    if findings.rate is None or findings.scanned_rate is None:
        return ["Nothing of the run is scored."]
    lines = [
        f"Score as it stands: {findings.rate:.2%}; without successes and failures that are not"
        f" what they seem: {findings.scanned_rate:.2%}"
    ]
    if findings.corrected is None or findings.interval is None:
        lines.append(
            "Nobody has labelled these marks yet: `proctor labels export RUN todo.csv --sample 30"
            " --criterion scan:KIND`"
        )
    else:
        low, high = findings.interval
        lines.append(
            f"Corrected by labels on {findings.labelled} cases: {findings.corrected:.2%}"
            f" [{low:.1%}–{high:.1%}]"
        )
    return [*lines, *([findings.warning] if findings.warning else [])]


def scan_notes(findings: ScanFindings) -> list[str]:
    """Say in a report what was marked, by whom, and the score that follows, one line each."""
    judges = ", ".join(dict.fromkeys(kind.judge for kind in findings.kinds))
    counts = ", ".join(
        f"{kind.kind} {kind.marked} of {kind.looked_at}"
        + (f" ({kind.unread} unread)" if kind.unread else "")
        for kind in findings.kinds
    )
    lines = [f"Scanned by {judges}, marked attempts: {counts}", *score_lines(findings)]
    return [one_line(line) for line in lines]
