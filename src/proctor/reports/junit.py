"""A run as JUnit XML, for build servers."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree  # nosec B405  # written, never read

from proctor.contracts.report import Report, RunView
from proctor.core.attempt import TRACEBACK, Attempt
from proctor.core.case_value import ValueStatus
from proctor.core.run import AttemptResult, CaseResult
from proctor.reports.reasons import full_marks, reasons

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINES = 50


@dataclass(frozen=True)
class JunitReport(Report):
    """Report of a run as JUnit XML: a test per case, which passes with full marks."""

    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        """Return the XML, always with cases, never with breakdowns."""
        outcomes: Counter[str] = Counter()
        suite = ElementTree.Element("testsuite", name=_safe(view.run.suite))
        seconds = 0.0
        for result in view.results():
            testcase = _testcase(view.run.suite, result)
            outcomes.update(["tests", *(child.tag for child in testcase)])
            seconds += float(testcase.get("time", 0.0))
            suite.append(testcase)
        counts = {
            "tests": outcomes["tests"],
            "failures": outcomes["failure"],
            "errors": outcomes["error"],
            "skipped": outcomes["skipped"],
        }
        root = ElementTree.Element("testsuites", name=_safe(view.run.name))
        if view.run.imported:
            properties = ElementTree.Element("properties")
            ElementTree.SubElement(properties, "property", name="imported", value="yes")
            suite.insert(0, properties)
        for element in (root, suite):
            for name, count in counts.items():
                element.set(name, str(count))
            element.set("time", f"{seconds:.3f}")
        root.append(suite)
        ElementTree.indent(root)
        text = ElementTree.tostring(root, encoding="unicode")
        return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _testcase(suite: str, result: CaseResult) -> ElementTree.Element:
    seconds = sum(attempt.attempt.seconds or 0.0 for attempt in result.attempts)
    element = ElementTree.Element(
        "testcase", classname=_safe(suite), name=_safe(result.case.id), time=f"{seconds:.3f}"
    )
    status, lines = result.folded.status, reasons(result)
    if errors := [item.attempt for item in result.attempts if _failed(item)]:
        message = errors[0].error or "the candidate could not be reached"
        _outcome(element, "error", message, [line for one in errors for line in _error_lines(one)])
    elif status is ValueStatus.UNSCORED:
        _outcome(element, "skipped", "unscored", lines)
    elif not full_marks(result):
        message = f"worth {result.folded.value:g} of {result.case.full_score:g}"
        _outcome(element, "failure", message, lines)
    return element


def _failed(item: AttemptResult) -> bool:
    return item.value.status is ValueStatus.ERROR


def _error_lines(attempt: Attempt) -> list[str]:
    where = str(attempt.notes.get(TRACEBACK, "")).splitlines()
    return [attempt.error or "the candidate could not be reached", *where]


def _outcome(parent: ElementTree.Element, tag: str, message: str, lines: Sequence[str]) -> None:
    child = ElementTree.SubElement(parent, tag)
    if tag == "skipped":  # many readers show only the message of a skipped test
        message = "; ".join([message, *lines[:3]])
    child.set("message", _safe(message))
    more = [f"… and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
    child.text = _safe("\n".join([*lines[:_LINES], *more]))


def _safe(text: str) -> str:
    """Remove the characters that XML does not allow."""
    return _NOT_XML.sub("", text)
