"""Tool calls as providers write them, as text, and equality of JSON values."""

from typing import Any

import pytest

from proctor.core.suite import Message, ToolCall
from proctor.core.tool_calls import call_from, call_text, calls_of, said_and_called, same_value

PARIS = {"city": "Paris"}


@pytest.mark.parametrize(
    ("data", "call"),
    [
        ("f", ToolCall(name="f")),
        ({"name": "f"}, ToolCall(name="f")),
        ({"name": "f", "arguments": PARIS, "id": "1"}, ToolCall(name="f", arguments=PARIS, id="1")),
        ({"name": "f", "arguments": '{"city": "Paris"}'}, ToolCall(name="f", arguments=PARIS)),
        ({"name": "f", "arguments": "{broken"}, ToolCall(name="f", arguments="{broken")),
        ({"name": "f", "arguments": ""}, ToolCall(name="f")),
        ({"name": "f", "arguments": None}, ToolCall(name="f")),
        ({"name": "f", "arguments": [1]}, ToolCall(name="f", arguments=[1])),
        (
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            ToolCall(name="f", arguments={"a": 1}, id="c"),
        ),
        (
            {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"},
            ToolCall(name="f", id="c"),
        ),
        (
            {"type": "tool_use", "id": "t", "name": "f", "input": PARIS},
            ToolCall(name="f", arguments=PARIS, id="t"),
        ),
        ({"functionCall": {"name": "f", "args": PARIS}}, ToolCall(name="f", arguments=PARIS)),
    ],
)
def test_a_call_is_read_from_any_provider(data: Any, call: ToolCall) -> None:
    assert call_from(data) == call


@pytest.mark.parametrize("data", ["", {}, {"name": ""}, {"name": 3}, {"function": {}}, 3, None, []])
def test_what_is_no_call_says_so(data: Any) -> None:
    with pytest.raises(ValueError, match="tool call"):
        call_from(data)


def test_calls_are_shown_after_the_words() -> None:
    calls = (ToolCall(name="f", arguments={"city": "Zürich"}), ToolCall(name="g"))
    odd = ToolCall(name="h", arguments="{broken")
    assert [call_text(call) for call in (*calls, odd)] == [
        'f({"city": "Zürich"})', "g()", "h({broken)",
    ]  # fmt: skip
    message = Message(role="assistant", content="Let me see.", tool_calls=calls)
    assert said_and_called(message) == 'Let me see.\n[calls f({"city": "Zürich"})]\n[calls g()]'
    assert said_and_called(Message(role="assistant", content="", tool_calls=(odd,))) == (
        "[calls h({broken)]"
    )
    assert said_and_called(Message(role="user", content="Hi.")) == "Hi."
    assert calls_of([message, Message(role="tool", content="3"), message]) == [*calls, *calls]


@pytest.mark.parametrize(
    ("wanted", "actual", "how", "same"),
    [
        (1, 1.0, {}, True),
        (1, True, {}, False),
        (True, True, {}, True),
        (None, None, {}, True),
        (None, 0, {}, False),
        ("1", 1, {}, False),
        (1.0, 1.05, {}, False),
        (1.0, 1.05, {"tolerance": 0.1}, True),
        (100.0, 105, {"tolerance": 0.1}, True),
        (1.0, 1.2, {"tolerance": 0.1}, False),
        (10**400, 1.5, {"tolerance": 0.1}, False),
        ("Paris", "paris", {}, False),
        ("Paris", "paris", {"ignore_case": True}, True),
        (["a", 1], ("a", 1), {}, True),
        (["a", 1], [1, "a"], {}, False),
        (["a"], "a", {}, False),
        ({"a": [1]}, {"a": [1.0]}, {}, True),
        ({"a": 1}, {"a": 1, "b": 2}, {}, False),
        ({"a": 1}, [1], {}, False),
        ({"a": {"b": "X"}}, {"a": {"b": "x"}}, {"ignore_case": True}, True),
    ],
)
def test_values_are_compared_as_json(
    wanted: Any, actual: Any, how: dict[str, Any], same: bool
) -> None:
    assert same_value(wanted, actual, **how) is same
