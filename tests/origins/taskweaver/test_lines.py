"""Results for old scripts: turns in lines, and one CSV file in which other cases stay."""

from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt
from proctor.core.run import CaseResult, Run, Summary, Totals
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.errors import UsageError
from proctor.origins.taskweaver.lines import lines, rows_in, write_rows

SUITE = Suite(name="s", cases=())
TOTALS = Totals(
    score=1.0, full=2.0, rate=0.5, spread=0.0, interval=None, cases=1, attempts=1,
    unanswered=0, unscored=0, errors=0, cases_unscored=0, bounds=None,
)  # fmt: skip


def result(name: str, *points: float, turn: int | None = 0, **notes: Any) -> CaseResult:
    criteria = tuple(
        Criterion(id=f"p{n}", scorer=Spec(name="x", params={"statement": f"point\n{n}"}), turn=turn)
        for n in range(len(points))
    )
    case = Case(id=name, messages=(Message(role="user", content="q"),), criteria=criteria)
    attempt = Attempt(case_id=name, messages=(Message(role="assistant", content="a"),), notes=notes)
    scores = {f"p{n}": Score(points=got, out_of=1.0, reason="so") for n, got in enumerate(points)}
    return case_result(fold_of(SUITE), case, [(attempt, scores)])


def view(*results: CaseResult) -> RunView:
    run = Run(id="i", name="mine", suite="s", suite_key="k", candidate=Spec(name="m"))
    summary = Summary(totals=TOTALS)
    return RunView(run=run, summary=summary, suite=SUITE, results=lambda: iter(results))


def test_every_turn_is_told_with_its_points_and_why() -> None:
    told = list(lines(view(result("case.yaml", 1.0, 0.0, ended="below"))))
    assert told == [
        "case.yaml",
        "  round 0: score 1, normalized 0.5000",
        "    hit      point 0 (weight 1): so",
        "    miss     point 1 (weight 1): so",
        "  ended: below",
        "1 cases, rate 0.5000, 0 unscored, 0 errors; `proctor show mine CASE` shows what was said",
    ]


def test_a_case_that_is_scored_whole_has_one_line() -> None:
    told = list(lines(view(result("case.yaml", 1.0, turn=None))))
    assert told[1] == "  score 1 of 1, normalized 1.0000"


def test_rows_of_other_cases_stay_and_own_ones_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "results.csv"
    write_rows(view(result("a", 0.0, turn=None), result("b", 1.0, turn=None)), path)
    assert [row["case_file"] for row in rows_in(path)] == ["a", "b"]
    write_rows(view(result("a", 1.0, turn=None)), path)
    rows = {row["case_file"]: float(row["normalized_score"]) for row in rows_in(path)}
    assert rows == {"a": 1.0, "b": 1.0}
    assert list(path.parent.iterdir()) == [path]
    write_rows(view(result("c", 1.0)), path)
    assert path.read_text().splitlines()[0] == "case_file,round,score,normalized_score"


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    assert rows_in(path) == []
    path.write_text("name,age\nx,3\n")
    with pytest.raises(UsageError, match="no column case_file"):
        rows_in(path)
    assert path.read_text() == "name,age\nx,3\n"
