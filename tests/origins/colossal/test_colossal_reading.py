"""Configs, targets and answers of ColossalAI's evaluation as suites and attempts."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialect import Reading
from proctor.core.attempt import AttemptStatus
from proctor.core.suite import Spec
from proctor.engine.run.read_suite import find_dialect
from proctor.engine.run.scorer_pool import Scorers
from proctor.origins.colossal.dialect import Colossal
from proctor.registry import build

CONFIG: dict[str, Any] = {
    "language": "en",
    "path_for_UniEval": {"summarization": "sum", "dialogue": "", "data2text": "sum"},
    "category": {
        "chat": {
            "GPT": ["naturalness", "relevance"],
            "Metrics": ["Distinct"],
            "UniEval": ["dialogue-coherence", "summarization-fluency"],
        },
        "closed_qa": {"Metrics": ["BLEU", "BERTScore", "Recall", "Precision", "CHRF"]},
        "Law": {"GPT": ["correctness"]},
        "extraction": {},
    },
}
TARGETS: list[dict[str, Any]] = [
    {"category": "chat", "instruction": "Say hello.", "input": "", "output": "Hello.", "id": 1},
    {"category": "closed_qa", "instruction": "1+1?", "input": "Add.", "target": "2",
     "output": "no", "id": 2},
    {"category": "Law", "instruction": "Is it?", "target": "", "output": "", "id": 3},
    {"category": "closed_qa", "instruction": "2+2?", "target": "4", "id": 4},
    {"category": "poetry", "instruction": "Rhyme.", "id": 5},
]  # fmt: skip


def answers(**changes: Any) -> list[dict[str, Any]]:
    return [{**row, "output": f"answer {row['id']}", **changes} for row in TARGETS]


def write(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


def read(folder: Path, config: Any = None, targets: Any = None, **more: Any) -> Reading:
    compat = more.pop("compat", "")
    path = write(folder, "config.json", CONFIG if config is None else config)
    file = write(folder, "targets.json", TARGETS if targets is None else targets)
    options = {"target_file": str(file), **more}
    return Colossal().read_all(path, compat=compat, options=options)[0]


@pytest.mark.parametrize(
    ("data", "known"),
    [
        (CONFIG, True),
        ({"category": {"chat": {"GPT": []}}}, True),
        ({"category": {"chat": {}}, "language": "xx"}, True),
        ({"category": "chat", "language": "en"}, False),
        ({"category": {"chat": {}}}, False),
        ([CONFIG], False),
        ({"cases": []}, False),
    ],
)
def test_recognised_by_content(tmp_path: Path, data: Any, known: bool) -> None:
    path = write(tmp_path, "any.json", data)
    assert Colossal().recognises(path) is known
    if known:
        assert find_dialect(path).name == "colossal"
    assert not Colossal().recognises(tmp_path)
    (tmp_path / "broken.json").write_text('{"language": ')
    assert not Colossal().recognises(tmp_path / "broken.json")


def test_cases(tmp_path: Path) -> None:
    suite = read(tmp_path).suite
    assert [case.id for case in suite.cases] == ["1", "2", "3", "4"]
    first, second, third, _ = suite.cases
    assert second.prompt == "1+1?\nAdd."
    assert second.references == ("2",)
    assert first.references == ("Hello.",)
    assert third.references == ()
    assert second.hidden == {"instruction": "1+1?", "input": "Add."}
    assert second.tags == {"category": ("closed_qa",)}
    assert (suite.name, suite.language, suite.dialect) == ("config", "en", "colossal")


def test_criteria(tmp_path: Path) -> None:
    suite = read(tmp_path).suite
    chat, qa, law, _ = (case.criteria for case in suite.cases)
    assert [c.id for c in chat] == ["Metrics", "UniEval", "naturalness", "relevance"]
    assert [c.id for c in qa] == ["Metrics", "BERTScore"]
    assert [c.id for c in law] == ["correctness"]
    assert all(c.weight == 0 for c in (*chat, *qa, *law))
    assert qa[0].scorer.params == {"metrics": ["bleu", "prf", "chrf"]}
    assert qa[0].label == "bleu1, bleu2, bleu3, bleu4, recall, precision, chrf"
    assert chat[1].scorer.params == {
        "dimensions": ["dialogue-coherence", "summarization-fluency"],
        "models": {"summarization": "sum", "dialogue": ""},
    }
    assert chat[1].label == "coherence-dialogue, fluency-summarization"
    assert qa[1].scorer == Spec(name="bert_score")
    rating = chat[2].scorer
    assert rating.name == "rating_metric"
    assert set(rating.params) == {"metric", "definition", "steps", "prompt"}
    assert Scorers().problems(suite) == []


def test_measures(tmp_path: Path) -> None:
    measures = read(tmp_path).suite.measures
    names = [measure.params["metric"] for measure in measures]
    assert names == [
        "distinct", "bleu1", "bleu2", "bleu3", "bleu4", "bert_score", "recall", "precision", "chrf",
        "coherence-dialogue", "fluency-summarization", "naturalness", "relevance", "correctness",
    ]  # fmt: skip
    assert [build("measure", measure).label for measure in measures] == names


def test_compat(tmp_path: Path) -> None:
    suite = read(tmp_path, compat="original", with_reference="1").suite
    chat, qa, *_ = (case.criteria for case in suite.cases)
    assert qa[0].scorer.params["language"] == "en"
    assert qa[0].scorer.params["compat"] == "original"
    assert qa[1].scorer.params["model"] == "roberta-large"
    assert qa[1].scorer.params["layer"] == 17
    assert chat[1].scorer.params["compat"] == "original"
    rating = chat[2].scorer.params
    assert (rating["compat"], rating["logprobs"], rating["with_reference"]) == (
        "original", False, True
    )  # fmt: skip
    assert suite.cases[2].references == ("",)
    assert suite.compat == "original"


def test_chinese(tmp_path: Path) -> None:
    config = {"language": "cn", "category": {"chat": {"GPT": ["naturalness"]}}}
    targets = [{"category": "chat", "instruction": "你好", "input": "", "output": "好", "id": 7}]
    suite = read(tmp_path, config, targets).suite
    assert suite.language == "zh"
    assert "自然" in suite.cases[0].criteria[0].scorer.params["definition"]
    suite = read(tmp_path, {**config, "category": {"chat": {"Metrics": ["BERTScore"]}}}, targets,
                 compat="original").suite  # fmt: skip
    assert suite.cases[0].criteria[0].scorer.params == {"model": "bert-base-chinese", "layer": 8}


def test_files_that_the_config_names(tmp_path: Path) -> None:
    write(tmp_path, "t.json", TARGETS)
    prompt = {
        "general": {
            "metrics": {"wit": "Wit (1-5)"},
            "CoT": {"wit": "Wit:"},
            "prompt": "{question} {answer} {metric} {steps}",
            "note": "mine",
        }
    }
    write(tmp_path, "p.json", prompt)
    config = {"language": "en", "target_file": "t.json", "gpt_evaluation_prompt_file": "p.json",
              "category": {"chat": {"GPT": ["wit"]}}}  # fmt: skip
    (reading,) = Colossal().read_all(write(tmp_path, "config.json", config))
    params = reading.suite.cases[0].criteria[0].scorer.params
    assert (params["metric"], params["definition"], params["steps"]) == ("wit", "Wit (1-5)", "Wit:")


def test_encoders_and_questions_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "sum").mkdir()
    config = {
        **CONFIG,
        "BERTScore": {"model": "sum", "layer": 3},
        "UniEval_questions": {"data2text-wit": "question: Is it witty? </s> text: {output}"},
        "category": {"chat": {"Metrics": ["BERTScore"], "UniEval": ["data2text-wit"]}},
    }
    suite = read(tmp_path, config).suite
    bert, unieval = suite.cases[0].criteria
    assert bert.scorer.params == {"model": str(tmp_path / "sum"), "layer": 3}
    assert unieval.scorer.params["questions"] == {
        "data2text-wit": "question: Is it witty? </s> text: {output}"
    }
    assert unieval.scorer.params["models"] == {"data2text": str(tmp_path / "sum")}
    assert unieval.label == "wit-data2text"
    assert Scorers().problems(suite) == []


def test_warnings(tmp_path: Path) -> None:
    warnings = " ".join(str(found) for found in read(tmp_path).warnings)
    assert "1 targets of category 'poetry' are left out" in warnings
    assert "there is no target of category 'extraction'" in warnings
    assert "'Law' has no prompt of its own; the one for 'general' is taken" in warnings


def test_answers_by_id(tmp_path: Path) -> None:
    suite = read(tmp_path).suite
    path = write(tmp_path, "answers.json", list(reversed(answers())))
    made = {one.case_id: one for one in Colossal().answers(path, suite)}
    assert {name: one.output for name, one in made.items()} == {
        number: f"answer {number}" for number in "1234"
    }
    assert made["2"].meta == {"id": 2, "target": "2"}
    silent = write(tmp_path, "silent.json", answers(output=None))
    assert {one.status for one in Colossal().answers(silent, suite)} == {AttemptStatus.UNANSWERED}
    empty = write(tmp_path, "empty.json", answers(output=""))
    assert {one.status for one in Colossal().answers(empty, suite)} == {AttemptStatus.ANSWERED}


def test_answers_by_place_as_in_the_original(tmp_path: Path) -> None:
    suite = read(tmp_path, compat="original").suite
    rows = [{"category": row["category"], "output": row["output"]} for row in answers()]
    rows[1], rows[3] = rows[3], rows[1]
    path = write(tmp_path, "answers.json", rows)
    made = {one.case_id: one.output for one in Colossal().answers(path, suite)}
    assert made == {"1": "answer 1", "2": "answer 4", "3": "answer 3", "4": "answer 2"}


def test_targets_without_ids_in_the_original(tmp_path: Path) -> None:
    targets = [{"category": "chat", "target": "a"}, {"category": "chat", "target": "b", "id": 5},
               {"category": "chat", "target": "c", "id": 5}]  # fmt: skip
    suite = read(tmp_path, targets=targets, compat="original").suite
    assert [case.id for case in suite.cases] == ["#1", "5", "5~2"]


def test_battle_takes_the_questions_of_an_answers_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", answers())
    config = write(tmp_path, "config.json", CONFIG)
    (reading,) = Colossal().read_all(config, options={"battle": str(path)})
    suite = reading.suite
    assert [case.id for case in suite.cases] == ["1", "2", "3", "4", "5"]
    assert all(not case.criteria for case in suite.cases)
    assert (suite.name, suite.measures) == ("config-battle", ())
    assert suite.cases[1].prompt == "1+1?\nAdd."
    (reading,) = Colossal().read_all(config, compat="original", options={"battle": str(path)})
    assert reading.suite.cases[1].prompt == "1+1? Add."


def test_filling(tmp_path: Path) -> None:
    path = write(tmp_path, "targets.json", TARGETS)
    assert Colossal().unfilled(path) == [(2, "Is it?"), (4, "Rhyme.")]
    filled = Colossal().filled(path, {2: "It is."})
    assert filled[2] == {**TARGETS[2], "output": "It is."}
    assert [filled[n] for n in (0, 1, 3, 4)] == [TARGETS[n] for n in (0, 1, 3, 4)]
