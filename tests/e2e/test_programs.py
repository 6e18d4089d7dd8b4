"""Programs through the command line: good and bad ones in one run."""

from typing import Any

import pytest

pytestmark = pytest.mark.sandbox

SUITE = """\
cases:
  - {id: good, ask: Double it., criteria: {unit_tests: {tests: [{content: assert f(2) == 4}]}}}
  - {id: wrong, ask: Double it., criteria: {unit_tests: {tests: [{content: assert f(2) == 4}]}}}
  - id: endless
    ask: Double it.
    criteria: {unit_tests: {tests: [{content: f(2), timeout: 0.5}]}}
  - {id: loud, ask: Double it., criteria: {unit_tests: {tests: [{content: f(2)}]}}}
  - {id: missing, ask: Double it., criteria: {unit_tests: {lang: dart, tests: [{content: ""}]}}}
"""
PROGRAMS = {
    "good": "def f(x):\n    return 2 * x",
    "wrong": "def f(x):\n    return x",
    "endless": "def f(x):\n    while True: pass",
    "loud": "def f(x):\n    while True: print('x' * 1000)",
    "missing": "int f(int x) => 2 * x;",
}


@pytest.fixture
def programs(cli: Any) -> Any:
    cli.write("suite.yaml", SUITE)
    rows = [{"case": name, "output": f"```\n{text}\n```"} for name, text in PROGRAMS.items()]
    cli.answers(rows)
    return cli


@pytest.mark.slow
def test_bad_programs_do_not_keep_good_ones_from_being_graded(programs: Any) -> None:
    planned = programs.json("plan", "suite.yaml", "--answers", "answers.jsonl")
    assert ["dart" in warning["message"] for warning in planned["warnings"]] == [True]
    made = programs.json("run", "suite.yaml", "--answers", "answers.jsonl", "--cases", code=3)
    cases = {case["id"]: case for case in made["cases"]}
    assert {name: case["value"] for name, case in cases.items()} == {
        "good": 1.0, "wrong": 0.0, "endless": 0.0, "loud": 0.0, "missing": None,
    }  # fmt: skip
    (endless,) = cases["endless"]["attempts"][0]["scores"]
    (loud,) = cases["loud"]["attempts"][0]["scores"]
    (missing,) = cases["missing"]["attempts"][0]["scores"]
    assert endless["detail"]["tests"][0]["stopped"] == "time"
    assert loud["detail"]["tests"][0]["stopped"] == "output"
    assert "dart is not installed" in missing["reason"]
    assert made["totals"]["cases_unscored"] == 1
    assert made["totals"]["bounds"] == [pytest.approx(0.2), pytest.approx(0.4)]


@pytest.mark.slow
def test_what_was_run_is_shown(programs: Any) -> None:
    programs("run", "suite.yaml", "--answers", "answers.jsonl", "--select", "wrong")
    shown = programs("show", "@last", "wrong", "--full").stdout
    assert "✗ test 1" in shown
    assert "AssertionError" in shown
    assert "def f(x):" in shown
    assert "assert f(2) == 4" in shown


@pytest.mark.slow
def test_the_same_program_is_not_run_again(programs: Any) -> None:
    same = f"Here it is:\n```\n{PROGRAMS['good']}\n```\nDone."
    programs.answers([{"case": "good", "output": same}], "others.jsonl")
    chosen = ("--select", "good", "--cases")
    first = programs.json("run", "suite.yaml", "--answers", "answers.jsonl", *chosen)
    again = programs.json("run", "suite.yaml", "--answers", "others.jsonl", *chosen)
    seconds = [
        made["cases"][0]["attempts"][0]["scores"][0]["detail"]["tests"][0]["seconds"]
        for made in (first, again)
    ]
    assert seconds[0] == seconds[1]


def test_without_a_boundary_that_is_said(programs: Any) -> None:
    options = ("suite.yaml", "--answers", "answers.jsonl", "--select", "good")
    done = programs("run", *options, "--sandbox", "process")
    assert "no boundary" in done.stderr
    assert "no boundary" not in programs("run", *options).stderr
