"""``proctor check`` tells mistakes of every kind in one pass, each with its line."""

from pathlib import Path
from typing import Any

NATIVE = """\
name: broken
measures: [accuracyy]
reduce: avgg
cases:
  - id: language
    ask: q
    criteria:
      unit_tests:
        lang: pyhton
        tests: [assert f(1) == 2]
  - id: key
    ask: q
    refrence: x
  - id: scorer
    ask: q
    criteria: {exact_matchh: x}
  - id: pattern
    ask: q
    criteria: {matches: "(unclosed"}
  - id: module
    ask: q
    criteria: {python_check: {module: nowhere, func: f}}
  - id: dialogue
    ask: q
    dialogue: clarify
    criteria: {noted: {key: correct}}
  - id: keyword
    ask: q
    criteria: {keywords: {rules: [{text: "a(", regex: true}], bogus: 3}}
"""
LINES = {
    2: "there is no measure 'accuracyy'",
    3: "unknown way to fold attempts: 'avgg'",
    9: "there is no language 'pyhton' (did you mean 'python'?)",
    10: "expected a mapping",
    13: "unknown key 'refrence'",
    16: "there is no scorer 'exact_matchh'",
    19: "the regular expression '(unclosed' does not compile",
    22: "there is no module 'nowhere'",
    23: "the case has no reference, which the judge compares answers with",
    29: "the regular expression 'a(' does not compile",
}


def put(cli: Any, name: str, text: str) -> None:
    """Write a file with the folders that it lies in."""
    path: Path = cli.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_native_suite_needs_one_pass(cli: Any) -> None:
    cli.write("s.yaml", NATIVE)
    told = cli("check", "s.yaml", code=2).stderr
    for line, words in LINES.items():
        (found,) = [row for row in told.splitlines() if words in row]
        assert found.startswith(f"s.yaml:{line}:"), found
    assert "the scorer 'keywords' has no parameter 'bogus'" in told
    assert told.count("error: ") == len(LINES) + 1


def test_nothing_is_told_that_follows_from_something_else(cli: Any) -> None:
    cli.write(
        "s.yaml",
        "cases:\n  - ask: q\n    criteria: {contains: {all: 3}}\n"
        "  - ask: q\n    criteria: {keywords: [{txt: a}]}\n"
        "  - ask: q\n    criteria: {unit_tests: {lang: python, tests: [x]}}\n",
    )
    told = cli("check", "s.yaml", code=2).stderr
    assert "no text is given" not in told
    assert "nothing to look for" not in told
    assert "no tests are given" not in told


CASES = {
    "a": "unit_test:\n    lang: pyhton\n    tests: [{content: x, timetout: 3}]",
    "b": "keywrods: [x]",
    "c": 'keywords: [{content: "a(", regex: true}]\nweight: many',
    "d": "customized: {module: nowhere, func: f}\n  max_score: 3\n  min_score: 9",
    "e": 'keywords: [{content: x, cond: "foo ==="}]',
}


def test_a_suite_of_infibench_needs_one_pass(cli: Any) -> None:
    for name, grading in CASES.items():
        prompt = "prompt.txt" if name != "c" else "gone.txt"
        text = f"id: {name}\nprompt_path: {prompt}\ntype: t\nlang: python\ngrading:\n  {grading}\n"
        put(cli, f"cases/{name}.yaml", text)
    put(cli, "cases/prompt.txt", "What?\n")
    entries = "".join(f"  - cases/{name}.yaml\n" for name in [*CASES, "missing"])
    cli.write("suite.yaml", f"attempt_reduce_mode: best\nbogus: 1\ncases:\n{entries}")
    told = cli("check", "suite.yaml", code=2).stderr
    expected = {
        "suite.yaml:1:": "unknown attempt_reduce_mode 'best'",
        "suite.yaml:2:": "unknown key 'bogus'",
        "a.yaml:7:": "there is no language 'pyhton'",
        "a.yaml:8:": "unknown key 'timetout'",
        "b.yaml:6:": "unknown key 'keywrods'",
        "c.yaml:2:": "there is no file 'gone.txt'",
        "c.yaml:6:": "the regular expression 'a(' does not compile",
        "c.yaml:7:": "unknown key 'weight'",
        "d.yaml:6:": "there is no module 'nowhere'",
        "d.yaml:8:": "min_score (9) is greater than max_score (3)",
        "e.yaml:6:": "the condition 'foo ===' is not a Python expression",
        "suite.yaml:9:": "there is no case file 'cases/missing.yaml'",
    }
    for place, words in expected.items():
        (found,) = [row for row in told.splitlines() if words in row]
        assert place in found, found
    assert told.count("error: ") == len(expected)
    assert "nothing is graded" not in told


def test_an_evaluation_of_askbench_needs_one_pass(cli: Any) -> None:
    """Keys, numbers, addresses, tasks and rows, in one go."""
    cli.write(
        "base.ini",
        "[model]\napi_url = nowhere\n[tasks]\nenabled = math500, medqa, gpqaa\n"
        "[path]\ndata_dir = data\n[generateconfig]\ntemperature = hot\n",
    )
    put(cli, "data/math500/test.jsonl", '{"ori_question": "q"}\n')
    put(cli, "data/medqa/test.jsonl", "{oops\n")
    told = cli("check", "base.ini", code=2).stderr
    for words in (
        "base.ini:2:1: error: this is no address of a server",
        "base.ini:4:1: error: there is no task 'gpqaa'",
        "base.ini:8:1: error: expected a number for 'temperature'",
        "math500/test.jsonl:1:1: error: the row has no 'expected_answer'",
        "medqa/test.jsonl:1:2: error: not valid JSON",
    ):
        assert words in told, words


def test_a_file_that_is_no_yaml_hides_no_other(cli: Any) -> None:
    cli.write("suite.yaml", "cases:\n  - one.yaml\n  - two.yaml\n  - three.yaml\n")
    cli.write("one.yaml", "cases: [\n")
    cli.write("two.yaml", "cases:\n  - ask: q\n    refrence: x\n")
    done = cli("check", "suite.yaml", code=2)
    assert "two.yaml:3:5: error: unknown key 'refrence'" in done.stderr
    assert "there is no file 'three.yaml'" in done.stderr
    assert str(Path("one.yaml")) in done.stderr
