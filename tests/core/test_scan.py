"""Scans as they are stored, and read back."""

from proctor.core.fingerprint import plain
from proctor.core.scan import KINDS, NOT_ITS_OWN, UNEARNED, ScanMark, ScanOfKind, adjusted


def test_a_scan_reads_back() -> None:
    marks = (
        ScanMark(case="a", attempt=0, marked=True, passage="p", reason="r"),
        ScanMark(case="a", attempt=1, marked=False),
        ScanMark(case="b", attempt=0, marked=None, reason="unread"),
    )
    scan = ScanOfKind(kind="outage", judge="m", marks=marks, created=5.0)
    assert ScanOfKind.from_json(plain(scan)) == scan


def test_every_kind_is_worth_something_known() -> None:
    assert set(UNEARNED) | set(NOT_ITS_OWN) == set(KINDS) - {"refusal"}
    assert adjusted([], {}) == {}
