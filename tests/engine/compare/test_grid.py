"""Runs side by side: the best one where that is certain, and the cases of all."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.report import RunView
from proctor.engine.compare.grid import case_rows, run_grid
from proctor.engine.run.evaluate import evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.store.store import Store

CASES = 30


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(str(tmp_path / "proctor.db")) as opened:
        yield opened


def view(folder: Path, store: Store, name: str, right: int, cases: int = CASES) -> RunView:
    suite = folder / "s.jsonl"
    suite.write_text(
        "".join(f'{{"id": "c{n}", "ask": "{n}?", "reference": "yes"}}\n' for n in range(cases))
    )
    answers = folder / f"{name}.jsonl"
    said = ["yes" if n < right else "no" for n in range(cases)]
    answers.write_text(
        "".join(f'{{"case": "c{n}", "output": "{text}"}}\n' for n, text in enumerate(said))
    )
    settings = RunSettings(suite=SuiteSettings(path=suite), answers=answers)
    return asyncio.run(evaluate(settings, store)).view


def test_the_best_is_marked_where_the_comparison_supports_it(tmp_path: Path, store: Store) -> None:
    good, poor = view(tmp_path, store, "good", 28), view(tmp_path, store, "poor", 5)
    for order in ([good, poor], [poor, good]):
        grid = run_grid(store, order)
        assert grid.best == good.run.id
        assert grid.note.startswith("good is better than every other one")
    near = view(tmp_path, store, "near", 27)
    assert run_grid(store, [good, poor, near]).best == ""
    assert "no candidate is surely better" in run_grid(store, [good, near]).note
    assert run_grid(store, [good]).note == ""


def test_a_run_that_is_there_twice_does_not_stop_a_grid(tmp_path: Path, store: Store) -> None:
    good, poor = view(tmp_path, store, "good", 28), view(tmp_path, store, "poor", 5)
    grid = run_grid(store, [good, poor, good, poor])
    assert (len(grid.runs), grid.prompt_verdicts) == (4, ())
    assert run_grid(store, [good, poor], best=False).note == ""


def test_calls_of_tools_are_shown_in_place_of_words(tmp_path: Path, store: Store) -> None:
    suite, answers = tmp_path / "suite.yaml", tmp_path / "answers.jsonl"
    suite.write_text("tools: [look]\ncases: [{id: a, ask: b, criteria: {tool_calls: [look]}}]\n")
    call = '{"case": "a", "tool_calls": [{"name": "look", "arguments": {"x": 1}}]}\n'
    answers.write_text(call)
    settings = RunSettings(suite=SuiteSettings(path=suite), answers=answers)
    (row,) = case_rows([asyncio.run(evaluate(settings, store)).view])
    (entry,) = row.entries
    assert entry is not None
    assert entry.output == '[calls look({"x": 1})]'


def test_runs_of_other_cases_are_not_compared(tmp_path: Path, store: Store) -> None:
    many, few = view(tmp_path, store, "many", 20), view(tmp_path, store, "few", 2, cases=3)
    rows = list(case_rows([few, many]))
    assert len(rows) == CASES
    assert [entry is not None for entry in rows[0].entries] == [True, True]
    assert [entry is not None for entry in rows[-1].entries] == [False, True]
    assert [row.case for row in case_rows([few, many], only=["c2"])] == ["c2"]
    assert rows[0].entries[0] is not None
    assert rows[0].entries[0].output == "yes"
