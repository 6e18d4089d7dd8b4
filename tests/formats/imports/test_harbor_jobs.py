"""Jobs of Harbor, written by hand after its documented files."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.errors import SuiteError
from proctor.formats.imports.harbor_jobs import HarborJobs

STEPS = [
    {"source": "user", "message": "Fix the bug."},
    {
        "source": "agent",
        "message": "I run it.",
        "tool_calls": [
            {"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "ls"}}
        ],
        "observation": {"results": [{"source_call_id": "1", "content": "a.py"}]},
    },
    {"source": "agent", "message": "Done."},
]


def trial(job: Path, name: str, **result: Any) -> None:
    folder = job / name / "agent"
    folder.mkdir(parents=True)
    about = {"task_name": name.partition("__")[0], "trial_name": name}
    agent = {"name": "claude-code", "model_info": {"name": "m"}}
    (job / name / "result.json").write_text(json.dumps({**about, "agent_info": agent, **result}))
    (folder / "trajectory.json").write_text(json.dumps({"steps": STEPS}))


def test_a_job(tmp_path: Path) -> None:
    job = tmp_path / "job"
    used = {"n_input_tokens": 10, "n_output_tokens": 5, "cost_usd": 0.5}
    times = {"started_at": "2026-11-18T00:00:00Z", "finished_at": "2026-11-18T00:01:00Z"}
    one = {"verifier_result": {"rewards": {"reward": 1.0}}, "agent_result": used, **times}
    trial(job, "fix__a", **one)
    trial(job, "fix__b", verifier_result={"rewards": 0.0})
    trial(job, "other__a", exception_info={"exception_type": "RateLimit"}, verifier_result=None)
    timed_out = {"exception_type": "AgentTimeout", "exception_message": "late"}
    trial(job, "late__a", exception_info=timed_out, verifier_result={"rewards": {"reward": 1}})
    assert HarborJobs().recognises(job)
    [kept] = HarborJobs().read(job)
    [run] = kept.runs
    assert run.name == "job claude-code m"
    rows = {(attempt.case_id, attempt.index): (attempt, scores) for _, attempt, scores in run.rows}
    attempt, scores = rows["fix", 0]
    assert scores["reward"].points == 1.0
    assert attempt.seconds == 60.0
    assert attempt.usage["candidate"] == {
        "prompt_tokens": 10, "completion_tokens": 5, "cost": 0.5,
    }  # fmt: skip
    assert kept.suite.cases[0].messages[0].content == "Fix the bug."
    assert [message.role for message in attempt.messages] == ["assistant", "tool", "assistant"]
    assert attempt.messages[0].tool_calls[0].arguments == {"command": "ls"}
    assert rows["fix", 1][1]["reward"].points == 0.0
    assert rows["other", 0][0].status is AttemptStatus.ERROR
    late, late_scores = rows["late", 0]
    assert late.status is AttemptStatus.ANSWERED
    assert late_scores["reward"].points == 1.0
    assert late.notes["failure"] == "AgentTimeout: late"


def test_a_folder_without_trials(tmp_path: Path) -> None:
    assert not HarborJobs().recognises(tmp_path)
    with pytest.raises(SuiteError, match="no finished trial"):
        list(HarborJobs().read(tmp_path))
