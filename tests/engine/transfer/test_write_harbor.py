"""Runs written as jobs of Harbor, and read back."""

import json
from pathlib import Path

import pytest

from atif import AtifTrajectory
from proctor.cli.main import _run
from proctor.core.attempt import AttemptStatus
from proctor.formats.imports.harbor_jobs import HarborJobs

SUITE = """\
name: sums
cases:
  - id: ours/add
    ask: "2 + 2?"
    criteria: [{contains: "4"}]
  - id: ours add
    ask: "Fail."
    criteria: [{contains: "4"}, {keywords: ["4"]}]
"""
AGENT = """\
def answer(message):
    if message == "Fail.":
        raise ValueError("broken on purpose")
    step = {"tool": "calculator", "input": {"sum": message}, "output": "4", "seconds": 0.5}
    used = {"calls": 1, "prompt_tokens": 30, "completion_tokens": 5, "cost": 0.25}
    return {"reply": "It is 4.", "steps": ["I compute.", step], "usage": used}
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.yaml").write_text(SUITE)
    (tmp_path / "sum_agent.py").write_text(AGENT)
    run = ["run", "sums.yaml", "--agent", "python:sum_agent.py:answer", "--attempts", "2", "--json"]
    assert _run(run) == 3
    assert _run(["export", "@last", "--as", "harbor", "--out", "job"]) == 0
    return tmp_path / "job"


def test_every_attempt_is_a_trial_with_its_trajectory(job: Path) -> None:
    trials = sorted(path.name for path in job.iterdir())
    assert len(trials) == 4
    assert trials[2:] == ["ours-add__1", "ours-add__2"]
    for name in trials:
        AtifTrajectory.model_validate_json((job / name / "agent" / "trajectory.json").read_text())
    trajectory = AtifTrajectory.model_validate_json(
        (job / "ours-add__1" / "agent" / "trajectory.json").read_text()
    )
    question, thought, call, reply = trajectory.steps
    assert (question.message, thought.message, reply.message) == (
        "2 + 2?",
        "I compute.",
        "It is 4.",
    )
    assert call.observation is not None
    assert call.observation.results[0].content == "4"
    assert call.extra == {"took": {"seconds": 0.5}}
    assert trajectory.final_metrics.total_cost_usd == 0.25
    result = json.loads((job / "ours-add__1" / "result.json").read_text())
    assert result["verifier_result"] == {"rewards": {"reward": 1.0}}
    assert result["agent_result"] == {
        "n_input_tokens": 30, "n_cache_tokens": None, "n_output_tokens": 5, "cost_usd": 0.25,
    }  # fmt: skip
    assert result["exception_info"] is None
    failed = json.loads((job / trials[0] / "result.json").read_text())
    assert failed["verifier_result"] is None
    assert failed["exception_info"]["exception_type"] == "candidate_failure"
    assert "broken on purpose" in failed["exception_info"]["exception_message"]


def test_a_job_is_read_back(job: Path) -> None:
    assert HarborJobs().recognises(job)
    [kept] = HarborJobs().read(job)
    assert {case.id: case.prompt for case in kept.suite.cases} == {
        "ours/add": "2 + 2?", "ours add": "Fail.",
    }  # fmt: skip
    [run] = kept.runs
    rows = {(attempt.case_id, attempt.index): (attempt, scores) for _, attempt, scores in run.rows}
    attempt, scores = rows["ours/add", 1]
    assert scores["reward"].points == 1.0
    assert attempt.output == "It is 4."
    assert attempt.messages[1].tool_calls[0].arguments == {"sum": "2 + 2?"}
    assert attempt.messages[2].content == "4"
    assert rows["ours add", 0][0].status is AttemptStatus.ERROR
    assert attempt.usage["candidate"]["cost"] == 0.25


def test_rewards_of_several_criteria_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.yaml").write_text(SUITE)
    (tmp_path / "answers.jsonl").write_text(
        '{"case": "ours/add", "output": "4"}\n{"case": "ours add", "output": "4"}\n'
    )
    assert _run(["run", "sums.yaml", "--answers", "answers.jsonl", "--json"]) == 0
    assert _run(["export", "@last", "@last", "--as", "harbor", "--out", "job", "--json"]) == 0
    names = sorted(path.name for path in (tmp_path / "job").iterdir())
    assert [name.rpartition("__")[2] for name in names] == ["1-1", "2-1", "1-1", "2-1"]
    result = json.loads((tmp_path / "job" / names[0] / "result.json").read_text())
    assert result["verifier_result"]["rewards"].keys() == {"contains", "keywords"}


def test_what_is_there_is_not_overwritten(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["export", "@last", "--as", "harbor", "--out", "job"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert _run(["export", "@last", "--out", "job"]) == 2
    assert "is a folder" in capsys.readouterr().err
