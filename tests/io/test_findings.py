"""Problems of files: all at once, not too many alike, and every one of them counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from proctor.errors import Problem, SuiteError
from proctor.io.findings import MAX_ALIKE, MAX_SHOWN, Findings
from proctor.io.text_files import Document, Loc, Place


def problem(message: str, line: int = 1) -> Problem:
    return Problem(message=message, file="suite.yaml", line=line)


def raised(findings: Findings) -> list[Problem]:
    with pytest.raises(SuiteError) as caught:
        findings.check()
    return caught.value.problems


def test_nothing_wrong_raises_nothing() -> None:
    findings = Findings()
    findings.warn(problem("odd"))
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


def test_a_problem_that_stands_for_more_is_counted_with_them() -> None:
    findings = Findings()
    findings.add(replace(problem("same"), unlisted=4))
    assert findings.total == 5
    assert raised(findings) == [replace(problem("same"), unlisted=4)]
    findings.add(*(problem("same", line) for line in range(MAX_ALIKE)))
    findings.add(replace(problem("same"), unlisted=4))
    assert (findings.total, raised(findings)[0].unlisted) == (MAX_ALIKE + 10, 10)


def test_an_error_of_a_file_stands_at_its_place_and_is_looked_up_only_where_it_is_kept() -> None:
    looked_up = []

    class Rows(Document):
        def place(self, loc: Loc) -> Place | None:
            looked_up.append(loc)
            return super().place(loc)

    findings = Findings()
    for row in range(MAX_ALIKE + 3):
        document = Rows(path=Path("rows.jsonl"), data={}, row=row)
        findings.error_at(document, ("id",), "no id", hint="write one")
    findings.warn_at(document, (), "odd")
    first = raised(findings)[0]
    assert (first.file, first.line, first.field, first.hint) == ("rows.jsonl", 0, "id", "write one")
    assert (first.unlisted, len(looked_up)) == (3, MAX_ALIKE + 1)
    assert [(one.message, one.severity) for one in findings.warnings] == [("odd", "warning")]


def test_a_warning_that_comes_again_is_told_once_with_its_number() -> None:
    findings = Findings()
    findings.warn(problem("before"))
    for line in (2, 3, 4):
        findings.warn_once(problem("odd", line))
        findings.warn(problem("between", line))
    findings.warn_once(problem("rare", 9))
    assert [(one.message, one.line) for one in findings.warnings] == [
        ("before", 1),
        ("odd (2 more like it)", 2),
        ("between", 2),
        ("between", 3),
        ("between", 4),
        ("rare", 9),
    ]


def test_findings_of_a_part_are_included_once_with_all_that_they_count() -> None:
    part = Findings()
    part.add(*(problem("same", line) for line in range(MAX_ALIKE + 7)))
    part.add(*(problem(f"kind {number}") for number in range(MAX_SHOWN)))
    part.warn(problem("odd"))
    whole = Findings()
    whole.add(problem("first"), problem("same", 3))
    whole.include(part)
    assert whole.total == part.total + 1
    assert whole.warnings == []
    shown = raised(whole)
    assert [one.message for one in shown[:3]] == ["first", "same", "same"]
    assert (shown[1].line, shown[1].unlisted) == (3, 7)
    assert len(shown) == MAX_SHOWN + 1


def test_what_could_be_read_is_raised_with_the_problems() -> None:
    findings = Findings()
    findings.check(rest="nothing")
    findings.add(problem("one"))
    with pytest.raises(SuiteError) as caught:
        findings.check(rest="the others")
    assert caught.value.rest == "the others"
