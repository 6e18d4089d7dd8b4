"""Traces in OTLP's JSON, by both conventions."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.errors import SuiteError
from proctor.formats.imports.otlp_traces import OtlpTraces


def attributes(**values: Any) -> list[dict[str, Any]]:
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return [
        {"key": key.replace("__", "."), "value": {kinds[type(value)]: value}}
        for key, value in values.items()
    ]


def spans(*entries: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": attributes(service__name="bot")}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(entries)}]}]}


def span(trace: str, name: str, parent: str = "", *, at: int = 0, **values: Any) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": name,
        "parentSpanId": parent,
        "startTimeUnixNano": str((1_000 + at) * 10**9),
        "endTimeUnixNano": str((1_010 + at) * 10**9),
        "attributes": attributes(**values),
    }


def chat(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


CALL = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "1", "name": "add", "arguments": {"a": 1}}],
}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "2"}]}


def write(path: Path, *documents: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(document) for document in documents))
    return path


def test_genai_conventions(tmp_path: Path) -> None:
    asked = json.dumps([chat("user", "1 + 1?"), CALL, RESULT])
    said = json.dumps([chat("assistant", "2")])
    usage = {"gen_ai__usage__input_tokens": 7, "gen_ai__usage__output_tokens": 2}
    model = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "m", **usage}
    messages = {"gen_ai__input__messages": asked, "gen_ai__output__messages": said}
    rules = {"gen_ai__system_instructions": json.dumps([{"type": "text", "content": "Brief."}])}
    event = {
        "name": "gen_ai.evaluation.result",
        "attributes": attributes(
            gen_ai__evaluation__name="correct",
            gen_ai__evaluation__score__value=1.0,
            gen_ai__evaluation__explanation="it is",
        ),
    }
    first = span("t", "b", "a", **model)
    last = {**span("t", "c", "a", at=3, **model, **messages, **rules), "events": [event]}
    record = {
        "traceId": "t",
        "eventName": "gen_ai.evaluation.result",
        "attributes": attributes(
            gen_ai__evaluation__name="polite", gen_ai__evaluation__score__label="fail"
        ),
    }
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    path = write(tmp_path / "t.jsonl", spans(span("t", "a"), first, last), logs)
    assert OtlpTraces().recognises(path)
    [kept] = OtlpTraces().read(path)
    [run] = kept.runs
    assert run.name == "t bot m"
    [case] = kept.suite.cases
    assert [(m.role, m.content) for m in case.messages] == [
        ("system", "Brief."),
        ("user", "1 + 1?"),
    ]
    [(_, attempt, scores)] = run.rows
    assert [m.role for m in attempt.messages] == ["assistant", "tool", "assistant"]
    assert attempt.messages[0].tool_calls[0].arguments == {"a": 1}
    assert attempt.output == "2"
    assert attempt.usage["candidate"] == {
        "calls": 2, "prompt_tokens": 14, "completion_tokens": 4,
    }  # fmt: skip
    assert attempt.seconds == 10.0
    assert (scores["correct"].points, scores["correct"].reason) == (1.0, "it is")
    assert scores["polite"].points == 0.0


def test_openinference(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "openinference__span__kind": "LLM",
        "llm__model_name": "m",
        "llm__token_count__prompt": 3,
        "llm__input_messages__0__message__role": "user",
        "llm__input_messages__0__message__content": "hi",
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__tool_calls__0__tool_call__id": "1",
        "llm__output_messages__0__message__tool_calls__0__tool_call__function__name": "f",
        "llm__output_messages__0__message__tool_calls__0__tool_call__function__arguments": "{}",
    }
    path = write(tmp_path / "t.json", spans(span("t", "a", **values)))
    [kept] = OtlpTraces().read(path)
    [(_, attempt, _)] = kept.runs[0].rows
    assert kept.suite.cases[0].messages[0].content == "hi"
    assert attempt.messages[0].tool_calls[0].name == "f"


def test_input_and_output_of_the_first_span(tmp_path: Path) -> None:
    root = span("t", "a", input__value="why?", output__value="because")
    failed = {**span("u", "a", input__value="why?"), "status": {"code": 2, "message": "lost"}}
    [kept] = OtlpTraces().read(write(tmp_path / "t.json", spans(root, failed)))
    attempts = [attempt for _, attempt, _ in kept.runs[0].rows]
    assert attempts[0].output == "because"
    assert (attempts[1].status, attempts[1].error) == (AttemptStatus.ERROR, "lost")


@pytest.mark.parametrize(
    "text",
    [
        '{"resourceSpans": []}',
        '{"resourceSpans": 3}',
        "[]",
        '{"resourceSpans": [{"scopeSpans": 1}]}',
    ],
)
def test_files_without_messages(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(SuiteError):
        list(OtlpTraces().read(path))
