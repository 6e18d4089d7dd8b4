"""Runs written for other tools, and read back where Proctor reads the format."""

import json
from pathlib import Path

import pytest

from proctor.cli.main import _run
from proctor.engine.transfer.write_foreign import write_as
from proctor.errors import UsageError
from proctor.formats.imports.lm_eval_samples import LmEvalSamples
from proctor.store.store import Store

SUITE = """\
name: quiz
cases:
  - {id: a, ask: "2 + 2?", references: "4"}
  - {id: b, ask: "Say yes.", criteria: {contains: yes}}
"""
ANSWERS = '{"case": "a", "output": "4"}\n{"case": "b", "output": "no"}\n'


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    (tmp_path / "quiz.yaml").write_text(SUITE)
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    url = str(tmp_path / "s.db")
    suite, answers = str(tmp_path / "quiz.yaml"), str(tmp_path / "answers.jsonl")
    assert _run(["run", suite, "--answers", answers, "--store", url, "--json"]) == 0
    return url


def written(url: str, path: Path, form: str) -> list[dict[str, object]]:
    with Store.open(url) as store:
        assert write_as(store, ["@last"], path, form) == 2
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_answers(store_url: str, tmp_path: Path) -> None:
    rows = written(store_url, tmp_path / "x.jsonl", "answers")
    assert rows == [
        {"case": "a", "attempt": 0, "output": "4"},
        {"case": "b", "attempt": 0, "output": "no"},
    ]


def test_samples_of_lm_eval_are_read_back(store_url: str, tmp_path: Path) -> None:
    path = tmp_path / "samples_quiz_2026-11-18T02-19-20.342270.jsonl"
    written(store_url, path, "lm-eval")
    [kept] = LmEvalSamples().read(path)
    rows = kept.runs[0].rows
    assert [attempt.output for _, attempt, _ in rows] == ["4", "no"]
    assert rows[0][2]["exact_match"].points == 1.0
    assert rows[1][2]["contains"].points == 0.0


def test_events(store_url: str, tmp_path: Path) -> None:
    with Store.open(store_url) as store:
        assert write_as(store, ["@last"], tmp_path / "x.jsonl", "events") == 2
    [document] = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    records = document["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert {record["eventName"] for record in records} == {"gen_ai.evaluation.result"}
    values = {entry["key"]: entry["value"] for entry in records[0]["attributes"]}
    assert values["gen_ai.evaluation.name"] == {"stringValue": "exact_match"}
    assert values["gen_ai.evaluation.score.value"] == {"doubleValue": 1.0}


def test_the_ending_is_checked(store_url: str, tmp_path: Path) -> None:
    with Store.open(store_url) as store, pytest.raises(UsageError, match=r"\.jsonl"):
        write_as(store, ["@last"], tmp_path / "x.csv", "answers")
