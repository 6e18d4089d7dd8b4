"""What suites, models and judges wrote is in no ``--json`` but where it is asked for."""

import json
from typing import Any

import pytest

from proctor.testing import Answer, FakeServer

SUITE = """\
name: marked
prompts: {one: "MARK-prompt {{ask}}", two: "MARK-otherwise {{ask}}"}
cases:
  - id: a
    ask: MARK-ask one
    system: MARK-system
    context: [MARK-context]
    references: MARK-reference
    hidden: {fact: MARK-hidden}
    criteria: [{contains: MARK-wanted}, {judged: MARK-statement}]
  - {id: b, ask: MARK-ask two, criteria: {contains: MARK-output}}
"""
ONE, TWO = "marked-openai:m+one", "marked-openai:m+two"


def script(messages: list[Any], body: Any) -> Answer:
    text = json.dumps(messages)
    if "You examine an answer" in text:
        return Answer('{"reason": "MARK-reason", "result": "yes"}')
    if "two answers" in text:
        return Answer('{"reason": "MARK-reason", "result": "first"}')
    said = "MARK-other" if "otherwise" in text else "MARK-output"
    return Answer(said, thinking="MARK-thinking")


@pytest.fixture
def marked(cli: Any) -> Any:
    """Give a command line in which two runs of a suite full of marks are stored."""
    cli.write("suite.yaml", SUITE)
    with FakeServer(script) as server:
        judge = ("--judge", f"openai:j@{server.url}")
        options = ("--model", f"openai:m@{server.url}", *judge)
        yield cli, options, judge


@pytest.mark.slow
def test_nothing_of_them_is_printed_unless_it_is_asked_for(marked: Any) -> None:
    cli, options, judge = marked
    for command in (
        ("run", "suite.yaml", *options),
        ("plan", "suite.yaml", *options),
        ("check", "suite.yaml"),
        ("list", "runs"),
        ("list", "suites"),
        ("list", "cases", "suite.yaml"),
        ("report", ONE),
        ("compare", ONE, TWO),
        ("items", ONE, TWO),
        ("audit", ONE, *judge),
        ("baseline", ONE),
        ("run", "suite.yaml", *options, "--prompt", "two", "--against", ONE),
        ("export", ONE, "--out", "run.jsonl"),
        ("store", "size"),
    ):
        assert "MARK" not in json.dumps(cli.json(*command)), command


@pytest.mark.parametrize(
    "command",
    [("report", ONE, "--cases"), ("show", ONE, "a"), ("grid", ONE, TWO)],
    ids=lambda command: command[0],
)
def test_cases_are_shown_with_them_or_without(marked: Any, command: tuple[str, ...]) -> None:
    cli, options, _ = marked
    cli.json("run", "suite.yaml", *options)
    whole, bare = cli.json(*command), cli.json(*command, "--no-texts")
    assert "MARK-output" in json.dumps(whole)
    assert "MARK" not in json.dumps(bare)
    assert keys(bare) == keys(whole)


def keys(value: Any) -> Any:
    """Return the keys of objects, at all levels."""
    if isinstance(value, dict):
        return {key: keys(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [inner for inner in map(keys, value) if inner is not None]
    return None
