"""Result folders of ColossalAI's evaluation: tables, statistics, models side by side."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt
from proctor.core.case_value import value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Measured, Run, RunStatus, Summary, Totals
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.origins.colossal.layout import ColossalLayout, rating_statistics
from proctor.origins.colossal.scorers import digit_in
from proctor.origins.colossal.summary import summary_table

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "colossal.json").read_text(encoding="utf-8")
)["gpt_statistics"]
AUTOMATIC = "automatic_results"
RATINGS = "gpt_evaluate/gpt_evaluate_results"


def shown(points: float, **metrics: float) -> Score:
    return Score(points=points, detail={"metrics": metrics, "raw": [f"{points:g}"]})


def criterion(name: str, scorer: str, rows: str) -> Criterion:
    return Criterion(id=name, scorer=Spec(name=scorer), weight=0, metric=rows)


TEXT = criterion("Metrics", "text_metrics", "bleu1, precision")
UNI = criterion("UniEval", "unieval", "fluency-summarization")
WIT = criterion("wit", "rating_metric", "wit")


def result(
    number: int, category: str, scores: dict[str, Score], *criteria: Criterion
) -> CaseResult:
    case = Case(
        id=str(number),
        messages=(Message(role="user", content=f"do {number}"),),
        criteria=criteria,
        hidden={"instruction": f"do {number}", "input": ""},
        tags={"category": (category,)},
    )
    attempt = replace(Attempt.of(case.id, f"done {number}"), meta={"id": number, "target": "t"})
    made = AttemptResult(attempt=attempt, scores=scores, value=value_of(case, scores))
    return CaseResult(case=case, attempts=(made,), folded=fold(parse_fold("avg"), [made.value]))


RESULTS = [
    result(12, "chat", {"Metrics": shown(0.5, bleu1=0.5, precision=1.0, recall=0.3),
                        "wit": shown(4, wit=4)}, TEXT, WIT),
    result(3, "chat", {"Metrics": shown(0.25, bleu1=0.25, precision=0.0),
                       "wit": Score.failed("unreadable")}, TEXT, WIT),
    result(5, "总结", {"UniEval": shown(0.5, **{"fluency-summarization": 0.5}),
                      "wit": shown(2, wit=2)}, UNI, WIT),
]  # fmt: skip


def view(name: str = "mine", compat: str = "", results: Any = RESULTS) -> RunView:
    totals = Totals(
        score=0, full=0, rate=None, spread=0, interval=None, cases=3, attempts=3, unanswered=0,
        unscored=3, errors=0, cases_unscored=3, bounds=None,
    )  # fmt: skip
    by = {"chat": {"value": 4.0, "interval": None, "n": 1}, "总结": {"value": 2.0, "n": 1}}
    wit = Measured(value=3.0, interval=(2.0, 4.0), n=2, detail={"by": by})
    alone = {"by": {"chat": {"value": 0.375, "interval": [0.1, 0.6], "n": 2}}}
    bleu = Measured(value=0.375, interval=(0.1, 0.6), n=2, detail=alone)
    return RunView(
        run=Run(
            id="0" * 12, name=name, suite="config", suite_key="k", status=RunStatus.COMPLETE,
            candidate=Spec(name="recorded", params={"name": "answers"}), signature="suite:config",
        ),
        summary=Summary(totals=totals, measures={"bleu1": bleu, "wit": wit}),
        suite=Suite(name="config", cases=(), dialect="colossal", compat=compat),
        results=lambda: iter(results),
    )  # fmt: skip


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def written(folder: Path, found: RunView, **more: Any) -> set[str]:
    paths = ColossalLayout(charts=False, **more).write(found, folder)
    assert all(path.is_file() for path in paths)
    return {path.relative_to(folder).as_posix() for path in paths}


def test_the_files(tmp_path: Path) -> None:
    assert written(tmp_path, view()) == {
        f"{AUTOMATIC}/evaluation_results/mine_results.csv",
        f"{AUTOMATIC}/evaluation_analyses/automatic_evaluation_statistics.csv",
        "unieval_results/evaluation_results/mine_results.csv",
        "unieval_results/evaluation_analyses/unieval_statistics.csv",
        f"{RATINGS}/evaluation_results/mine/chat_evaluation_results.json",
        f"{RATINGS}/evaluation_results/mine/总结_evaluation_results.json",
        f"{RATINGS}/evaluation_results/mine_evaluation_results.json",
        f"{RATINGS}/evaluation_statistics/mine_evaluation_statistics.json",
        f"{RATINGS}/evaluation_analyses/gpt_evaluation_statistics.csv",
    }
    assert not list(tmp_path.rglob("*.part"))


def test_tables(tmp_path: Path) -> None:
    written(tmp_path, view())
    assert rows(tmp_path / AUTOMATIC / "evaluation_results" / "mine_results.csv") == [
        ["", "chat", "总结"],
        ["bleu1", "0.375", ""],
        ["precision", "0.5", ""],
    ]
    assert rows(tmp_path / "unieval_results" / "evaluation_results" / "mine_results.csv") == [
        ["", "chat", "总结"],
        ["fluency-summarization", "", "0.5"],
    ]


def test_models_are_merged_by_folder(tmp_path: Path) -> None:
    written(tmp_path, view("beta"))
    written(tmp_path, view(), model_name="alpha")
    written(tmp_path, view("beta"))
    folder = tmp_path / AUTOMATIC / "evaluation_analyses"
    assert rows(folder / "automatic_evaluation_statistics.csv") == [
        ["", "model", "category", "metric", "score"],
        ["0", "alpha", "chat", "bleu1", "0.375"],
        ["1", "alpha", "chat", "precision", "0.5"],
        ["2", "beta", "chat", "bleu1", "0.375"],
        ["3", "beta", "chat", "precision", "0.5"],
    ]
    ratings = rows(tmp_path / RATINGS / "evaluation_analyses" / "gpt_evaluation_statistics.csv")
    assert ratings[0] == ["", "model", "category", "metric", "avg_score", "best_3", "worst_3"]
    assert ratings[1:3] == [
        ["0", "alpha", "chat", "wit", "4.0", "{'12': 4}", "{'12': 4}"],
        ["1", "alpha", "总结", "wit", "2.0", "{'5': 2}", "{'5': 2}"],
    ]
    assert [row[1] for row in ratings[3:]] == ["beta", "beta"]


def test_ratings(tmp_path: Path) -> None:
    written(tmp_path, view())
    folder = tmp_path / RATINGS
    found = json.loads((folder / "evaluation_results" / "mine_evaluation_results.json").read_text())
    assert [record["id"] for record in found] == [3, 12, 5]
    assert found[0]["evaluation"] == {"wit": {}}
    assert found[1] == {
        "category": "chat", "instruction": "do 12", "input": "", "output": "done 12",
        "target": "t", "id": 12,
        "evaluation": {"wit": {"response": "4", "logprobs": None, "score": 4, "reason": ""}},
    }  # fmt: skip
    path = folder / "evaluation_statistics" / "mine_evaluation_statistics.json"
    text = path.read_text(encoding="utf-8")
    assert '"总结"' in text
    assert json.loads(text)["chat"]["wit"] == {
        "avg_score": 4.0, "best_3": {"12": 4}, "worst_3": {"12": 4}, "scored": 1, "unscored": 1,
    }  # fmt: skip


def test_the_original_counts_what_has_no_rating_as_zero(tmp_path: Path) -> None:
    written(tmp_path, view(compat="original"))
    path = tmp_path / RATINGS / "evaluation_statistics" / "mine_evaluation_statistics.json"
    assert json.loads(path.read_text())["chat"]["wit"] == {
        "avg_score": 2.0, "best_3": {"12": 4, "3": 0}, "worst_3": {"3": 0, "12": 4},
    }  # fmt: skip
    path = tmp_path / RATINGS / "evaluation_results" / "mine" / "chat_evaluation_results.json"
    assert json.loads(path.read_text())[1]["evaluation"] == {
        "wit": {"response": "4", "logprobs": None}
    }


def test_golden_statistics() -> None:
    items = []
    for item in sorted(GOLDEN["items"], key=lambda item: item["id"]):
        said = item["evaluation"]["m"]
        items.append((item["id"], {"m": float(digit_in(said["response"])) if said else None}))
    made = json.loads(json.dumps({"c": rating_statistics(items, "original")}))
    assert made == GOLDEN["statistics"]
    assert list(made["c"]["m"]["best_3"]) == list(GOLDEN["statistics"]["c"]["m"]["best_3"])
    assert list(made["c"]["m"]["worst_3"]) == list(GOLDEN["statistics"]["c"]["m"]["worst_3"])
    native = rating_statistics([(n, {"m": None if n in (4, 6, 8) else r["m"]}) for n, r in items])
    assert native["m"]["avg_score"] == pytest.approx(3.8)
    assert native["m"]["unscored"] == 3


def test_nothing_rated_at_all() -> None:
    assert rating_statistics([(1, {"m": None})])["m"]["avg_score"] is None
    assert rating_statistics([]) == {}


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", "x\0y", "模型"])
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    results = [result(1, name, {"wit": shown(4, wit=4)}, WIT)]
    made = ColossalLayout(charts=False).write(view(name, results=results), tmp_path / "out")
    assert made
    assert all(path.resolve().is_relative_to((tmp_path / "out").resolve()) for path in made)


def test_formulas_and_rubbish_in_tables(tmp_path: Path) -> None:
    bad = criterion("Metrics", "text_metrics", "=1+1")
    results = [result(1, "@sum", {"Metrics": shown(0.5, **{"=1+1": 0.5})}, bad)]
    folder = tmp_path / AUTOMATIC / "evaluation_results"
    folder.mkdir(parents=True)
    (folder / "other_results.csv").write_text("what,is\nthis,x\n")
    written(tmp_path, view(results=results))
    assert rows(folder / "mine_results.csv") == [["", "'@sum"], ["'=1+1", "0.5"]]
    statistics = tmp_path / RATINGS / "evaluation_statistics"
    statistics.mkdir(parents=True)
    (statistics / "other_evaluation_statistics.json").write_text("{broken")
    written(tmp_path, view())


@pytest.mark.slow
def test_charts(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    english = [one for one in RESULTS if one.case.id != "5"]
    made = ColossalLayout().write(view(results=english), tmp_path)
    pictures = sorted(path.name for path in made if path.suffix == ".png")
    assert pictures == ["bleu1.png", "chat.png", "precision.png"]
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in made if path.suffix == ".png")


def test_the_table_for_terminals() -> None:
    lines = summary_table(view()).splitlines()
    assert lines[0] == "mine · suite config · complete"
    cells = [line.split() for line in lines]
    assert ["chat", "bleu1", "0.3750", "0.1000–0.6000", "2"] in cells
    assert ["总结", "wit", "2.0000", "–", "1"] in cells
    assert ["all", "wit", "3.0000", "2.0000–4.0000", "2"] in cells
    assert not any(line[:2] == ["all", "bleu1"] for line in cells)
    assert "Unscored: wit, 1 times: unreadable" in lines
    assert lines[-1] == "Signature: suite:config" or lines[-2] == "Signature: suite:config"
