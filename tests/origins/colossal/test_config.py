"""A config of ColossalAI's evaluation: what it means, and every mistake in it with its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.io.findings import Findings
from proctor.origins.colossal.config import (
    CategoryMetrics,
    Config,
    is_config,
    read_config,
    resolved,
)
from proctor.origins.colossal.source import JsonDocument

WHOLE: dict[str, Any] = {
    "language": "en",
    "path_for_UniEval": {"data2text": "models/d"},
    "UniEval_questions": {"mine": {"question": "Is it?"}},
    "category": {
        "chat": {"GPT": ["relevance", "relevance", "tone"]},
        "closed_qa": {
            "Metrics": ["Distinct", "BLEU", "F1 score"],
            "UniEval": ["data2text-naturalness", "data2text-informativeness", "mine"],
        },
    },
    "BERTScore": "encoder",
    "target_file": "targets.json",
}


def read(data: Any) -> tuple[Config, list[tuple[str, str]]]:
    """Read a config, and put the line before each problem at which it is told."""
    text = json.dumps(data, indent=1)
    document = JsonDocument(path=Path("config.json"), data=json.loads(text), text=text)
    findings = Findings()
    config = read_config(document, findings)
    lines = ["", *(line.strip() for line in text.splitlines())]
    return config, [(lines[one.line or 0], one.message) for one in findings.errors]


def test_a_whole_config_is_read_as_it_is_meant() -> None:
    config, problems = read(WHOLE)
    assert problems == []
    assert (config.language, config.unieval) == ("en", {"data2text": "models/d"})
    assert config.categories["chat"] == CategoryMetrics(gpt=("relevance", "tone"))
    assert config.categories["closed_qa"].metrics == ("Distinct", "BLEU", "F1 score")
    assert config.bert == {"model": "encoder"}
    assert config.files == {"target_file": "targets.json"}
    assert config.place_of("closed_qa", "Metrics", "BLEU") == (
        "category", "closed_qa", "Metrics", 1,
    )  # fmt: skip


def test_only_what_looks_at_a_reference_compares() -> None:
    metrics = read(WHOLE)[0].categories["closed_qa"]
    assert metrics.compares == ("BLEU", "F1 score", "data2text-informativeness")
    assert CategoryMetrics(gpt=("relevance",), metrics=("Distinct",)).compares == ()


def test_chinese_is_called_cn_and_has_no_unieval() -> None:
    plain = {"language": "cn", "category": {"chat": {"Metrics": ["BLEU"]}}}
    config, problems = read(plain)
    assert (config.language, problems) == ("zh", [])
    _, problems = read({**WHOLE, "language": "cn"})
    message = "UniEval judges English only, and the config's language is 'cn'"
    assert problems == [('"UniEval": [', message)]


def test_every_mistake_is_told_at_once_each_at_its_line() -> None:
    config, problems = read(
        {
            "language": "de",
            "path_for_UniEval": {"dialogue": 3},
            "category": {
                "chat": {"GPT": ["BLEU", "bleu1", ""], "Metrics": ["BLEU", "bleu"]},
                "talk": {"UniEval": ["dialogue-coherence"]},
                "list": [],
            },
            "BERTScore": {"model": "m", "layers": 3},
            "target_file": "",
            "UniEval_questions": [],
        }
    )
    assert problems == [
        ('"language": "de",', "there is no language 'de'"),
        ('"UniEval_questions": []', "expected a mapping, not a list"),
        ('"dialogue": 3', "expected a string, not the number 3"),
        ('""', "expected a name, not the string ''"),
        ('"GPT": [', "a rating cannot be called 'bleu1': another number has that name"),
        ('"bleu"', "there is no metric 'bleu'"),
        ('"list": []', "expected a mapping of GPT, Metrics, UniEval, not a list"),
        ('"layers": 3', "unknown key 'layers'"),
        ('"target_file": "",', "expected a path, not the string ''"),
        ('"dialogue-coherence"', "there is no path to the UniEval model of 'dialogue'"),
    ]
    # What is right beside a mistake is kept, so that later checks see it.
    assert config.categories["chat"].metrics == ("BLEU",)
    assert (config.language, config.bert, config.files) == ("en", {"model": "m"}, {})


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        (WHOLE, True),
        ({"category": {}, "language": None}, True),
        ({"category": {"chat": {"GPT": []}}}, True),
        ({"category": {"chat": {"UniEval": []}, "other": 3}}, True),
        ({"category": {"chat": {"metrics": []}}}, False),
        ({"category": {}}, False),
        ({"category": "chat", "language": "en"}, False),
        ([WHOLE], False),
        (None, False),
    ],
)
def test_a_config_is_known_by_its_categories(data: Any, meant: bool) -> None:
    assert is_config(data) is meant


def test_a_model_lies_beside_the_config_unless_its_path_leads_to_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "there" / "config.json"
    (tmp_path / "there" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert resolved(config, "model") == str(tmp_path / "there" / "model")
    (tmp_path / "model").mkdir()
    assert resolved(config, "model") == "model"
    assert resolved(config, "owner/name") == "owner/name"
    assert resolved(config, "") == ""
