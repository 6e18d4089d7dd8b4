"""A run as JUnit XML, for build servers."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree  # nosec B405  # written, never read

from proctor.contracts.report import Report, RunView
from proctor.core.attempt import TRACEBACK, Attempt
from proctor.core.case_value import ValueStatus
from proctor.core.cause import Cause, cause_of
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Json
from proctor.reports.reasons import cause_of_case, full_marks, reasons

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINES = 50


@dataclass(frozen=True)
class JunitReport(Report):
    """Report of a run as JUnit XML: a test per case, which passes with full marks."""

    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        """Return the XML, always with cases, never with breakdowns."""
        return junit_xml([view])


def junit_xml(views: Sequence[RunView], gates: Sequence[Sequence[Mapping[str, Json]]] = ()) -> str:
    """Return runs as one file of JUnit XML: a suite of tests per run, and one of its gates.

    A single run is named by its suite, several by their own names, since they may share one.
    """
    root = ElementTree.Element("testsuites")
    totals: Counter[str] = Counter()
    seconds = 0.0
    for number, view in enumerate(views):
        name = view.run.suite if len(views) == 1 else view.run.name
        element, outcomes, taken = _testsuite(view, name)
        root.append(element)
        totals += outcomes
        seconds += taken
        if gates and gates[number]:
            element, outcomes = _gates(f"{name}: gates", gates[number])
            root.append(element)
            totals += outcomes
    root.set("name", _safe(views[0].run.name if len(views) == 1 else "proctor"))
    _count(root, totals, seconds)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _testsuite(view: RunView, name: str) -> tuple[ElementTree.Element, Counter[str], float]:
    outcomes: Counter[str] = Counter()
    suite = ElementTree.Element("testsuite", name=_safe(name))
    seconds = 0.0
    for result in view.results():
        testcase = _testcase(name, result)
        outcomes.update(["tests", *(child.tag for child in testcase)])
        seconds += float(testcase.get("time", 0.0))
        suite.append(testcase)
    if view.run.imported:
        properties = ElementTree.Element("properties")
        ElementTree.SubElement(properties, "property", name="imported", value="yes")
        suite.insert(0, properties)
    _count(suite, outcomes, seconds)
    return suite, outcomes, seconds


def _gates(
    name: str, rows: Sequence[Mapping[str, Json]]
) -> tuple[ElementTree.Element, Counter[str]]:
    """Return the gates of a run as tests, which pass where they held."""
    outcomes: Counter[str] = Counter()
    suite = ElementTree.Element("testsuite", name=_safe(name))
    for row in rows:
        gate = str(row["gate"])
        testcase = ElementTree.SubElement(
            suite, "testcase", classname=_safe(name), name=_safe(gate), time="0.000"
        )
        if not row["held"]:
            _outcome(testcase, "failure", "the gate was missed", [str(row["note"])])
        outcomes.update(["tests", *(child.tag for child in testcase)])
    _count(suite, outcomes, 0.0)
    return suite, outcomes


def _count(element: ElementTree.Element, outcomes: Counter[str], seconds: float) -> None:
    for name, tag in (
        *(("tests", "tests"), ("failures", "failure")),
        *(("errors", "error"), ("skipped", "skipped")),
    ):
        element.set(name, str(outcomes[tag]))
    element.set("time", f"{seconds:.3f}")


def _testcase(suite: str, result: CaseResult) -> ElementTree.Element:
    seconds = sum(attempt.attempt.seconds or 0.0 for attempt in result.attempts)
    element = ElementTree.Element(
        "testcase", classname=_safe(suite), name=_safe(result.case.id), time=f"{seconds:.3f}"
    )
    status, lines = result.folded.status, reasons(result)
    if errors := [item.attempt for item in result.attempts if _failed(item)]:
        message = errors[0].error or "the candidate could not be reached"
        lines = [line for one in errors for line in _error_lines(one)]
        _outcome(element, "error", message, lines, cause_of(errors[0]))
    elif status is ValueStatus.UNSCORED:
        _outcome(element, "skipped", "unscored", lines, cause_of_case(result))
    elif status is ValueStatus.SHOWN:
        _outcome(element, "skipped", "nothing in the case counts", lines)
    elif not full_marks(result):
        message = f"worth {result.folded.value:g} of {result.case.full_score:g}"
        _outcome(element, "failure", message, lines)
    return element


def _failed(item: AttemptResult) -> bool:
    return item.value.status is ValueStatus.ERROR


def _error_lines(attempt: Attempt) -> list[str]:
    where = str(attempt.notes.get(TRACEBACK, "")).splitlines()
    return [attempt.error or "the candidate could not be reached", *where]


def _outcome(
    parent: ElementTree.Element,
    tag: str,
    message: str,
    lines: Sequence[str],
    cause: Cause | None = None,
) -> None:
    child = ElementTree.SubElement(parent, tag)
    if cause is not None:
        child.set("type", cause.value)
    if tag == "skipped":  # many readers show only the message of a skipped test
        message = "; ".join([message, *lines[:3]])
    child.set("message", _safe(message))
    more = [f"… and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
    child.text = _safe("\n".join([*lines[:_LINES], *more]))


def _safe(text: str) -> str:
    """Remove the characters that XML does not allow."""
    return _NOT_XML.sub("", text)
