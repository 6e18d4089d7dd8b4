"""Suites as tests: what passes, how a failure reads, gates, --lf, workers, JUnit."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from proctor.pytest_plugin import suite_items, suite_runs

FAILED = {"quiz.suite.yaml::c2": "FAILED"}
PASSED = {f"quiz.suite.yaml::c{n}": "PASSED" for n in (0, 1, 3)}


def test_a_case_is_a_test_and_a_failure_says_why(quiz: Any) -> None:
    printed = quiz("--proctor-gate", "rate >= 0.5", code=1)
    assert "1 failed, 4 passed" in printed
    shown = printed.partition("_ case c2 _")[2].partition("= proctor =")[0]
    assert "c2: worth 0 of 1\n  number 0 of 1: " in shown
    assert "asked:\n  2 + 2\nanswered:\n  5\n" in shown
    assert "Traceback" not in printed
    assert re.search(r"quiz\.suite\.yaml: 75\.0% \([\d.]+–[\d.]+%\), 4 cases, run quiz-", printed)


@pytest.mark.slow
def test_last_failed_runs_the_failed_cases_alone_and_gates_are_skipped(quiz: Any) -> None:
    gate = ("--proctor-gate", "rate >= 0.5")
    assert quiz.outcomes(*gate, code=1) == {
        **PASSED,
        **FAILED,
        "quiz.suite.yaml::gate: rate >= 0.5": "PASSED",
    }
    assert quiz.outcomes(*gate, "--lf", code=1) == FAILED
    answers = (quiz.folder / "quiz.answers.jsonl").read_text(encoding="utf-8")
    quiz.write("quiz.answers.jsonl", answers.replace('"5"', '"4"'))
    assert quiz.outcomes(*gate, "--lf") == {"quiz.suite.yaml::c2": "PASSED"}
    chosen = quiz.outcomes(*gate, "-k", "c1 or gate")
    assert chosen["quiz.suite.yaml::gate: rate >= 0.5"] == "SKIPPED"
    assert chosen["quiz.suite.yaml::c1"] == "PASSED"


@pytest.mark.slow
def test_workers_share_one_run(quiz: Any) -> None:
    quiz.write("agent.py", AGENT)
    agent = ("--proctor-agent", "exec:python3 agent.py")
    assert quiz.outcomes("-n", "4", *agent, "--junitxml", "j.xml", code=1) == {**PASSED, **FAILED}
    # Each case was asked once, by whichever worker came first.
    assert sorted((quiz.folder / "asked.txt").read_text().split()) == ["0", "1", "2", "3"]
    root = ElementTree.parse(quiz.folder / "j.xml").getroot()
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    (failure,) = root.iter("failure")
    assert "worth 0 of 1" in (failure.get("message") or "")
    properties = {one.get("value") for one in root.iter("property")}
    assert len(properties) == 1


AGENT = """\
import json, os, sys
number = int(json.load(sys.stdin)["message"].split()[0])
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "asked.txt"), "a") as file:
    file.write(f"{number}\\n")
print(2 * number + (number == 2))
"""


@pytest.mark.slow
def test_attempts_and_a_lower_bar_make_a_wavering_case_pass(quiz: Any) -> None:
    rows = [
        f'{{"case": "c{n}", "output": "{2 * n + (n == 2 and k == 0)}"}}\n'
        for n in range(4)
        for k in range(3)
    ]
    quiz.write("quiz.answers.jsonl", "".join(rows))
    assert quiz.outcomes("--proctor-attempts", "3", code=1) == {**PASSED, **FAILED}
    lower = quiz.outcomes("--proctor-attempts", "3", "--proctor-min", "0.6")
    assert set(lower.values()) == {"PASSED"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "args", "code", "said"),
    [
        ("cases: [{id: a, ask: x, criteria: {nubmer: 1}}]", (), 2, "did you mean 'number'"),
        ("cases: [{id: a, ask: x, criteria: x}]", (), 0, "no candidate: name one"),
        ("cases: [{id: a, ask: x, criteria: x}]", ("--proctor-answers", "absent.jsonl"), 1, "absent.jsonl"),
        ("cases: [{id: a, ask: x, criteria: x}]", ("--proctor-args=--model a:b --model c:d",), 2, "name one model"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_said(
    session: Any, suite: str, args: tuple[str, ...], code: int, said: str
) -> None:
    session.write("a.suite.yaml", f"{suite}\n")
    assert said in session("-rs", *args, code=code)


@pytest.mark.slow
def test_a_hostile_answer_cannot_steer_the_terminal(session: Any) -> None:
    session.write("a.suite.yaml", "cases: [{id: a, ask: x, criteria: y}]\n")
    session.write(
        "a.answers.jsonl", '{"case": "a", "output": "\\u001b[2J\\u001b]0;owned\\u0007"}\n'
    )
    assert "\x1b" not in session("--color=no", code=1)


@pytest.mark.slow
def test_without_suites_nothing_of_the_engine_is_loaded(session: Any) -> None:
    session.write(
        "test_plain.py",
        "import sys\n\ndef test_it():\n"
        "    loaded = {name for name in sys.modules if name.startswith('proctor.')}\n"
        "    assert not any(name.startswith(('proctor.engine', 'proctor.store', 'proctor.cli')) for name in loaded)\n"
        "    assert 'sqlalchemy' not in sys.modules and 'pydantic' not in sys.modules\n",
    )
    assert "1 passed" in session()


def test_a_written_outcome_is_read_back() -> None:
    import json
    from dataclasses import asdict

    case = suite_runs.CaseOutcome(
        status="unscored", value=None, full=1.0, why=["no judge"], question="q", answered="a"
    )
    whole = suite_runs.SuiteOutcome(summary="s", cases={"a": case}, gates={"g": (True, "g")})
    assert suite_runs.SuiteOutcome.read(json.dumps(asdict(whole))) == whole
    assert issubclass(suite_items.CaseTest, suite_items.SuiteTest)
