"""promptfoo's configuration: what becomes a run file, and what is listed as left out."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.run.read_suite import find_dialect
from proctor.errors import SuiteError
from proctor.formats.promptfoo_asserts import criterion_of
from proctor.formats.promptfoo_config import PromptfooConfig
from proctor.testing.server import FakeServer

CONFIG = """\
description: two prompts
prompts:
  - '{{question}}'
  - {label: one word, raw: 'Answer in one word. {{question}}'}
  - file://chat.json
providers:
  - openai:gpt-4o-mini
  - id: openai:chat:gpt-4o
    config: {temperature: 0.2, tools: []}
  - ollama:chat:llama3
  - python:mine.py
evaluateOptions: {repeat: 2, cache: false}
defaultTest:
  vars: {tone: kind}
  assert:
    - {type: latency, threshold: 5000}
tests:
  - description: capital
    vars: {question: 'What is the capital of France?'}
    assert:
      - {type: contains, value: Paris, weight: 2}
      - {type: javascript, value: output.length < 50}
  - vars: {question: [a, b]}
    assert:
      - {type: llm-rubric, value: 'It is {{tone}} about {{question}}'}
    threshold: 0.5
scenarios: []
"""
CHAT = '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{question}}"}]'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "chat.json").write_text(CHAT)
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(CONFIG)
    return path


def test_a_configuration_in_json(tmp_path: Path) -> None:
    data = {
        "prompts": ["{{q}}"],
        "providers": ["openai:chat:small"],
        "tests": [{"vars": {"q": "1 + 1?"}, "assert": [{"type": "contains", "value": "2"}]}],
    }
    path = tmp_path / "promptfooconfig.json"
    path.write_text(json.dumps(data))
    dialect = find_dialect(path)
    assert isinstance(dialect, PromptfooConfig)
    (case,) = dialect.read(path).suite.cases
    assert case.criteria[0].scorer.name == "contains"
    path.write_text(json.dumps({"evalId": "x", **data}))
    assert not PromptfooConfig().recognises(path), "these are results"


def test_a_configuration(config: Path) -> None:
    dialect = PromptfooConfig()
    assert dialect.recognises(config)
    reading = dialect.read(config)
    suite = reading.suite
    assert [prompt.name for prompt in suite.prompts] == ["prompt-1", "one-word", "prompt-3"]
    assert [case.id for case in suite.cases] == ["capital", "test-2", "test-3"]
    first, second, _ = suite.cases
    assert [(one.scorer.name, one.weight) for one in first.criteria] == [
        ("contains", 2.0),
        ("latency", 1.0),
    ]
    assert first.criteria[1].scorer.params == {"seconds": 5.0}
    assert second.criteria[0].scorer.params == {"question": "It is kind about a"}
    assert dialect.run_options(config) == {
        "models": [
            "openai:gpt-4o-mini",
            {"model": "openai:gpt-4o", "temperature": 0.2},
            {"model": "openai:llama3", "url": "http://localhost:11434/v1"},
        ],
        "attempts": 2,
    }
    left_out = [(one.line, one.message.removeprefix("not converted: ")) for one in reading.warnings]
    for line, words in [
        (22, "no scorer does what 'javascript' does"),
        (26, "'threshold' of a test has no counterpart"),
        (27, "'scenarios' has no counterpart"),
        (11, "the provider 'python:mine.py' is no model here"),
        (8, "the setting 'tools' of openai:chat:gpt-4o is left out"),
        (12, "'cache' has no counterpart"),
    ]:
        assert (line, words) in left_out


@pytest.mark.parametrize(
    ("entry", "scorer", "params"),
    [
        ({"type": "equals", "value": "a.b"}, "matches", {"pattern": "a\\.b", "full": True}),
        ({"type": "equals", "value": {"a": 1}}, "json_equal", {"value": {"a": 1}, "whole": True}),
        ({"type": "icontains", "value": "x"}, "contains", {"texts": ["x"], "ignore_case": True}),
        (
            {"type": "contains-any", "value": "a, b"},
            "contains",
            {"texts": ["a", "b"], "all": False},
        ),
        ({"type": "contains-all", "value": ["a", "b"]}, "contains", {"texts": ["a", "b"]}),
        ({"type": "not-contains", "value": "x"}, "contains", {"none": ["x"]}),
        ({"type": "regex", "value": "a+"}, "matches", {"pattern": "a+"}),
        ({"type": "not-regex", "value": "a+"}, "matches", {"pattern": "(?s)\\A(?!.*(?:a+))"}),
        ({"type": "starts-with", "value": "a."}, "matches", {"pattern": "\\Aa\\."}),
        ({"type": "is-json"}, "is_json", {"whole": True}),
        (
            {"type": "contains-json", "value": {"type": "object"}},
            "json_schema",
            {"schema": {"type": "object"}, "whole": False},
        ),
        ({"type": "similar", "value": "x"}, "similar", {"threshold": 0.75, "references": ["x"]}),
        ({"type": "cost", "threshold": 0.01}, "cost", {"dollars": 0.01}),
        ({"type": "word-count", "value": {"max": 9}}, "length", {"max": 9, "unit": "words"}),
        ({"type": "not-is-refusal"}, "refusal", {"wanted": False}),
        (
            {"type": "rouge-n", "value": "x", "threshold": 0.5},
            "rouge",
            {"metric": "rouge1", "references": ["x"], "high": 0.5},
        ),
        ({"type": "context-faithfulness"}, "faithfulness", {}),
    ],
)
def test_assertions(entry: dict[str, Any], scorer: str, params: dict[str, Any]) -> None:
    assert criterion_of(entry) == {"scorer": scorer, "with": params}


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "javascript", "value": "1"},
        {"type": "python", "value": "1"},
        {"type": "bleu", "value": "x"},
        {"type": "equals", "value": "file://expected.txt"},
        {"type": "is-json", "value": "file://schema.json"},
        {"type": "cost"},
        {},
    ],
)
def test_without_a_scorer(entry: dict[str, Any]) -> None:
    assert criterion_of(entry) is None


def test_a_file_outside_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("key")
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "promptfooconfig.yaml"
    path.write_text("prompts: ['file://../secret.txt']\nproviders: ['openai:m']\ntests: []\n")
    with pytest.raises(SuiteError, match="no prompt to convert"):
        PromptfooConfig().read(path)


def test_two_prompts_and_two_models_by_the_real_commands(proctor: str, tmp_path: Path) -> None:
    def command(*words: str) -> str:
        done = subprocess.run(
            [proctor, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with FakeServer([("one word", "Paris"), ("", "It is Lyon.")]) as server:
        one = f"{{id: 'openai:small', config: {{apiBaseUrl: '{server.url}'}}}}"
        two = f"{{id: 'openai:large', config: {{apiBaseUrl: '{server.url}'}}}}"
        (tmp_path / "promptfooconfig.yaml").write_text(
            "prompts: ['{{question}}', 'Answer in one word. {{question}}']\n"
            f"providers: [{one}, {two}]\n"
            "tests:\n  - vars: {question: 'The capital of France?'}\n"
            "    assert: [{type: equals, value: Paris}, {type: not-contains, value: Lyon}]\n"
        )
        command("convert", "promptfooconfig.yaml", "--out", "out")
        printed = command("run", "out/run.yaml", "--json", "--store", "store.db")
    runs = json.loads(printed)["runs"]
    assert sorted((run["run"]["name"], run["totals"]["rate"]) for run in runs) == [
        ("promptfooconfig-openai:large+prompt-1", 0.0),
        ("promptfooconfig-openai:large+prompt-2", 1.0),
        ("promptfooconfig-openai:small+prompt-1", 0.0),
        ("promptfooconfig-openai:small+prompt-2", 1.0),
    ]


def test_converting_tells_what_a_run_needs_and_a_plan_says_it_once(
    proctor: str, tmp_path: Path
) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text(
        "prompts: ['{{q}}', 'Briefly. {{q}}']\n"
        "providers: [openai:small@http://127.0.0.1:9/v1, openai:large@http://127.0.0.1:9/v1]\n"
        "tests:\n"
        "  - vars: {q: Hello}\n"
        "    assert: [{type: llm-rubric, value: Is it polite?}]\n"
    )

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [proctor, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    converted = command("convert", "promptfooconfig.yaml", "--out", "out")
    assert "suite.yaml: 1 case\n" in converted.stdout
    assert "1 case needs a judge: add --judge MODEL" in converted.stderr
    models = ("--model", "openai:a@http://127.0.0.1:9/v1", "--model", "openai:b@http://127.0.0.1:9")
    planned = command("plan", "out/suite.yaml", *models, "--store", "store.db")
    assert planned.returncode == 2
    assert planned.stderr.count("ask a judge, and there is none") == 1
    assert planned.stderr.count("nothing would be run") == 2
    assert planned.stdout.strip() == ""
