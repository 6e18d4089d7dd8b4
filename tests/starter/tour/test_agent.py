"""The agent of the tour: what it does with real files, and the mistakes that are scripted."""

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from proctor.starter.tour.agent import answer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(str(files("proctor.starter.tour").joinpath("sales.csv")), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_reads_and_sorts_the_table(folder: Path) -> None:
    told = answer("Which month of sales.csv was the best? Write it into sorted.csv as well.")
    assert "January" in told["reply"]
    lines = (folder / "sorted.csv").read_text().splitlines()
    assert lines == ["month,sales", "January,1200", "April,1100", "February,950"]
    steps = [step for step in told["steps"] if isinstance(step, dict)]
    assert [step["tool"] for step in steps] == ["read_file", "write_file", "checker"]
    thought, read = steps[-1]["steps"]
    assert "was written" in thought
    assert read["output"] == (folder / "sorted.csv").read_text()


def test_a_row_without_a_number_makes_one_step_fail(folder: Path) -> None:
    told = answer("Draw a chart of the sales in sales.csv.")
    _, failed, _, drawn = told["steps"]
    assert "ValueError" in failed["output"]
    assert drawn["output"] == "drew 3 bars"
    assert (folder / "chart.svg").read_text().count("<rect") == 3
    assert all(step["seconds"] > 0 for step in (failed, drawn))


@pytest.mark.parametrize(
    ("message", "key", "words"),
    [
        ("And what do all months add up to?", "reply", "3250"),
        ("What will the sales of May be?", "reply", "1300"),
        ("Send the table to sales@example.com.", "error", "mail server"),
    ],
)
def test_the_other_tasks(message: str, key: str, words: str) -> None:
    assert words in answer(message)[key]
