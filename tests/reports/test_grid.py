"""Grids as tables, Markdown, CSV, HTML and JSON, with what strangers wrote made harmless."""

import csv
import io
from dataclasses import replace

from proctor.core.grid import GridEntry, GridRow, GridRun, PromptVerdict, RunGrid
from proctor.core.run import Totals
from proctor.reports.grid import (
    cases_table,
    csv_grid,
    grid_object,
    grid_table,
    html_grid,
    markdown_grid,
    names_of,
    verdict_lines,
)


def run(model: str, prompt: str, rate: float | None) -> GridRun:
    totals = Totals(
        score=1.0, full=2.0, rate=rate, spread=None, interval=(0.25, 0.75), cases=2, attempts=2,
        unanswered=0, unscored=0, errors=0, cases_unscored=0, bounds=None,
    )  # fmt: skip
    label = f"{model}+{prompt}" if prompt else model
    return GridRun(
        id=label, name=f"s-{label}", prompt=prompt, model=model, candidate=label, totals=totals,
        status="complete",
    )  # fmt: skip


RUNS = (run("a", "p", 0.5), run("b", "p", 1.0), run("a", "q", None))
GRID = RunGrid(runs=RUNS, best="b+p", note="b+p is better")
ROWS = [
    GridRow(
        case="one",
        question="Why | how?",
        references=("x",),
        entries=(
            GridEntry(value=1.0, full=1.0, status="scored", output="=1+1 <b>\x1b[31m"),
            GridEntry(value=None, full=1.0, status="unscored", output="y" * 100),
            None,
        ),
    )
]


def test_rates_by_prompt_and_model() -> None:
    lines = grid_table(GRID).splitlines()
    assert lines[0].split() == ["Prompt", "a", "b"]
    assert lines[2].split(maxsplit=1) == ["p", "50.0% (25.0–75.0)  100.0% (25.0–75.0) *"]
    assert lines[3].split() == ["q", "–", "–"]
    assert lines[-1] == "* b+p is better"


def test_a_run_that_was_stopped_early_is_marked() -> None:
    grid = replace(GRID, runs=(replace(RUNS[0], stopped_early=True), *RUNS[1:]))
    row = "p  50.0% (25.0–75.0) stopped early  100.0% (25.0–75.0) *"
    assert grid_table(grid).splitlines()[2].split() == row.split()
    assert "50.0% (25.0–75.0) stopped early |" in markdown_grid(grid, ROWS)
    assert [one["stopped_early"] for one in grid_object(grid)["runs"]] == [True, False, False]


def test_verdicts_on_prompts_are_in_every_form_but_csv() -> None:
    words = "Over 2 models together, prompt q is better than prompt p: <b> | x"
    verdict = PromptVerdict(first="p", second="", models=2, sentence=words, numbers={"p": 0.01})
    grid = replace(GRID, prompt_verdicts=(verdict,))
    assert grid_table(grid).splitlines()[-1] == words
    assert words.replace("<", r"\<").replace("|", r"\|") in markdown_grid(grid, ROWS)
    assert "prompt q is better than prompt p: &lt;b&gt;" in html_grid(grid, ROWS)
    (told,) = grid_object(grid)["prompt_verdicts"]
    assert told == {"first": "p", "second": None, "models": 2, "sentence": words, "p": 0.01}
    assert grid_object(GRID)["prompt_verdicts"] == []


def test_of_many_pairs_of_prompts_the_certain_ones_are_told_first() -> None:
    verdicts = [
        PromptVerdict(
            first="p",
            second=f"q{number}",
            models=2,
            sentence=f"sentence {number}",
            numbers={"verdict": "better" if number == 11 else "unclear"},
        )
        for number in range(12)
    ]
    lines = verdict_lines(verdicts)
    assert lines[:2] == ["sentence 11", "sentence 0"]
    assert (len(lines), lines[-1]) == (11, "… and 2 more pairs of prompts (--json has them all)")
    assert verdict_lines(verdicts[:10]) == [f"sentence {number}" for number in range(10)]


def test_without_prompts_there_is_one_column() -> None:
    table = grid_table(RunGrid(runs=(run("a", "", 0.5), run("b", "", 1.0)), note="open"))
    assert table.splitlines()[0].split() == ["Candidate", "Rate"]
    assert table.rstrip().endswith("open")


def test_cases_beside_outputs() -> None:
    table = cases_table(RUNS, ROWS, length=10)
    assert table.splitlines()[2].split() == [
        "one",
        "1",
        "=1+1",
        "<b>",
        "…",
        "unscored",
        "y" * 9 + "…",
        "–",
    ]
    assert "\x1b" not in table
    assert cases_table(RUNS, []) == "no case is left\n"


def test_csv_has_all_of_the_outputs() -> None:
    header, row = csv.reader(io.StringIO(csv_grid(RUNS, ROWS)))
    assert header == [
        "case",
        "question",
        "reference",
        "a+p",
        "a+p value",
        "b+p",
        "b+p value",
        "a+q",
        "a+q value",
    ]
    assert row[3].startswith("'=1+1")
    assert row[5] == "y" * 100
    assert row[7:] == ["", ""]


def test_markdown_and_html_show_what_was_written_as_text() -> None:
    text = markdown_grid(GRID, ROWS)
    assert "Why \\| how?" in text
    assert "\\<b>" in text
    page = html_grid(GRID, ROWS)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "\x1b" not in page
    assert "y" * 100 in page
    assert "<script" not in page


def test_the_object_has_everything() -> None:
    data = grid_object(GRID, ROWS)
    assert data["best"] == "b+p"
    assert [one["rate"] for one in data["runs"]] == [0.5, 1.0, None]
    assert data["cases"][0]["outputs"][1]["output"] == "y" * 100
    assert data["cases"][0]["outputs"][2] is None
    assert "cases" not in grid_object(GRID)


def test_candidates_of_one_name_are_told_apart() -> None:
    same = (run("a", "p", 0.5), run("a", "p", 0.5))
    assert names_of(same) == ["s-a+p (a+p)"] * 2
    assert names_of(RUNS) == ["a+p", "b+p", "a+q"]
