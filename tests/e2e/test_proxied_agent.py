"""An agent whose own model calls pass the proxy: they become steps, with tokens and cost."""

import json
from pathlib import Path
from typing import Any

from proctor.testing import Answer, FakeServer
from proctor.testing.replies import all_text

EXAMPLES = Path(__file__).parents[2] / "examples" / "agents"


def model(messages: list[Any], body: Any) -> Any:
    if "The result is" in all_text(messages[-1:]):
        return Answer("It is 102 eggs.", tokens=(50, 5))
    return Answer("CALC: 17 * 6", tokens=(40, 4))


def test_calls_become_steps(cli: Any) -> None:
    suite = (
        "name: one\ncases:\n  - id: eggs\n    ask: How many eggs?\n    dialogue: scripted\n"
        "    criteria: ['102']\n"
    )
    cli.write("suite.yaml", suite)
    with FakeServer(model, key="upstream-key") as server:
        cli.env["OPENAI_API_KEY"] = "upstream-key"
        found = cli.json(
            "run", "suite.yaml", "--cases",
            "--agent", f"python:{EXAMPLES / 'calculator.py'}:answer",
            "--proxy", f"openai:served@{server.url}",
            "--price", "served=1000000/0",
        )  # fmt: skip
        assert [call.body["model"] for call in server.calls if call.body] == ["served", "served"]
    assert found["totals"]["rate"] == 1.0
    used = {"calls": 2, "prompt_tokens": 90, "completion_tokens": 9, "cost": 90.0}
    assert {name: found["usage"][name] for name in used} == used
    shown = json.loads(cli("show", "@last", "eggs", "--json").stdout)
    posts = shown["attempts"][0]["rounds"][0]["post_list"]
    assert [post["send_from"] for post in posts[:3]] == ["User", "Model", "Model"]
    assert posts[1]["message"] == "CALC: 17 * 6"
    assert posts[-1]["message"] == "It is 102 eggs."
    stored = b"".join(p.read_bytes() for p in (cli.folder / ".proctor").rglob("*") if p.is_file())
    assert b"upstream-key" not in stored
