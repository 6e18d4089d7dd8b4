"""run and plan: numbers, exit codes, choices, resuming."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_the_numbers(run_small: Run) -> None:
    made = run_small("--cases")
    assert made.keys() >= {"run", "totals", "measures", "groups", "usage", "cases"}
    assert made["run"].keys() >= {"id", "name", "suite", "candidate", "status", "signature"}
    assert made["run"]["status"] == "complete"
    assert made["run"]["name"] == "small-answers"
    totals = made["totals"]
    assert totals.keys() >= {"score", "full", "rate", "interval", "cases", "attempts",
                             "unanswered", "unscored", "errors"}  # fmt: skip
    # capital 0.5, sum 1, words 0.25, silent 0.5 (its null score)
    assert (totals["score"], totals["full"], totals["rate"]) == (2.25, 4.0, 0.5625)
    assert (totals["cases"], totals["attempts"], totals["unanswered"]) == (4, 7, 1)
    assert (totals["unscored"], totals["errors"]) == (0, 0)
    assert made["measures"]["accuracy"]["value"] == 0.25
    assert made["measures"]["accuracy"].keys() == {"value", "interval", "n", "note"}
    assert made["measures"]["accuracy"]["note"] == "cases, by their value over all attempts"
    level = made["groups"]["level"]
    assert (level["easy"]["score"], level["easy"]["cases"]) == (1.75, 3)
    assert level["hard"].keys() >= {"score", "full", "rate", "spread", "cases"}
    assert made["usage"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": None}
    words = next(case for case in made["cases"] if case["id"] == "words")
    assert words["tags"] == {"topic": "words", "level": ["easy", "hard"]}
    # the empty text is an answer, and is graded; only no answer gets the null score
    assert [(a["index"], a["value"], a["status"]) for a in words["attempts"]] == [
        (0, 0.5, "scored"), (1, 0.0, "scored")]  # fmt: skip
    assert words["attempts"][0]["scores"][0].keys() >= {"criterion", "points", "out_of", "reason"}
    silent = next(case for case in made["cases"] if case["id"] == "silent")
    assert [(a["value"], a["status"]) for a in silent["attempts"]] == [(0.5, "unanswered")]


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["rate >= 0.5"], 0),
        (["rate >= 0.5", "accuracy.value < 0.5", "level.easy > 0.5"], 0),
        (["rate * 100 >= 50"], 0),
        (["rate >= 0.9"], 1),
        (["rate >= 0.5", "unanswered == 0"], 1),
        (["accuracy.low >= 0.5"], 1),
    ],
)
@pytest.mark.sampled(5)
def test_gates(run_small: Run, gates: list[str], code: int) -> None:
    made = run_small(*[part for gate in gates for part in ("--gate", gate)], code=code)
    assert made["totals"]["rate"] == 0.5625


@pytest.mark.parametrize("gate", ["rtae >= 0.5", "rate >=", "print(1)", "accuracy.lwo > 1"])
def test_a_misspelt_gate_is_wrong_input(run_small: Run, gate: str) -> None:
    made = run_small("--gate", gate, code=2)
    assert made["error"]["kind"] == "UsageError"


@pytest.mark.parametrize(
    ("options", "cases", "attempts"),
    [
        (["--limit", "2"], 2, 4),
        (["--where", "topic == 'words'"], 1, 2),
        (["--where", "level == 'easy' and id != 'sum'"], 2, 4),
        (["--where", "scorer == 'number'"], 1, 2),
        (["--select", "sum", "--select", "silent"], 2, 3),
        (["--attempts", "1"], 4, 4),
        (["--where", "level == 'easy'", "--limit", "1"], 1, 2),
    ],
)
@pytest.mark.sampled(10)
def test_choices(run_small: Run, options: list[str], cases: int, attempts: int) -> None:
    totals = run_small(*options)["totals"]
    assert (totals["cases"], totals["attempts"]) == (cases, attempts)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--where", "topc == 'words'"], "did you mean 'topic'"),
        (["--where", "topic == 'none'"], "no case"),
        (["--select", "smu"], "did you mean 'sum'"),
        (["--dialect", "nativ"], "did you mean 'native'"),
        (["--executor", "loacl"], "did you mean 'local'"),
        (["--name", "a\nb"], "control characters"),
        (["--layout", "infibenhc", "--out", "there"], "did you mean 'infibench'"),
    ],
)
def test_wrong_input(small: Any, options: list[str], word: str) -> None:
    args = ["run", "suite.yaml", "--answers", "answers.jsonl", *options]
    done = small(*args, code=2)
    assert word in done.stderr
    assert done.stdout == ""
    shown = json.loads(small(*args, "--json", code=2).stdout)
    assert word in shown["error"]["message"]


@pytest.mark.parametrize(
    "args",
    [
        ["run", "suite.yaml"],
        ["run", "suite.yaml", "--answers", "answers.jsonl", "--limit", "0"],
        ["run", "suite.yaml", "--answers", "answers.jsonl", "--layout", "infibench"],
        ["run", "suite.yaml", "--answers", "missing.jsonl"],
        ["run", "missing.yaml", "--answers", "answers.jsonl"],
        ["rnu", "suite.yaml"],
        ["report", "@last"],
    ],
)
def test_errors_go_to_standard_error(small: Any, args: list[str]) -> None:
    done = small(*args, code=2)
    assert done.stderr
    assert done.stdout == ""


def test_a_broken_suite_is_said_with_its_place(small: Any) -> None:
    small.write("broken.yaml", "cases:\n  - ask: Q\n    criteria: {matches: '('}\n    weigth: 2\n")
    done = small("run", "broken.yaml", "--answers", "answers.jsonl", code=2)
    assert "broken.yaml:4:5" in done.stderr
    assert "did you mean 'weight'" in done.stderr


@pytest.mark.slow
def test_a_rerun_grades_nothing(small: Any, run_small: Run) -> None:
    args = ["suite.yaml", "--answers", "answers.jsonl"]
    before = small.json("plan", *args)
    assert (before["cases"], before["attempts"], before["unanswered"]) == (4, 6, 1)
    assert before["scores"]["stored"] == 0
    assert not (small.folder / ".proctor").exists()
    first = run_small()
    after = small.json("plan", *args)
    assert after["scores"]["to_do"] == 0
    assert after["scores"]["stored"] == before["scores"]["total"]
    second = run_small()
    assert first["totals"] == second["totals"]
    assert first["run"]["id"] == second["run"]["id"]
    small.write("suite.yaml", (small.folder / "suite.yaml").read_text().replace("42", "43"))
    assert small.json("plan", *args)["scorers"]["number"] > 0


def test_plan_reports_problems(small: Any) -> None:
    small.write("bad.yaml", "cases:\n  - ask: Q\n    criteria: {matches: '('}\n")
    made = small.json("plan", "bad.yaml", "--answers", "answers.jsonl", code=2)
    assert "does not compile" in made["problems"][0]["message"]
    shown = small("plan", "suite.yaml", "--answers", "answers.jsonl")
    assert "to do" in shown.stdout


def test_a_failed_criterion_leaves_the_case_unscored_with_bounds(cli: Any) -> None:
    cli.write(
        "suite.yaml",
        "cases:\n"
        "  - id: half\n    ask: Q\n    criteria:\n      - contains: a\n"
        "      - keywords: [{text: a, cond: 1 / 0}]\n"
        "  - id: whole\n    ask: Q\n    criteria: a\n",
    )
    cli.answers([{"case": "half", "output": "a"}, {"case": "whole", "output": "a"}])
    made = cli.json("run", "suite.yaml", "--answers", "answers.jsonl", "--cases", code=3)
    totals = made["totals"]
    assert (totals["rate"], totals["full"], totals["unscored"]) == (1.0, 1.0, 1)
    assert totals["bounds"] == [0.75, 1.0]
    half = made["cases"][0]
    assert (half["value"], half["status"], half["low"], half["high"]) == (
        None,
        "unscored",
        0.5,
        1.0,
    )
    assert "keyword 1" in json.dumps(half["unscored_reasons"])


def test_the_layout_of_the_origin(small: Any) -> None:
    small("run", "suite.yaml", "--answers", "answers.jsonl", "--layout", "infibench", "--out", "o")
    names = {path.suffix for path in (small.folder / "o").iterdir()}
    assert names == {".yaml", ".txt"}


@pytest.mark.slow
def test_the_answers_may_be_csv_or_parquet(small: Any, run_small: Run) -> None:
    import pyarrow
    import pyarrow.parquet

    expected = run_small()["totals"]["rate"]
    rows = [json.loads(line) for line in (small.folder / "answers.jsonl").read_text().splitlines()]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), small.folder / "answers.parquet")
    made = small.json("run", "suite.yaml", "--answers", "answers.parquet")
    assert made["totals"]["rate"] == expected


def test_the_store_may_be_elsewhere(small: Any, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "kept" / "here.db")
    small("run", "suite.yaml", "--answers", "answers.jsonl", "--store", elsewhere)
    assert small.json("list", "runs", "--store", elsewhere)["runs"][0]["name"] == "small-answers"
    assert not (small.folder / ".proctor").exists()


def test_references_that_no_answer_equals_are_told(cli: Any) -> None:
    cases = "".join(f"  - {{id: c{n}, ask: Q{n}, references: Nile}}\n" for n in range(3))
    cli.write("suite.yaml", f"name: rivers\ncases:\n{cases}")
    rows = [{"case": "c0", "output": "It is the Nile."}, {"case": "c1", "output": "the nile"}]
    cli.answers([*rows, {"case": "c2", "output": "Rhine"}])
    run = ("run", "suite.yaml", "--answers", "answers.jsonl")
    printed = cli(*run).stdout
    assert "no answer to 2 of 3 cases equals one, but some contain one (c0)" in printed
    assert cli.json(*run)["references"] == {"compared": 3, "unmatched": 2, "contained": ["c0"]}
    assert cli.json(*run)["totals"]["score"] == 1.0
