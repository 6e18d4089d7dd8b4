"""Scans as text and JSON."""

from proctor.core.scan import KindFinding, ScanFindings, ScanMark
from proctor.reports.scan import MOST_SHOWN, scan_object, scan_table

KIND = KindFinding(kind="outage", judge="m", looked_at=4, marked=1, unread=1)
MARK = ScanMark(case="a", attempt=2, marked=True, passage="it \x1b[2J broke", reason="so")


def test_marks_and_scores_are_told() -> None:
    findings = ScanFindings(kinds=(KIND,), rate=0.5, scanned_rate=0.25, marks=(("outage", MARK),))
    text = scan_table(findings, "r", width=120)
    assert "r · scanned by m" in text
    assert "4 (1 unread)" in text
    assert "outage: a, attempt 2" in text
    assert "\x1b[2J" not in text
    assert "50.00%; without successes and failures that are not what they seem: 25.00%" in text
    assert "Nobody has labelled" in text
    assert scan_object(findings)["marks"][0]["passage"] == MARK.passage


def test_labels_are_told() -> None:
    kind = KindFinding(
        kind="outage", judge="m", looked_at=4, marked=1, labelled=3, kappa=0.8,
        kappa_interval=(0.1, 1.0), share=0.25, interval=(0.1, 0.5),
    )  # fmt: skip
    findings = ScanFindings(
        kinds=(kind,), rate=0.5, scanned_rate=0.25, corrected=0.3, interval=(0.2, 0.4), labelled=3,
        warning="not like the others", marks=(("outage", MARK),) * (MOST_SHOWN + 2),
    )  # fmt: skip
    text = scan_table(findings, "r", width=160)
    assert "0.80 [0.10–1.00]" in text
    assert "25.0% [10.0%–50.0%]" in text
    assert "Corrected by labels on 3 cases: 30.00% [20.0%–40.0%]" in text
    assert "not like the others" in text
    assert "… and 2 more" in text
    assert scan_object(findings)["interval"] == [0.2, 0.4]
    nothing = ScanFindings(kinds=(), rate=None, scanned_rate=None)
    assert "Nothing of the run is scored." in scan_table(nothing, "r")
