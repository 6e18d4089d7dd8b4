"""Prompts and models: a verdict on prompts over all models, in every place that shows a grid."""

import json
from typing import Any

import pytest

from proctor.testing import FakeServer

HEAD = "name: quiz\nprompts: {plain: '{{question}}', strict: 'Be brief. {{question}}'}\ncases:\n"
CASES = 12
SCRIPT = {"Be brief": "yes", "asked": "no"}


def suite(cases: int = CASES) -> str:
    rows = (
        f"  - {{id: q{n}, vars: {{question: asked {n}}}, reference: 'yes'}}\n" for n in range(cases)
    )
    return HEAD + "".join(rows)


@pytest.fixture
def models(cli: Any) -> Any:
    cli.write("suite.yaml", suite())
    with FakeServer(SCRIPT) as server:
        yield [part for name in "ab" for part in ("--model", f"openai:{name}@{server.url}")]


SENTENCE = (
    "Over 2 models together, prompt strict is better than prompt plain: +100.0 points of 100,"
)


def test_prompts_are_judged_over_all_models(cli: Any, models: list[str]) -> None:
    done = cli("run", "suite.yaml", *models, "--markdown", "summary.md")
    assert done.stdout.splitlines()[-1].startswith(SENTENCE)
    assert "12 cases; 24 results went from wrong to right, 0 the other way." in done.stdout
    summary = (cli.folder / "summary.md").read_text()
    assert "\n| Prompt | openai:a | openai:b |\n" in summary
    assert "\n| strict | 100.0% (" in summary
    assert f"\n**{SENTENCE}" in summary

    told = cli.json("run", "suite.yaml", *models)["prompt_verdicts"]
    assert [(one["first"], one["second"], one["verdict"]) for one in told] == [
        ("plain", "strict", "better")
    ]
    assert told[0]["cases"] == CASES
    assert told[0]["counts"]["to_right"] == 2 * CASES

    runs = [f"quiz-openai:{model}+{prompt}" for model in "ab" for prompt in ("plain", "strict")]
    compared = cli("compare", *runs)
    assert any(line.startswith(SENTENCE) for line in compared.stdout.splitlines())
    assert cli.json("compare", *runs)["prompt_verdicts"] == told
    assert "prompt_verdicts" not in cli.json("compare", *runs[:2])
    assert any(line.startswith(SENTENCE) for line in cli("grid", *runs).stdout.splitlines())
    assert cli.json("grid", *runs)["prompt_verdicts"] == told


def test_a_hint_on_references_is_given_once_for_many_runs(cli: Any) -> None:
    cli.write("suite.yaml", suite(3))
    with FakeServer({"Be brief": "yes", "asked": "I say yes to it"}) as server:
        several = [part for name in "abc" for part in ("--model", f"openai:{name}@{server.url}")]
        done = cli("run", "suite.yaml", *several)
    lines = [line for line in done.stdout.splitlines() if line.startswith("References:")]
    assert lines == [
        "References: in 3 of 6 runs answers to some cases equal none, but contain one (q0, q1, q2);"
        " to count these, write contains: {any: references}"
    ]


def test_two_addresses_of_one_host_have_names_and_columns(cli: Any) -> None:
    cli.write("suite.yaml", suite(2))
    with FakeServer(roles={"x": "yes", "y": "no"}) as server:
        urls = [server.url_of(name) for name in "xy"]
        several = [part for url in urls for part in ("--model", f"openai:m@{url}")]
        done = cli("run", "suite.yaml", *several)
        runs = cli.json("run", "suite.yaml", *several)["runs"]
    ends = [url.removeprefix("http://") for url in urls]
    assert [run["run"]["name"] for run in runs] == [
        f"quiz-openai:m+{prompt}@{end}" for end in ends for prompt in ("plain", "strict")
    ]
    assert [run["totals"]["rate"] for run in runs] == [1.0, 1.0, 0.0, 0.0]
    (head,) = [line for line in done.stdout.splitlines() if line.startswith("Prompt")]
    assert head.split() == ["Prompt", *(f"openai:m@{end}" for end in ends)]
    listed = json.loads(cli("list", "runs", "--json").stdout)["runs"]
    assert len({run["name"] for run in listed}) == 4


def test_what_holds_for_several_runs_is_warned_of_once(cli: Any, models: list[str]) -> None:
    judge = ("--judge", models[1])
    for command in ("plan", "run"):
        done = cli(command, "suite.yaml", *models, *judge)
        assert done.stderr.count("a --judge is named, and nothing asks it") == 1


def test_a_plan_tells_settings_of_one_model_apart(cli: Any, models: list[str]) -> None:
    name, _, url = models[1].partition("@")
    rows = "".join(f"  - {{model: '{name}', url: '{url}', temperature: {n}}}\n" for n in (0, 1))
    cli.write("exam.yaml", f"suite: suite.yaml\nprompts: plain\nmodels:\n{rows}")
    told = [one["candidate"] for one in cli.json("plan", "exam.yaml")["plans"]]
    assert told == [f"{models[1]},temperature={heat}+plain" for heat in (0, 1)]
    runs = cli.json("run", "exam.yaml")["runs"]
    assert [run["run"]["name"] for run in runs] == [
        f"quiz-{name}+plain,temperature={heat}" for heat in (0, 1)
    ]
