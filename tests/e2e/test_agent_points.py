"""Points of agents from a suite to reports: an agent in process, a scripted judge and user."""

import csv
from typing import Any

import pytest

from proctor.testing import FakeServer

pytestmark = pytest.mark.sandbox

SUITE = """
name: agents
measures: [hit_rate, agent_failure_rate]
cases:
  - id: two-turns
    ask: add 3 and 4
    files: numbers.txt
    dialogue: {scripted: {then: [double it, give up], stop_below: 0.5}}
    criteria:
      - scoring_point: {statement: says so, post_index: -1}
        turn: 1
      - {eval_code: 'return open("numbers.txt").read() == "3 4"', turn: 1}
      - {eval_code: 'assert open("twice.txt").read() == "14"', turn: 2, weight: 2}
      - {eval_code: 'return 5', turn: 2, weight: 3}
      - {eval_code: 'return True', turn: 3}
  - id: a-task
    hidden: {task: have 3 and 4 added}
    dialogue: {virtual_user: {max_rounds: 3}}
    criteria:
      - scoring_point: {statement: says 7, history: true}
      - eval_code: 'assert "7" in chat_history[-1].content'
  - id: breaks
    ask: add 3 and 4
    dialogue: {scripted: {then: [give up, add 3 and 4]}}
    criteria:
      - {eval_code: return True, turn: 1}
      - {scoring_point: It did not break., turn: 2}
      - {eval_code: return True, turn: 3, weight: 2}
"""
AGENT = """
def answer(message):
    if "give up" in message:
        return {"error": "I cannot go on"}
    if "double" in message:
        open("twice.txt", "w").write("14")
        return "I wrote it down."
    return "It is 7."
"""


@pytest.fixture
def ran(cli: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, text in (
        ("suite.yaml", SUITE), ("numbers.txt", "3 4"), ("points_agent.py", AGENT),
    ):  # fmt: skip
        cli.write(name, text)
    monkeypatch.syspath_prepend(str(cli.folder))

    def user(messages: list[Any], body: Any) -> str:
        return "Add 3 and 4." if len(messages) == 2 else "TASK_FINISHED"

    judge = '```json\n{"reason": "yesterday", "is_hit": "yes"}\n```'
    with FakeServer(roles={"judge": judge, "user": user}) as server:
        return cli.json(
            "run", "suite.yaml", "--agent", "python:points_agent:answer", "--name", "points",
            "--judge", f"openai:j@{server.url_of('judge')}",
            "--simulator", f"openai:u@{server.url_of('user')}", "--cases",
        )  # fmt: skip


def test_one_run_and_all_that_is_made_of_it(ran: Any, cli: Any) -> None:
    cases = {case["id"]: case for case in ran["cases"]}
    turns = {
        name: [
            (turn["turn"], turn["score"], turn["normalized"], turn["status"])
            for turn in case["attempts"][0].get("turns", ())
        ]
        for name, case in cases.items()
    }
    assert turns == {
        "two-turns": [
            (1, 2.0, 1.0, "scored"), (2, 2.0, 0.4, "scored"), (3, 0.0, 0.0, "not_reached"),
        ],
        "a-task": [],
        "breaks": [
            (1, 1.0, 1.0, "scored"), (2, 0.0, 0.0, "agent_failure"), (3, 0.0, 0.0, "not_reached"),
        ],
    }  # fmt: skip
    assert {name: case["value"] for name, case in cases.items()} == {
        "two-turns": 0.5, "a-task": 1.0, "breaks": 0.25,
    }  # fmt: skip
    rate = ran["measures"]["hit_rate"]
    assert rate["value"] == pytest.approx(7 / 14)
    assert rate["detail"] == {"hit": 6, "miss": 2, "agent_failure": 2, "unscored": 0}
    assert ran["measures"]["agent_failure_rate"]["value"] == pytest.approx(1 / 3)

    shown = cli("show", "points", "two-turns").stdout
    for part in (
        "round 1: finished", "User -> Planner: add 3 and 4", "Planner -> User: It is 7.",
        "left: numbers.txt (3 bytes)", "left: twice.txt (2 bytes)", "“says so”", "turn 1: 2 (1)",
        "turn 2: 2 (0.4)", "turn 3: 0 (0) not reached", "the code returned 5, not True or False",
        "turn 3 was not reached: turn 2 got 0.4, below the threshold 0.5",
    ):  # fmt: skip
        assert part in shown, part
    twin = cli.json("show", "points", "breaks")
    (attempt,) = twin["attempts"]
    assert [one["state"] for one in attempt["rounds"]] == ["finished", "failed"]
    assert "I cannot go on" in attempt["scores"][1]["reason"]

    cli("report", "points", "--layout", "taskweaver", "--out", "made")
    with (cli.folder / "made/sample_case_results.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["case_file", "round", "score", "normalized_score"],
        ["two-turns", "0", "2", "1.0"],
        ["two-turns", "1", "2", "0.4"],
        ["a-task", "", "2", "1.0"],
        ["breaks", "0", "1", "1.0"],
        ["breaks", "1", "0", "0.0"],
    ]
    cli("convert", "suite.yaml", "--to", "native", "--out", "again")
    cli("check", "again/suite.yaml")
    assert [path.read_text() for path in (cli.folder / "again/files").rglob("*.txt")] == ["3 4"]
