"""Our own prompt files: the shape of the original's, every metric, in both languages."""

import json
import re
from importlib.resources import files
from typing import Any

import pytest

from proctor.origins.colossal.prompts import SHORT, battle_prompt, prompt_file

MATRIX = {
    "language organization": "all",
    "relevance": "all",
    "creativity": "brainstorming roleplay",
    "practicality": "brainstorming",
    "reasonableness": "brainstorming chat general",
    "naturalness": "chat",
    "engagingness": "chat",
    "fidelity": "chat roleplay",
    "correctness": "classification closed_qa extraction open_qa rewriting summarization general",
    "diversity": "generation",
    "conciseness": "summarization",
}
CATEGORIES = (
    "brainstorming", "chat", "classification", "closed_qa", "extraction", "generation", "open_qa",
    "rewriting", "roleplay", "summarization", "general",
)  # fmt: skip
LANGUAGES = tuple(SHORT)


def file(kind: str, language: str) -> Any:
    name = f"{kind}_prompt_{SHORT[language]}.json"
    text = (
        files("proctor.origins.colossal").joinpath("prompt_files", name).read_text(encoding="utf-8")
    )
    return json.loads(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_metric_of_every_category(language: str) -> None:
    opened = prompt_file(None, language)
    assert set(opened.document.data) == set(CATEGORIES)
    for category in CATEGORIES:
        prompt = opened.of(category)
        assert prompt is not None
        wanted = [m for m, where in MATRIX.items() if where == "all" or category in where.split()]
        assert set(prompt.metrics) == set(prompt.steps) == set(wanted)
    assert opened.findings.errors == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shape_of_an_entry(language: str) -> None:
    for category, row in file("evaluation", language).items():
        assert list(row) == ["id", "category", "metrics", "CoT", "prompt"]
        assert row["category"] == category
        places = re.findall(r"\{(\w+)\}", row["prompt"])
        assert sorted(places) == ["answer", "metric", "question", "steps"]
        for metric, text in row["metrics"].items():
            label = re.match(r"(.+?) ?\(1-5\)[:：]", text)
            assert label is not None
            assert re.search(rf"\n\n{label[1]}[:：]$", row["CoT"][metric])
            assert "1" in row["CoT"][metric]
            assert "5" in row["CoT"][metric]


@pytest.mark.parametrize("language", LANGUAGES)
def test_metrics_that_mean_something_else_in_a_category(language: str) -> None:
    rows = file("evaluation", language)

    def same(metric: str, one: str, two: str) -> bool:
        return bool(rows[one]["CoT"][metric] == rows[two]["CoT"][metric])

    assert not same("correctness", "closed_qa", "extraction")
    assert not same("correctness", "closed_qa", "summarization")
    assert same("correctness", "closed_qa", "general")
    assert not same("creativity", "brainstorming", "roleplay")
    assert not same("reasonableness", "brainstorming", "chat")
    assert same("fidelity", "chat", "roleplay")


def test_languages_are_not_mixed_up() -> None:
    chinese, english = (json.dumps(file("evaluation", n), ensure_ascii=False) for n in LANGUAGES)
    assert not re.search(r"[\u4e00-\u9fff]", english)
    values = [row["prompt"] for row in file("evaluation", "zh").values()]
    assert all(re.search(r"[\u4e00-\u9fff]", text) for text in values)
    assert len(re.findall(r"[\u4e00-\u9fff]", chinese)) > 2000
    assert len({row["prompt"] for row in file("evaluation", "en").values()}) == len(CATEGORIES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_battles(language: str) -> None:
    assert list(file("battle", language)) == ["id", "system_prompt", "prompt_template", "prompt"]
    made = battle_prompt(None, language)
    places = re.findall(r"\{(\w+)\}", made["prompt_template"])
    assert places == ["question", "answer_1", "answer_2", "prompt"]
