"""What scans come to: marks, labels, and the score that follows from both."""

import random
from typing import Any

import pytest

from proctor.core.scan import AttemptValue, ScanMark, ScanOfKind, adjusted
from proctor.engine.scan.findings import summed


def value(case: str, share: float | None, attempt: int = 0) -> AttemptValue:
    return AttemptValue(case=case, attempt=attempt, share=share)


def scan(kind: str, **marked: bool | None) -> ScanOfKind:
    marks = tuple(ScanMark(case=case, attempt=0, marked=is_so) for case, is_so in marked.items())
    return ScanOfKind(kind=kind, judge="m", marks=marks)


VALUES = [value("a", 1.0), value("b", 1.0), value("c", 0.0), value("d", 0.0), value("e", None)]


@pytest.mark.parametrize(
    ("marks", "cases"),
    [
        ({}, {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": None}),
        ({("reward_hack", "a", 0): True}, {"a": 0.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": None}),
        ({("unsupported_claim", "b", 0): True}, {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": None}),
        ({("outage", "c", 0): True}, {"a": 1.0, "b": 1.0, "c": None, "d": 0.0, "e": None}),
        # A refusal is the candidate's own doing, and an outage does not undo a success.
        ({("refusal", "c", 0): True, ("outage", "a", 0): True},
         {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": None}),
    ],
)  # fmt: skip
def test_what_cases_are_worth_by_the_marks(marks: Any, cases: Any) -> None:
    assert adjusted(VALUES, marks) == cases


def test_attempts_of_a_case_are_one_mean() -> None:
    values = [value("a", 1.0, 0), value("a", 0.0, 1), value("a", 0.5, 2)]
    assert adjusted(values, {("outage", "a", 1): True}) == {"a": 0.75}
    assert adjusted(values, {("reward_hack", "a", 0): True}) == {"a": pytest.approx(0.5 / 3)}


def test_marks_without_labels() -> None:
    scans = [scan("reward_hack", a=True, b=False), scan("outage", c=True, d=None)]
    findings = summed(scans, {}, VALUES)
    assert (findings.rate, findings.scanned_rate) == (0.5, pytest.approx(1 / 3))
    assert findings.corrected is None
    assert [(k.kind, k.looked_at, k.marked, k.unread) for k in findings.kinds] == [
        ("reward_hack", 2, 1, 0), ("outage", 2, 1, 1),
    ]  # fmt: skip
    assert [(kind, mark.case) for kind, mark in findings.marks] == [
        ("reward_hack", "a"), ("outage", "c"),
    ]  # fmt: skip


def test_labels_say_how_far_the_judge_is_right() -> None:
    marked = {f"c{n}": n < 4 for n in range(20)}
    labels = {("reward_hack", f"c{n}", 0): n < 3 for n in range(10)}
    (kind,) = summed([scan("reward_hack", **marked)], labels, [value(c, 1.0) for c in marked]).kinds
    assert kind.labelled == 10
    assert kind.kappa == pytest.approx(0.7826, abs=1e-3)
    assert kind.kappa_interval is not None
    assert kind.share is not None
    assert kind.interval is not None
    assert kind.interval[0] <= kind.share <= kind.interval[1]


def drawn(draw: random.Random, cases: int) -> tuple[Any, Any, dict[Any, bool], float]:
    """Draw a run whose judge errs, labels on random cases, and the true mean."""
    values, judge, truth = [], {}, {}
    for n in range(cases):
        name = f"c{n}"
        won = draw.random() < 0.6
        values.append(value(name, float(won)))
        kind = "reward_hack" if won else "outage"
        true = draw.random() < 0.25
        truth[kind, name, 0] = true
        judge[kind, name, 0] = true if draw.random() < 0.85 else not true
    scans = [
        ScanOfKind(kind=kind, judge="m", marks=tuple(
            ScanMark(case=c, attempt=a, marked=m) for (k, c, a), m in judge.items() if k == kind))
        for kind in ("reward_hack", "outage")
    ]  # fmt: skip
    picked = draw.sample(sorted(truth), cases // 3)
    # The mean that all people's labels would give: 0.6 * 0.75 won, 0.4 * 0.75 lost and its own.
    return scans, values, {place: truth[place] for place in picked}, 0.45 / (0.6 + 0.4 * 0.75)


def test_the_corrected_score_covers_the_truth() -> None:
    draw = random.Random(3)
    hits = off = plain = 0.0
    runs = 60
    for _ in range(runs):
        scans, values, labels, truth = drawn(draw, 150)
        findings = summed(scans, labels, values)
        assert findings.corrected is not None
        assert findings.interval is not None
        hits += findings.interval[0] <= truth <= findings.interval[1]
        off += findings.corrected - truth
        plain += (findings.rate or 0.0) - truth
    assert hits / runs >= 0.9
    assert abs(off / runs) < 0.02
    assert abs(plain / runs) > 0.05


def test_labels_of_what_nobody_looked_at_count_for_nothing() -> None:
    findings = summed([scan("reward_hack", a=True)], {("reward_hack", "b", 0): True}, VALUES)
    assert findings.labelled == 0
    assert findings.corrected is None
