"""What people write, as the design has it: one suite with prompts, tools and a run file beside it."""

import json
import re
from pathlib import Path
from typing import Any

from proctor.core.suite import ToolCall
from proctor.testing import Answer, FakeServer

DOCS = Path(__file__).resolve().parents[2] / "docs"
SUITE = """\
prompts:                        # the prompt is part of the candidate
  plain: "{{question}}"
  strict: {file: prompts/strict.txt}
  grounded:
    - {role: system, content: "Answer from the passages alone."}
    - {role: user, content: "{{context}}\\n\\n{{question}}"}
cases:
  - id: capital
    vars: {question: "What is the capital of France?"}
    context: [...]
    reference: Paris
  - id: weather
    vars: {question: "Weather in Paris?"}
    tools: [{name: get_weather, parameters: {type: object, properties: {city: {type: string}}}}]
    criteria: {tool_calls: [{name: get_weather, arguments: {city: Paris}}]}
"""
RUN_FILE = """\
suite: suite.yaml
models: [openai:small@URL, anthropic:large@URL]
prompts: [plain, grounded]
judges: [openai:judge@URL]
attempts: 2
sampling: {temperature: 0.5}
gates: ["rate >= 0.5"]
"""
CALL = ToolCall(name="get_weather", arguments={"city": "Paris"})


def script(messages: list[Any], body: Any) -> Answer:
    text = json.dumps(messages)
    if "Weather" in text:
        return Answer(None, tool_calls=(CALL,))
    return Answer("Lyon" if "strictly" in text else "Paris")


def test_a_suite_with_prompts_and_tools(cli: Any) -> None:
    cli.write("suite.yaml", SUITE)
    (cli.folder / "prompts").mkdir()
    cli.write("prompts/strict.txt", "Answer strictly. {{question}}")
    with FakeServer(script) as server:
        done = cli.json("run", "suite.yaml", "--model", f"openai:small@{server.url}")
    rates = {run["run"]["candidate"]: run["totals"]["rate"] for run in done["runs"]}
    assert rates == {
        "openai:small+plain": 1.0, "openai:small+strict": 0.5, "openai:small+grounded": 1.0,
    }  # fmt: skip
    (grounded,) = [call.body for call in server.finished()
                   if "passages alone" in str(call.body) and "capital" in str(call.body)]  # fmt: skip
    assert grounded["messages"][0] == {
        "role": "system", "content": "Answer from the passages alone.",
    }  # fmt: skip
    assert grounded["messages"][1]["content"] == "...\n\nWhat is the capital of France?"
    names = [run["run"]["name"] for run in done["runs"][:2]]
    compared = cli.json("compare", *names)
    assert compared["pairs"][0]["cases"] == 2, "without --force"
    grid = cli.json("grid", *names)
    assert [row["id"] for row in grid["cases"]] == ["capital", "weather"]


def test_a_run_file(cli: Any) -> None:
    cli.write("suite.yaml", SUITE)
    (cli.folder / "prompts").mkdir()
    cli.write("prompts/strict.txt", "Answer strictly. {{question}}")
    with FakeServer(script) as server:
        cli.write("exam.yaml", RUN_FILE.replace("URL", server.url))
        done = cli.json("run", "exam.yaml")
    assert sorted(run["run"]["candidate"] for run in done["runs"]) == [
        "anthropic:large+grounded", "anthropic:large+plain",
        "openai:small+grounded", "openai:small+plain",
    ]  # fmt: skip
    assert {run["totals"]["attempts"] for run in done["runs"]} == {4}
    assert {call.body.get("temperature") for call in server.finished()} == {0.5}


def test_two_prompts_and_two_models_take_fewer_lines_than_with_promptfoo() -> None:
    text = (DOCS / "run-files.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:yaml|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    suite, run_file, theirs = (len(block.splitlines()) for block in blocks[:3])
    starts = [block.splitlines()[0] for block in blocks[:3]]
    assert starts == ["prompts:", "suite: quiz.yaml", "prompts:"]
    assert "providers:" in blocks[2]
    assert (suite + run_file, theirs) == (8, 17)
    assert "These eight lines" in text
