"""What a fake server says: scripts looked up, and replies in both wire formats."""

from typing import Any

import pytest

from proctor.core.suite import ToolCall
from proctor.testing import Answer, Fault
from proctor.testing.replies import (
    all_text,
    chat_completion,
    error_body,
    messages_of,
    messages_reply,
    say,
    spoiled,
    written_script,
)


def body(*texts: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts], **more}


@pytest.mark.parametrize(
    ("script", "nth", "line"),
    [
        (None, 1, "two"),
        ("always", 1, "always"),
        ({"one": "first", "two": "second"}, 1, "first"),
        ([("two", "second"), ("one", "first")], 1, "second"),
        ({"two$": ["a", "b"]}, 1, "a"),
        ({"two$": ["a", "b"]}, 2, "b"),
        ({"two$": ["a", "b"]}, 9, "b"),
        (lambda messages, whole: f"{len(messages)} {whole['model']}", 1, "2 m"),
    ],
)
def test_a_script_says_its_line(script: Any, nth: int, line: str) -> None:
    assert say(script, body("one", "two", model="m"), nth) == line


def test_what_is_not_scripted_is_a_fault_that_names_it() -> None:
    fault = say({"x": "y"}, body("one"), 1)
    assert isinstance(fault, Fault)
    assert "nothing is scripted for 'one'" in fault.message
    assert say(None, {"messages": []}, 1) == ""


def test_texts_in_parts_and_the_system_prompt_are_read() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    messages = messages_of({"system": "s", "messages": [{"role": "user", "content": parts}, "odd"]})
    assert all_text(messages) == "s\na\nb\n"


def test_a_fault_may_change_what_is_said() -> None:
    answer = Answer("four")
    assert spoiled(answer, None) is answer
    assert spoiled(answer, Fault("null_content")).text is None
    assert spoiled(answer, Fault("length")) == Answer("fo", finish="length")
    assert spoiled(answer, Fault("late")) is answer


def test_chat_completions() -> None:
    data = chat_completion(Answer("yes", thinking="hm", tokens=(3, 5)), body("q", model="m"), 7)
    (choice,) = data["choices"]
    assert choice["message"] == {
        "role": "assistant",
        "content": "yes",
        "reasoning_content": "hm",
    }
    assert (data["id"], data["model"], data["usage"]["total_tokens"]) == ("fake-7", "m", 8)
    forced = {"type": "function", "function": {"name": "verdict"}}
    called = chat_completion(Answer('{"a":1}'), body("q", tool_choice=forced), 1)
    message = called["choices"][0]["message"]
    assert message["content"] is None
    assert message["tool_calls"][0]["function"] == {"name": "verdict", "arguments": '{"a":1}'}
    assert chat_completion(Answer("x"), body("12345678"), 1)["usage"]["prompt_tokens"] == 3


def test_log_probabilities_are_given_to_who_wants_them() -> None:
    answer = Answer("a", logprobs={"b": -2.0, "a": -0.5})
    assert "logprobs" not in chat_completion(answer, body("q"), 1)["choices"][0]
    wanted = chat_completion(answer, body("q", logprobs=True, top_logprobs=1), 1)
    (token,) = wanted["choices"][0]["logprobs"]["content"]
    assert (token["token"], len(token["top_logprobs"])) == ("a", 1)


def test_the_messages_api() -> None:
    data = messages_reply(Answer("yes", finish="length", thinking="hm"), body("q"), 1)
    assert [block["type"] for block in data["content"]] == ["thinking", "text"]
    assert data["stop_reason"] == "max_tokens"
    tool = messages_reply(
        Answer('{"a":1}'), body("q", tool_choice={"type": "tool", "name": "v"}), 1
    )
    assert tool["content"][0]["input"] == {"a": 1}
    assert messages_reply(Answer(None), body("q"), 1)["content"] == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "authentication_error"), (429, "rate_limit_error"), (503, "api_error"),
     (400, "invalid_request_error")],
)  # fmt: skip
def test_an_error_has_its_kind(status: int, kind: str) -> None:
    assert error_body(status, "m")["error"] == {"message": "m", "type": kind, "code": status}


@pytest.mark.parametrize(
    ("written", "script"),
    [
        (None, None),
        ("always", "always"),
        ({"a": "b", "c": None}, {"a": "b", "c": None}),
        ({"a": {"text": "b"}}, {"a": Answer("b")}),
        (
            {"a": {"tool_calls": [{"name": "find", "arguments": {"id": 1}}]}},
            {"a": Answer(None, tool_calls=(ToolCall(name="find", arguments={"id": 1}),))},
        ),
        (
            {"a": ["b", {"text": "c", "thinking": "d", "tokens": [3, 4]}]},
            {"a": ["b", Answer("c", thinking="d", tokens=(3, 4))]},
        ),
        ({"a": {"choices": []}}, {"a": {"choices": []}}),
    ],
)
def test_replies_in_full_are_written_as_mappings(written: Any, script: Any) -> None:
    assert written_script(written) == script


@pytest.mark.parametrize(
    "request_body",
    [
        {"messages": [{"role": "tool", "tool_call_id": "1", "content": "21 degrees"}]},
        {"input": [{"type": "function_call_output", "call_id": "1", "output": "21 degrees"}]},
        {
            "messages": [
                {"role": "user", "content": [{"type": "tool_result", "content": "21 degrees"}]}
            ]
        },
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"response": {"result": "21 degrees"}}}],
                }
            ]
        },
    ],
)
def test_patterns_are_looked_for_in_results_of_tools(request_body: dict[str, Any]) -> None:
    assert say({"21 degrees": "warm", "": "unknown"}, request_body, 1) == "warm"
