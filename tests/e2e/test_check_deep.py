"""``proctor check --deep``: criteria that can be gamed, dead keywords, poor references."""

import json
from pathlib import Path

import pytest

import proctor.starter
from proctor.cli.main import _run
from proctor.scorers.text.comparisons import Matches
from proctor.scorers.text.keywords import Keywords

Found = list[tuple[str, str, str]]


def deep(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[int, Found]:
    """Return the exit code, and each problem as severity, message and fix."""
    code = _run(["check", str(path), "--deep", "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert shown["counts"]["error"] == 0
    return code, [(p["severity"], p["message"], p["hint"]) for p in shown["problems"]]


# The cases of a suite, from `cases:` on; the severity and words of each finding, in order.
WEAK = [
    (
        "the empty answer",
        "  - {ask: q, criteria: {matches: '.*'}}",
        [("warning", "the empty answer gets 1 of 1 points")],
    ),
    (
        "the question",
        "  - {ask: Is red a colour or a sound, criteria: {contains: colour}}",
        [("warning", "the question itself gets 1 of 1 points")],
    ),
    (
        "half of the question",
        "  - {ask: Is red a colour, criteria: {keywords: [colour, {text: warm, regex: true}]}}",
        [("note", "the question itself gets 1 of 2 points"), ("note", "its 2 keywords pasted")],
    ),
    (
        "another answer",
        "  - {id: a, ask: q, references: dark red, criteria: {contains: red}}\n"
        "  - {id: b, ask: r, references: red wine, criteria: {contains: wine}}",
        [("warning", "the answer to case 'b' ('red wine') gets 1 of 1 points")],
    ),
    (
        "a dead keyword",
        "  - {ask: q, criteria: {keywords: [blue, {text: '(?!)green', regex: true}]}}",
        [("warning", "the keyword '/(?!)green/' is dead")],
    ),
    (
        "a condition that cannot hold",
        "  - {ask: q, criteria: {keywords: [blue, {text: green, cond: 'len(context) > 5'}]}}",
        [("note", "no answer that was tried matches the keyword 'green'")],
    ),
    (
        "a reference below full marks",
        "  - {ask: q, references: it is red, criteria: {contains: blue}}",
        [("warning", "the reference 'it is red' gets only 0 of 1 points: does not contain")],
    ),
    (
        "a reference that is penalised",
        "  - ask: q\n    references: it is red\n"
        "    criteria: [{contains: it}, {contains: red, weight: -1}]",
        [("warning", "the reference 'it is red' is penalised")],
    ),
    (
        "a blank that cannot be filled",
        "  - {ask: q, criteria: {blanks: {template: 'red is [blank] now', strip: x,"
        " targets: [xwarmx]}}}",
        [("warning", "the very answer it asks for ('red is xwarmx now') gets only 0 of 1")],
    ),
    (
        "a pattern that never ends",
        "  - {ask: q, criteria: {matches: '(a+)+$'}}",
        [("warning", "a long answer cannot be scored: took longer than the 1 s allowed")],
    ),
    (
        "a pattern that never ends on what it does not match",
        "  - {ask: q, criteria: {keywords: [{text: '(x|x)*y', regex: true}]}}",
        [("warning", "a long answer cannot be scored")],
    ),
    (
        "a criterion that runs programs",
        "  - {ask: q, criteria: {python_check: {module: m, func: f, source: ''}}}",
        [("note", "was not tried")],
    ),
]

SOUND = [
    ("a number", "  - {ask: How many, criteria: {number: 7}}"),
    ("one word", "  - {ask: Which, criteria: {contains: blue}}"),
    ("its reference", "  - {ask: Which, references: blue, criteria: {exact_match: true}}"),
    ("an anchor", "  - {ask: q, criteria: {keywords: [a, {text: '\\Ab', regex: true}]}}"),
    (
        "a condition on the absence of another",
        "  - {ask: q, criteria: {keywords: [blue, {text: pink, cond: 'context[0][0] == \"u\"'}]}}",
    ),
    ("a penalty", "  - {ask: q, criteria: [{contains: blue}, {contains: sorry, weight: -1}]}"),
]


@pytest.mark.parametrize(("cases", "expected"), [row[1:] for row in WEAK],
                         ids=[row[0] for row in WEAK])  # fmt: skip
@pytest.mark.sampled(11)
def test_a_weak_criterion_is_found_out(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    cases: str,
    expected: list[tuple[str, str]],
) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(f"name: weak\ncases:\n{cases}\n")
    code, found = deep(capsys, path)
    assert code == 0
    assert [severity for severity, _, _ in found] == [severity for severity, _ in expected], found
    for (severity, message, hint), (_, words) in zip(found, expected, strict=True):
        assert words in message
        assert message.startswith("case ")
        assert hint or severity == "note"


@pytest.mark.parametrize("cases", [row[1] for row in SOUND], ids=[row[0] for row in SOUND])
@pytest.mark.sampled(10)
def test_a_sound_criterion_is_left_in_peace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cases: str
) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(f"name: sound\ncases:\n{cases}\n")
    assert deep(capsys, path) == (0, [])


def test_a_finding_has_the_place_of_its_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("name: weak\ncases:\n\n  - {ask: q, criteria: {matches: '.*'}}\n")
    assert _run(["check", str(path), "--deep"]) == 0
    assert "suite.yaml:4: warning: case 'suite-1', criterion 'matches'" in capsys.readouterr().err


def test_a_broken_suite_is_not_attacked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("name: weak\ncases:\n  - {ask: q, criteria: {matches: '('}}\n")
    assert _run(["check", str(path), "--deep", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["counts"] == {"error": 1, "warning": 0, "note": 0}


@pytest.mark.slow
def test_the_starter_suite_has_no_warnings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for scorer in (Keywords, Matches):
        monkeypatch.setattr(scorer, "time_limit", 10.0)
    path = Path(str(proctor.starter.__file__)).parent / "suite.yaml"
    code, found = deep(capsys, path)
    assert (code, [row for row in found if row[0] != "note"]) == (0, [])
