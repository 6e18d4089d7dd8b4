"""Samples of lm-evaluation-harness: real ones, and what they do not have."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SuiteError
from proctor.formats.imports.lm_eval_samples import LmEvalSamples

GOLDEN = Path(__file__).parents[2] / "golden" / "imports" / "lm_eval"
NAME = "samples_task_2026-11-18T02-19-20.342270.jsonl"


def test_the_real_program() -> None:
    assert LmEvalSamples().recognises(GOLDEN)
    results = json.loads(next(GOLDEN.glob("results_*.json")).read_text())["results"]
    kept = {one.suite.name: one for one in LmEvalSamples().read(GOLDEN)}
    assert sorted(kept) == ["mygen", "mymc"]
    for task, metrics in {
        "mygen": {
            "exact_match,strict": "exact_match,strict",
            "exact_match,flex": "exact_match,flex",
        },
        "mymc": {"acc": "acc,none", "acc_norm": "acc_norm,none"},
    }.items():
        rows = kept[task].runs[0].rows
        for ours, theirs in metrics.items():
            total = sum(scores[ours].points or 0 for _, _, scores in rows) / len(rows)
            assert total == pytest.approx(results[task][theirs])


def test_a_choice_is_the_likeliest(tmp_path: Path) -> None:
    [kept] = LmEvalSamples().read(next(GOLDEN.glob("samples_mymc*")))
    outputs = [attempt.output for _, attempt, _ in kept.runs[0].rows]
    assert outputs[:2] == ["Paris", "Rome"]
    assert [case.references for case in kept.suite.cases] == [("Paris",), ("Rome",), ("Madrid",)]


def samples(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / NAME
    path.write_text("".join(json.dumps({"doc_id": i, **row}) + "\n" for i, row in enumerate(rows)))
    return path


def test_metrics_that_are_no_numbers_are_missing(tmp_path: Path) -> None:
    path = samples(
        tmp_path, {"metrics": ["ppl", "acc"], "ppl": [-3.2, 5], "acc": 1, "resps": [["x"]]}
    )
    [kept] = LmEvalSamples().read(path)
    [(_, attempt, scores)] = kept.runs[0].rows
    assert attempt.output == "x"
    assert (scores["ppl"].points, scores["acc"].points) == (None, 1.0)


@pytest.mark.parametrize("text", ["", "[]\n", "{}\n", "{\n"])
def test_broken_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / NAME
    path.write_text(text)
    with pytest.raises(SuiteError):
        list(LmEvalSamples().read(path))


def test_other_files_are_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text("{}")
    assert not LmEvalSamples().recognises(tmp_path)
    assert not LmEvalSamples().recognises(tmp_path / "samples.jsonl")


def test_without_results_the_folder_says_whose_samples_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "EleutherAI__pythia-160m"
    folder.mkdir()
    samples(folder, {"metrics": ["acc"], "acc": 1, "resps": [["x"]]})
    for path in (tmp_path, folder, folder / NAME):
        [kept] = LmEvalSamples().read(path)
        assert kept.runs[0].name == "task EleutherAI/pythia-160m"
        assert kept.runs[0].candidate.params["name"] == "EleutherAI/pythia-160m"
    moment = NAME.removeprefix("samples_task_").removesuffix(".jsonl")
    (folder / f"results_{moment}.json").write_text('{"model_name": "mine", "config": {}}')
    [kept] = LmEvalSamples().read(tmp_path)
    assert kept.runs[0].name == "task mine"
