"""Run files: their keys are the options of ``run``, and the command line wins."""

import json
from pathlib import Path
from typing import Any

import pytest

from json_schema import fits
from proctor.cli.options import is_run_file
from proctor.cli.run_file import RunFile, run_file_schema
from proctor.errors import SuiteError
from proctor.io.yaml_files import read_yaml
from proctor.testing import FakeServer

ROOT = Path(__file__).resolve().parents[2]
SUITE = """\
name: quiz
prompts: {plain: "{{question}}", kind: "Please: {{question}}"}
cases:
  - {id: a, vars: {question: one}, reference: one}
"""


def written(small: Any, text: str) -> None:
    (small.folder / "quiz.yaml").write_text(SUITE)
    (small.folder / "exam.yaml").write_text(text)


def test_a_run_for_each_prompt_and_model(small: Any) -> None:
    small.env["PROCTOR_TEST_KEY"] = "k-123"
    with FakeServer("one", roles={"b": "two"}) as server:
        written(
            small,
            f"""\
suite: quiz.yaml
models:
  - openai:m@{server.url}
  - model: openai:n
    url: {server.url_of("b")}
    key_env: PROCTOR_TEST_KEY
    temperature: 0.5
    stop: END
    extra: {{user: me}}
sampling: {{temperature: 0, max_tokens: 9}}
gates: rate >= 0.5
reports: {{format: md, path: out/report.md}}
""",
        )
        done = small.here("run", "exam.yaml", "--json")
        assert done.returncode == 1
        assert "gate missed: quiz-openai:n+kind: rate >= 0.5" in done.stderr
        runs = json.loads(done.stdout)["runs"]
        bodies = {call.body["model"]: call.body for call in server.calls}
        assert bodies["m"]["temperature"] == 0
        assert (bodies["n"]["temperature"], bodies["n"]["stop"], bodies["n"]["user"]) == (
            0.5,
            ["END"],
            "me",
        )
        assert bodies["n"]["max_tokens"] == 9
        again = small.here("run", "exam.yaml", "--temperature", "1", "--prompt", "plain", "--json")
        assert {call.body["temperature"] for call in server.calls[4:]} == {1.0}
        assert len(json.loads(again.stdout)["runs"]) == 2
    assert [run["totals"]["rate"] for run in runs] == [1.0, 1.0, 0.0, 0.0]
    names = sorted(path.name for path in (small.folder / "out").iterdir())
    assert names[0] == "report-quiz-openai-m+kind.md"
    stored = (small.folder / ".proctor" / "proctor.db").read_bytes()
    assert b"k-123" not in stored


def test_of_many_runs_each_has_a_line_above_the_grid(small: Any) -> None:
    with FakeServer("one") as server:
        models = [f"openai:m{number}@{server.url}" for number in range(3)]
        written(small, f"suite: quiz.yaml\nmodels: {json.dumps(models)}\n")
        done = small.here("run", "exam.yaml")
        in_full = small.here("run", "exam.yaml", "--cases")
    lines = done.stdout.splitlines()
    assert lines[0] == "quiz-openai:m0+plain · complete · 1 case"
    assert lines[6:9] == ["", "`proctor report RUN` shows a run in full", ""]
    assert lines[9].split() == ["Prompt", "openai:m0", "openai:m1", "openai:m2"]
    assert in_full.stdout.count("Overall") == 6


def test_tools_and_the_form_of_replies_hold_for_cases_that_have_none(small: Any) -> None:
    tool = "{name: look, parameters: {type: object}}"
    shape = "{type: object, required: [a]}"
    written(small, "suite: quiz.yaml\n")
    (small.folder / "quiz.yaml").write_text(
        """\
tool_choice: none
cases:
  - {id: a, ask: one, criteria: {json_schema: true}}
  - {id: b, ask: two, tools: [], response_format: {type: array}, criteria: {is_json: true}}
  - {id: c, ask: three, tool_results: {look: 1}, criteria: x}
"""
    )
    with FakeServer('{"a": 1}', lacks=("/responses",)) as server:
        model = f"suite: quiz.yaml\nmodels: openai:m@{server.url}\n"
        offers = f"tools: {tool}\ntool_choice: required\nresponse_format: {shape}\n"
        (small.folder / "exam.yaml").write_text(model + offers)
        done = small.here("run", "exam.yaml", "--json")
        assert done.returncode == 0, done.stderr
        again = small.here("plan", "exam.yaml", "--json")
        bodies = {
            call.body["messages"][-1]["content"]: call.body
            for call in server.calls
            if "messages" in call.body
        }
    assert json.loads(again.stdout)["usage"]["calls"] == 0
    one, two = bodies["one"], bodies["two"]
    assert one["tools"][0]["function"]["name"] == "look"
    assert one["tool_choice"] == "none"
    assert one["response_format"]["json_schema"]["schema"]["required"] == ["a"]
    assert "tools" not in two
    assert two["response_format"]["json_schema"]["schema"] == {"type": "array"}
    (small.folder / "exam.yaml").write_text(model + "tools: [{parameters: {}}]\n")
    wrong = small.here("run", "exam.yaml")
    assert wrong.returncode == 2
    assert "exam.yaml:3:" in wrong.stderr


def test_columns_are_a_mapping_or_a_text(small: Any) -> None:
    (small.folder / "fragen.csv").write_text("Frage;Antwort;Kennung\n1 + 1?;2;eins\n")
    (small.folder / "antworten.jsonl").write_text('{"case": "eins", "output": "2"}\n')
    for columns in ("{id: Kennung, ask: Frage, reference: Antwort}",
                    "id=Kennung,ask=Frage,reference=Antwort"):  # fmt: skip
        text = f"suite: fragen.csv\nanswers: antworten.jsonl\ncolumns: {columns}\n"
        (small.folder / "exam.yaml").write_text(text)
        assert fits(read_yaml(small.folder / "exam.yaml").data, run_file_schema())
        done = small.here("run", "exam.yaml", "--json")
        assert json.loads(done.stdout)["totals"]["rate"] == 1.0, done.stderr


def test_keys_of_the_environment_do_not_go_where_a_file_says(small: Any) -> None:
    small.env["OPENAI_API_KEY"] = "k-456"
    with FakeServer("one", key="k-456") as server:
        written(small, f"suite: quiz.yaml\nmodels: openai:m@{server.url}\nprompts: plain\n")
        assert small.here("run", "exam.yaml").returncode != 0
        named = f"model: openai:m\n  url: {server.url}\n  key_env: OPENAI_API_KEY"
        written(small, f"suite: quiz.yaml\nmodels:\n  {named}\nprompts: plain\n")
        assert small.here("run", "exam.yaml").returncode == 0


def test_the_command_line_names_another_candidate(small: Any) -> None:
    suite = next(small.folder.glob("*.yaml")).name
    text = f"suite: {suite}\nmodels: openai:m@http://127.0.0.1:9/v1\nattempts: 1\n"
    (small.folder / "exam.yaml").write_text(text)
    assert small.here("check", "exam.yaml").returncode == 0
    answers = next(small.folder.glob("*.jsonl")).name
    done = small.here("run", "exam.yaml", "--answers", answers, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["totals"]["attempts"] == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("modles: x", "1:1: error: unknown key 'modles' (at modles)"),
        ("models: [{model: 'openai:a', temprature: 1}]", "did you mean 'temperature'"),
        ("models: [{name: x}]", "a model is named, or a mapping with the key 'model'"),
        ("models: gpt", "does not say whose model it is"),
        ("models: nobody:x", "'nobody'"),
        ("models: [{model: 'openai:a', key_env: sk-123}]", "the name of an environment variable"),
        ("models: [{model: 'openai:a', stop: 1}]", "'stop' is a text"),
        ("models: [{model: 'openai:a', extra: 1}]", "'extra' is a mapping"),
        ("models: [{model: 'openai:a', temperature: hot}]", "'hot' is not a valid float"),
        ("attempts: many", "'many' is not a valid"),
        ("attempts: [1, 2]", "'attempts' is one value"),
        ("offline: perhaps", "'offline' is true or false"),
        ("panel: mode", "'mode' is not one of"),
        ("sampling: 3", "'sampling' is a mapping"),
        ("sampling: {temprature: 3}", "did you mean 'temperature'"),
        ("prompts: {p: '{{a.b}}'}", "expected }} instead of"),
        ("reports: [{format: pdf, path: x}]", "there is no format 'pdf'"),
        ("reports: [x]", "a report has a 'format' and a 'path'"),
        ("allow_import: true", "a run file cannot set 'allow_import'"),
        ("json: true", "a run file cannot set 'json'"),
        ("suite: 3", "'suite' is the path of a suite"),
    ],
)
def test_mistakes_have_their_place(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "exam.yaml"
    path.write_text(text + ("" if text.startswith("suite") else "\nsuite: quiz.yaml") + "\n")
    assert is_run_file(path)
    with pytest.raises(SuiteError) as caught:
        RunFile.read(path)
    assert expected in str(caught.value)


def test_a_suite_is_no_run_file(tmp_path: Path) -> None:
    for name, text in (
        ("a.yaml", SUITE),
        ("b.yaml", "suite: x\ncases: []\n"),
        ("c.jsonl", "suite: x"),
        ("d.yaml", "suite: x\ncases:\n  - ask: true\n"),
        ("e.yaml", "cases: true\n"),
    ):
        (tmp_path / name).write_text(text)
        assert not is_run_file(tmp_path / name)


@pytest.mark.parametrize("cases", ["true", "false", "yes", "'true'", "True  # all of them", "~"])
def test_the_option_cases_leaves_it_a_run_file(tmp_path: Path, cases: str) -> None:
    (tmp_path / "quiz.yaml").write_text(SUITE)
    path = tmp_path / "exam.yaml"
    path.write_text(f"suite: quiz.yaml\ncases: {cases}\n")
    assert is_run_file(path)
    if cases == "true":
        assert RunFile.read(path)["cases"] is True


def test_the_published_schema_is_the_current_one(tmp_path: Path) -> None:
    published = json.loads((ROOT / "docs" / "run-file.schema.json").read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(run_file_schema())), (
        "write json.dumps(run_file_schema(), indent=2) to docs/run-file.schema.json"
    )
    template = read_yaml(ROOT / "src" / "proctor" / "starter" / "template" / "run.yaml").data
    assert fits(template, published)
    assert not fits({"suite": "x", "modles": "y"}, published)
