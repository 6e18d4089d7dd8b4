"""Problems of files: all at once, not too many alike, and every one of them counted."""

import pytest

from proctor.errors import Problem, SuiteError
from proctor.io.findings import MAX_ALIKE, MAX_SHOWN, Findings


def problem(message: str, line: int = 1) -> Problem:
    return Problem(message=message, file="suite.yaml", line=line)


def raised(findings: Findings) -> list[Problem]:
    with pytest.raises(SuiteError) as caught:
        findings.check()
    return caught.value.problems


def test_nothing_wrong_raises_nothing() -> None:
    findings = Findings()
    findings.warnings.append(problem("odd"))
    findings.check()
    assert findings.total == 0


def test_all_problems_are_raised_in_their_order() -> None:
    findings = Findings()
    findings.add(problem("one"), problem("two", 2))
    findings.add(problem("one", 3))
    assert [(one.message, one.line) for one in raised(findings)] == [
        ("one", 1),
        ("two", 2),
        ("one", 3),
    ]


def test_too_many_alike_are_counted_with_the_first_of_them() -> None:
    findings = Findings()
    findings.add(*(problem("same", line) for line in range(MAX_ALIKE + 7)), problem("other"))
    shown = raised(findings)
    assert (len(shown), shown[0].unlisted, shown[1].unlisted) == (MAX_ALIKE + 1, 7, 0)
    assert shown[-1].message == "other"
    assert findings.total == MAX_ALIKE + 8
    assert findings.counts_only("same")
    assert not findings.counts_only("other")
    assert raised(findings) == shown


def test_too_many_of_all_kinds_are_counted_at_the_end() -> None:
    findings = Findings()
    findings.add(*(problem(f"kind {number}") for number in range(MAX_SHOWN + 1200)))
    assert findings.full
    findings.count("kind 0")
    shown = raised(findings)
    assert len(shown) == MAX_SHOWN + 1
    assert shown[-1].message == "… and 1,200 more problems"
    assert shown[-1].file == "suite.yaml"
    assert shown[0].unlisted == 1
    assert findings.total == MAX_SHOWN + 1201
