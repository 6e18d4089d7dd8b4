"""Lines of reports on what a scan marked."""

from proctor.core.scan import KindFinding, ScanFindings
from proctor.reports.scan_notes import scan_notes, score_lines

KIND = KindFinding(kind="outage", judge="m", looked_at=4, marked=1, unread=1)


def test_marks_and_the_score_are_one_line_each() -> None:
    findings = ScanFindings(kinds=(KIND,), rate=0.5, scanned_rate=0.25, warning="too\nfew")
    first, *rest = scan_notes(findings)
    assert first == "Scanned by m, marked attempts: outage 1 of 4 (1 unread)"
    assert rest[0].startswith("Score as it stands: 50.00%; without successes")
    assert rest[1].startswith("Nobody has labelled these marks yet")
    assert rest[-1] == "too few"


def test_without_scores_there_is_nothing_to_say_of_them() -> None:
    findings = ScanFindings(kinds=(), rate=None, scanned_rate=None)
    assert score_lines(findings) == ["Nothing of the run is scored."]
