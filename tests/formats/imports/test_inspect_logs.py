"""Logs of Inspect: a real one, and the parts that it does not have."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.errors import SuiteError
from proctor.formats.imports.inspect_logs import InspectLogs
from proctor.io.text_files import LIMITS

GOLDEN = Path(__file__).parents[2] / "golden" / "imports" / "inspect"


def mean(kept: Any, metric: str) -> float:
    values = [scores[metric].points for _, _, scores in kept.runs[0].rows]
    return sum(values) / len(values)


@pytest.mark.parametrize("name", ["quiz.eval", "quiz.json"])
def test_a_log_of_the_real_program(name: str) -> None:
    path = GOLDEN / name
    assert InspectLogs().recognises(path)
    [kept] = InspectLogs().read(path)
    assert kept.suite.name == "quiz"
    assert mean(kept, "includes") == pytest.approx(0.6667, abs=1e-4)
    assert mean(kept, "length") == 3.5
    assert mean(kept, "polite") == pytest.approx(0.3333, abs=1e-4)
    assert len(kept.suite.cases) == 6
    assert len(kept.runs[0].rows) == 12
    case = kept.suite.cases[0]
    assert [message.role for message in case.messages] == ["system", "user"]
    assert case.references == ("0",)
    assert case.tags == {"topic": ("even",)}
    _, attempt, _ = kept.runs[0].rows[0]
    assert attempt.output == "0 please"
    assert attempt.usage["candidate"] == {
        "calls": 1, "prompt_tokens": 5, "completion_tokens": 3,
    }  # fmt: skip
    weights = {c.id: c.weight for c in case.criteria}
    assert weights == {"includes": 1.0, "length": 0.0, "polite": 0.0}


def log(folder: Path, **sample: Any) -> Path:
    samples = [{"id": 1, "epoch": 1, "input": "?", "target": ["a", "b"], **sample}]
    data = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
    path = folder / "log.json"
    path.write_text(json.dumps({**data, "samples": samples}))
    return path


@pytest.mark.parametrize(
    ("value", "points"),
    [
        ("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), ("yes", 1.0), ("False", 0.0),
        (0.25, 0.25), (True, 1.0), ("0.5", 0.5), ("maybe", None), (None, None), ([1, 2], None),
    ],
)  # fmt: skip
def test_values(tmp_path: Path, value: Any, points: float | None) -> None:
    path = log(tmp_path, scores={"s": {"value": value}})
    [kept] = InspectLogs().read(path)
    [(_, _, scores)] = kept.runs[0].rows
    assert scores["s"].points == points


def test_parts_attachments_calls_and_errors(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "?"},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "hm"},
                {"type": "text", "text": "attachment://x"},
            ],
            "tool_calls": [{"id": "1", "function": "f", "arguments": {"a": 1}, "type": "function"}],
        },
        {"role": "tool", "content": "2", "tool_call_id": "1"},
    ]
    path = log(
        tmp_path, messages=messages, attachments={"x": "long"}, error={"message": "rate limit"}
    )
    [kept] = InspectLogs().read(path)
    [(_, attempt, scores)] = kept.runs[0].rows
    reply, result = attempt.messages
    assert (reply.content, reply.thinking) == ("long", "hm")
    assert (reply.tool_calls[0].name, reply.tool_calls[0].arguments) == ("f", {"a": 1})
    assert (result.role, result.content, result.tool_call_id) == ("tool", "2", "1")
    assert (attempt.status, attempt.error, scores) == (AttemptStatus.ERROR, "rate limit", {})
    assert kept.suite.cases[0].references == ("a", "b")


def test_what_is_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.eval"
    other.write_bytes(b"no")
    with pytest.raises(SuiteError, match="ZIP"):
        list(InspectLogs().read(other))
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("x.json", "{}")
    with pytest.raises(SuiteError, match="no log of Inspect"):
        list(InspectLogs().read(other))
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", '{"eval": {"task": "t"}, "x": "' + "a" * 100_000 + '"}')
    monkeypatch.setitem(LIMITS, "decoded", 10_000)  # type: ignore[misc]
    with pytest.raises(SuiteError, match="more than 10,000 bytes"):
        list(InspectLogs().read(other))
    assert not InspectLogs().recognises(tmp_path)
