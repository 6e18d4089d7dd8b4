"""The JUnit report, read back as XML."""

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from proctor.core.score import Score
from proctor.core.suite import Criterion, Spec
from proctor.registry import build
from proctor.reports.junit import junit_xml


def rendered(view: Any) -> ElementTree.Element:
    """Render and parse."""
    text = build("report", Spec(name="junit")).render(view)
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<testsuites')
    return ElementTree.fromstring(text.encode())


def test_counts(make_view: Any) -> None:
    root = rendered(make_view())
    suite = root[0]
    for element in (root, suite):
        found = {name: element.get(name) for name in ("tests", "failures", "errors", "skipped")}
        assert found == {"tests": "5", "failures": "3", "errors": "1", "skipped": "1"}
        assert element.get("time") == "1.500"
    assert (root.get("name"), suite.get("name")) == ("first", "suite_x")
    assert {case.get("classname") for case in suite} == {"suite_x"}


@pytest.mark.parametrize(
    ("case_id", "tag", "message", "text"),
    [
        ("0-0-2", "failure", "worth 0.75 of 1", "keywords 1 of 2: 1 of 2 keywords"),
        ("0-0-10", "failure", "worth 0.5 of 1", "blank_filling 0 of 2"),
        ("0-0-3", "failure", "worth 0 of 1", "no answer"),
        ("0-0-4", "skipped", "unscored; unit_test: no sandbox", "unit_test: no sandbox"),
        ("0-0-5", "error", "connection refused", "connection refused\nconnection refused"),
    ],
)
def test_outcomes(make_view: Any, case_id: str, tag: str, message: str, text: str) -> None:
    cases = {case.get("name"): case for case in rendered(make_view())[0]}
    (found,) = cases[case_id]
    assert (found.tag, found.get("message"), found.text) == (tag, message, text)


@pytest.mark.parametrize(("points", "passed"), [(1.0, True), (1 - 1e-12, True), (0.999, False)])
def test_full_marks_pass(make_view: Any, make_case: Any, points: float, passed: bool) -> None:
    score = {"contains": Score(points=points, out_of=1.0)}
    case = rendered(make_view([make_case("a", ["contains"], [score])]))[0][0]
    assert (len(case) == 0) is passed


def test_only_the_attempt_that_counts_explains_the_loss(make_view: Any, make_case: Any) -> None:
    attempts = [
        {"contains": Score(points=points, out_of=1.0, reason=reason)}
        for points, reason in ((0.0, "bad"), (0.5, "better"), (0.25, "worse"))
    ]
    result = make_case("a", ["contains"], attempts, "max")
    assert rendered(make_view([result]))[0][0][0].text == "contains 0.5 of 1: better"


def test_a_penalty_is_named(make_view: Any, make_case: Any) -> None:
    criteria = (
        Criterion(id="good", scorer=Spec(name="contains")),
        Criterion(id="rude", scorer=Spec(name="contains"), weight=-0.5),
    )
    scores = {"good": Score(points=1.0, out_of=1.0), "rude": Score(points=1.0, out_of=1.0)}
    result = make_case("a", [], [scores], criteria=criteria)
    failure = rendered(make_view([result]))[0][0][0]
    assert (failure.get("message"), failure.text) == ("worth 0.5 of 1", "rude took off 0.5")


def test_a_case_in_which_nothing_gives_points(make_view: Any, make_case: Any) -> None:
    shown = {"contains": Score(points=3.0, out_of=None)}
    case = rendered(make_view([make_case("a", ["contains"], [shown])]))[0][0]
    assert (case[0].tag, case[0].text) == ("skipped", "no criterion gives points")


def test_a_case_that_is_only_shown(make_view: Any, make_case: Any) -> None:
    criteria = (Criterion(id="easy", scorer=Spec(name="readability"), weight=0),)
    scores = {"easy": Score(points=71.0, reason="fairly easy")}
    case = rendered(make_view([make_case("a", [], [scores], criteria=criteria)]))[0][0]
    assert (case[0].tag, case[0].get("message")) == ("skipped", "nothing in the case counts")


def test_characters_that_xml_cannot_hold(make_view: Any, make_case: Any) -> None:
    broken = Score.failed('<b> & "q" \x00\x1b\ud800\ufffe end')
    result = make_case("a\x07<b>&中", ["contains"], [{"contains": broken}])
    view = make_view([result])
    case = rendered(replace(view, run=replace(view.run, suite="s\x00", name="\x1bn")))[0][0]
    assert (case.get("classname"), case.get("name")) == ("s", "a<b>&中")
    assert case[0].text == 'contains: <b> & "q"  end'


def test_very_many_reasons_are_counted(make_view: Any, make_case: Any) -> None:
    attempts = [
        {"contains": Score(points=0.0, out_of=1.0, reason=f"r{number}")} for number in range(60)
    ]
    case = rendered(make_view([make_case("a", ["contains"], attempts)]))[0][0]
    lines = (case[0].text or "").splitlines()
    assert (len(lines), lines[-1]) == (51, "… and 10 more")


def test_several_runs_and_their_gates(make_view: Any) -> None:
    view = make_view()
    other = replace(view, run=replace(view.run, name="second"))
    held = {"gate": "rate >= 0.1", "held": True, "note": "", "luck": None}
    missed = {"gate": "rate >= 0.9", "held": False, "note": "not even at the best", "luck": None}
    root = ElementTree.fromstring(junit_xml([view, other], [[], [held, missed]]).encode())
    assert root.get("name") == "proctor"
    assert [suite.get("name") for suite in root] == ["first", "second", "second: gates"]
    assert (root.get("tests"), root.get("failures")) == ("12", "7")
    assert [len(case) for case in root[2]] == [0, 1]
    assert root[2][1][0].text == "not even at the best"
