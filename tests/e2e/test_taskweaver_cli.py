"""``proctor taskweaver`` and its cases given to ``proctor run``: the documented behaviour, working."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer
from proctor.testing.replies import all_text

REPO = Path(__file__).parents[2]
GOLDEN = json.loads((REPO / "tests" / "golden" / "taskweaver" / "replies.json").read_text())
CASE = """\
eval_query:
  - user_query: first question
    scoring_points:
      - {score_point: statement one, weight: 1}
      - {score_point: statement two, weight: 1}
      - {score_point: statement three is wrong, weight: 1}
  - user_query: second question
    post_index: -1
    scoring_points:
      - {score_point: statement four is wrong, weight: 2}
      - score_point: the agent answers
        weight: 0.5
        eval_code: return agent_response["message"] == "You said second question"
"""
AGENT = '''\
"""Repeats what it hears, and fails or ends where it is told to."""

import os
from pathlib import Path


def answer(message):
    with Path(os.environ["HEARD"]).open("a") as file:
        file.write(message + chr(10))
    if message == "break":
        raise RuntimeError("I cannot go on")
    if message == "die":
        os._exit(7)
    return f"You said {message}"
'''


def judge(messages: list[Any], body: Any) -> Any:
    text = all_text(messages)
    return json.dumps({"reason": "so it is", "is_hit": "no" if "is wrong" in text else "yes"})


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(judge) as running:
        yield running


@pytest.fixture
def weaver(cli: Any, server: FakeServer) -> Callable[..., Any]:
    (cli.folder / "repeater.py").write_text(AGENT)
    (cli.folder / "cases").mkdir()
    (cli.folder / "cases" / "two.yaml").write_text(CASE)
    cli.env["HEARD"] = str(cli.folder / "heard.txt")

    def run(*args: str, agent: str = "python:repeater:answer", code: int = 0) -> Any:
        who = ["--agent", agent, "--agent-option", "in_process=true"] if agent else []
        return cli("taskweaver", *args, *who, "--judge", f"openai:j@{server.url}", code=code)

    return run


def heard(cli: Any) -> list[str]:
    path = cli.folder / "heard.txt"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("row", GOLDEN["threshold"], ids=lambda row: str(row["threshold"]))
@pytest.mark.sampled(10)
@pytest.mark.slow
def test_the_threshold_ends_a_case_strictly_below(
    weaver: Callable[..., Any], cli: Any, row: Any
) -> None:
    low = row["threshold"]
    asked = ("-t", repr(low)) if low is not None else ()
    weaver("-m", "batch", "-f", "cases", *asked)
    lines = (cli.folder / "sample_case_results.csv").read_text().splitlines()
    assert lines[0] == "case_file,round,score,normalized_score"
    found = [line.split(",") for line in lines[1:]]
    assert [
        (name, int(turn), float(score), float(share)) for name, turn, score, share in found
    ] == [
        ("two.yaml", turn, score, pytest.approx(share)) for turn, score, share in row["score_list"]
    ]
    assert len(heard(cli)) == len(row["score_list"])


@pytest.mark.slow
def test_a_batch_passes_over_what_is_done_and_flush_replaces_it(
    weaver: Callable[..., Any], cli: Any
) -> None:
    weaver("-m", "batch", "-f", "cases", "-r", "r.csv")
    first = (cli.folder / "r.csv").read_text()
    (cli.folder / "cases" / "more.yaml").write_text(CASE.replace("first", "another"))
    again = weaver("-m", "batch", "-f", "cases", "-r", "r.csv")
    assert "1 cases are in r.csv already" in again.stderr
    second = "second question"
    assert heard(cli) == ["first question", second, "another question", second]
    both = (cli.folder / "r.csv").read_text()
    assert both.startswith(first)
    assert len(both.splitlines()) == 5
    assert "nothing to do" in weaver("-m", "batch", "-f", "cases", "-r", "r.csv").stderr
    weaver("-m", "batch", "-f", "cases", "-r", "r.csv", "-flush")
    flushed = (cli.folder / "r.csv").read_text()
    assert sorted(flushed.splitlines()) == sorted(both.splitlines()), "rows are replaced"
    assert len(heard(cli)) == 8, "the agent was asked again"


@pytest.mark.slow
def test_the_flags_of_newer_versions(weaver: Callable[..., Any], cli: Any) -> None:
    (cli.folder / "cases" / "more.yaml").write_text(CASE.replace("first", "another"))
    started = time.monotonic()
    weaver("-m", "batch", "-p", "cases", "-s", "0.3")
    assert time.monotonic() - started > 0.3
    assert len(heard(cli)) == 4
    assert heard(cli)[1] == heard(cli)[3] == "second question", "one after the other"
    weaver("-m", "batch", "-f", "-p", "./cases")
    weaver("-m", "batch", "-p", "cases", "-f")
    weaver("-m", "batch", "-p", "cases", "--fresh")
    assert len(heard(cli)) == 4 * 4, "examined again each time"
    assert len((cli.folder / "sample_case_results.csv").read_text().splitlines()) == 5
    for args in (("-f", "cases", "-p", "cases"), ("-f",), ()):
        assert "-f" in weaver("-m", "batch", *args, code=2).stderr


@pytest.mark.slow
def test_one_case_prints_why_and_writes_no_file(weaver: Callable[..., Any], cli: Any) -> None:
    said = weaver("-m", "single", "-f", "cases/two.yaml").stdout
    assert "round 0: score 2, normalized 0.6667" in said
    assert "miss     statement three is wrong (weight 1): so it is" in said
    assert "hit      the agent answers (weight 0.5): the code returned True" in said
    assert not list(cli.folder.glob("*.csv"))


@pytest.mark.slow
def test_a_broken_case_is_reported_and_the_rest_goes_on(
    weaver: Callable[..., Any], cli: Any
) -> None:
    (cli.folder / "cases" / "bad.yaml").write_text(CASE.replace("weight: 2", "weight: 0"))
    (cli.folder / "cases" / "stray.txt").write_text("not a case")
    done = weaver("-m", "batch", "-f", "cases", code=3)
    assert "bad.yaml:10:" in done.stderr
    assert "expected more than 0" in done.stderr
    assert "two.yaml,1,0.5,0.2" in (cli.folder / "sample_case_results.csv").read_text()
    assert "bad.yaml" in weaver("-m", "single", "-f", "cases/bad.yaml", code=2).stderr


def test_code_that_is_not_python_is_reported_with_its_line_and_the_rest_goes_on(
    weaver: Callable[..., Any], cli: Any
) -> None:
    broken = CASE.replace(
        'return agent_response["message"] ==', 'retrun agent_response["message"] =='
    )
    (cli.folder / "cases" / "bad.yaml").write_text(broken)
    done = weaver("-m", "batch", "-f", "cases", code=3)
    assert "bad.yaml:13:" in done.stderr
    assert "the code is not Python: invalid syntax" in done.stderr
    assert "two.yaml,1,0.5,0.2" in (cli.folder / "sample_case_results.csv").read_text()
    assert "bad.yaml:13:" in weaver("-m", "single", "-f", "cases/bad.yaml", code=2).stderr


def test_an_agent_that_raises_is_an_error_and_nobody_is_asked_about_it(
    weaver: Callable[..., Any], cli: Any, server: FakeServer
) -> None:
    (cli.folder / "cases" / "two.yaml").write_text(CASE.replace("second question", "break", 1))
    done = weaver("-m", "single", "-f", "cases/two.yaml", "--json", code=3)
    found = json.loads(done.stdout)
    assert found["run"]["status"] == "incomplete"
    assert (found["totals"]["errors"], found["totals"]["rate"]) == (1, None)
    attempt = found["cases"][0]["attempts"][0]
    assert attempt["error"].startswith("the agent failed: it raised RuntimeError: I cannot go on")
    assert "raise RuntimeError" in attempt["traceback"]
    assert not [call for call in server.calls if call.role != "models"], "nobody was asked"
    assert "failed: the agent failed: it raised RuntimeError" in done.stderr
    batch = weaver("-m", "batch", "-f", "cases", code=3)
    assert batch.stdout.startswith(
        "incomplete: 1 of 1 attempts failed: the agent failed: it raised"
    )
    assert "two.yaml" not in (cli.folder / "sample_case_results.csv").read_text()


@pytest.mark.slow
def test_the_judges_failure_is_unscored_and_asked_again(
    cli: Any, weaver: Callable[..., Any]
) -> None:
    mended: list[bool] = []

    def says(messages: list[Any], body: Any) -> Any:
        return judge(messages, body) if mended else "I would rather not say."

    with FakeServer(says) as mute:
        args = ("taskweaver", "-m", "batch", "-f", "cases", "--agent", "python:repeater:answer",
                "--judge", f"openai:m@{mute.url}")  # fmt: skip
        done = cli(*args, code=3)
        assert "round 0: unscored" in done.stdout
        result = cli.folder / "sample_case_results.csv"
        assert result.read_text() == "case_file,round,score,normalized_score\n"
        count = len(mute.calls)
        cli(*args, "-flush", code=3)
        assert len(mute.calls) == 2 * count, "the next batch asks anew"
        mended.append(True)
        cli(*args)
        assert len(mute.calls) == 2 * count + 4
        assert result.read_text().splitlines()[1:] == [
            "two.yaml,0,2,0.6666666666666666", "two.yaml,1,0.5,0.2"]  # fmt: skip


def test_the_same_by_run(cli: Any, weaver: Callable[..., Any], server: FakeServer) -> None:
    done = cli("run", "cases", "--agent", "python:repeater:answer", "--stop-below", "0.9",
               "--judge", f"openai:j@{server.url}", "--json", "--cases",
               "--layout", "taskweaver", "--out", "out")  # fmt: skip
    attempt = json.loads(done.stdout)["cases"][0]["attempts"][0]
    assert [turn["status"] for turn in attempt["turns"]] == ["scored", "not_reached"]
    assert attempt["value"] == pytest.approx(2 / 5.5), "turns not reached count as missed"
    rows = (cli.folder / "out" / "sample_case_results.csv").read_text().splitlines()
    assert rows[1:] == ["two.yaml,0,2,0.6666666666666666"]


def test_an_agent_that_is_not_there(weaver: Callable[..., Any]) -> None:
    said = weaver("-m", "single", "-f", "cases/two.yaml", agent="", code=2).stderr
    assert "taskweaver" in said
    assert "fix:" in said


@pytest.mark.slow
def test_the_quick_start(cli: Any, server: FakeServer) -> None:
    """Follow examples/taskweaver/README.md, with a judge on this machine."""
    shutil.copytree(REPO / "examples" / "taskweaver", cli.folder, dirs_exist_ok=True)
    template = json.loads((cli.folder / "evaluator_config_template.json").read_text())
    config = {**template, "llm.api_base": server.url, "llm.api_key": "a-key"}
    (cli.folder / "evaluator_config.json").write_text(json.dumps(config))
    server.script = _user_and_judge
    text = (cli.folder / "README.md").read_text()
    steps = text.partition("1. Choose the judge")[2]
    commands = [line.split() for line in steps.splitlines() if line.strip().startswith("proctor t")]
    assert len(commands) == 2
    single = cli(*commands[0][1:]).stdout
    assert "sums.yaml" in single
    cli(*commands[1][1:])
    rows = (cli.folder / "sample_case_results.csv").read_text().splitlines()
    assert rows == [
        "case_file,round,score,normalized_score",
        "mean,,3,1.0",
        "say_hello.yaml,0,2,1.0",
        "sums.yaml,0,2,1.0",
        "sums.yaml,1,2.5,1.0",
    ]
    stored = b"".join(p.read_bytes() for p in (cli.folder / ".proctor").rglob("*") if p.is_file())
    assert b"a-key" not in stored


def _user_and_judge(messages: list[Any], body: Any) -> Any:
    if "TASK_FINISHED" in all_text(messages[:1]):
        said = [message for message in messages if message["role"] == "assistant"]
        return "TASK_FINISHED" if said else "What is the mean of numbers.csv?"
    return json.dumps({"is_hit": True, "reason": "yes"})
