"""Tool calls as people and providers write them, as text, and compared by value."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isclose, isfinite

from proctor.core.attempt import Attempt
from proctor.core.suite import Json, Message, ToolCall


def call_from(data: Json) -> ToolCall:
    """Read a call in our own form or in a provider's, or raise a ValueError that says why not.

    ``{name, arguments[, id]}``; OpenAI's ``{id, type: function, function: {name, arguments}}`` and
    ``{type: function_call, call_id, name, arguments}``; Anthropic's
    ``{type: tool_use, id, name, input}``; Gemini's ``{functionCall: {name, args}}``.
    """
    if isinstance(data, str) and data:
        return ToolCall(name=data)
    if not isinstance(data, Mapping):
        raise ValueError("a tool call is an object with a 'name' and its 'arguments'")
    inner = data
    for key in ("function", "functionCall", "function_call"):
        if isinstance(data.get(key), Mapping):
            inner = data[key]
    name = inner.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("a tool call has no 'name'")
    key = next((key for key in ("arguments", "input", "args") if key in inner), "")
    own_id = data.get("call_id") or data.get("id") or inner.get("id") or ""
    return ToolCall(name=name, arguments=decoded(inner[key]) if key else {}, id=str(own_id))


def decoded(arguments: Json) -> Json:
    """Return arguments as a JSON value; a text that is no JSON stays what it is."""
    if arguments is None:
        return {}
    if not isinstance(arguments, str):
        return arguments
    if not arguments.strip():
        return {}
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def call_text(call: ToolCall) -> str:
    """Write a call for people and judges: ``get_weather({"city": "Paris"})``."""
    if isinstance(call.arguments, str):
        return f"{call.name}({call.arguments})"
    shown = json.dumps(call.arguments, ensure_ascii=False, default=str) if call.arguments else ""
    return f"{call.name}({shown})"


def said_and_called(message: Message) -> str:
    """Return the words of a message, followed by the tools that it calls, a line each."""
    if not message.tool_calls:
        return message.content
    lines = [f"[calls {call_text(call)}]" for call in message.tool_calls]
    return "\n".join([message.content, *lines] if message.content else lines)


def answer_text(attempt: Attempt) -> str:
    """Return the answer of an attempt, or the calls that it ends with where it has no words."""
    if attempt.output or not attempt.messages:
        return attempt.output
    return said_and_called(attempt.messages[-1])


def calls_of(messages: Iterable[Message]) -> list[ToolCall]:
    """Return all calls of a transcript, in order."""
    return [call for message in messages for call in message.tool_calls]


def same_value(
    wanted: Json, actual: Json, *, tolerance: float = 0.0, ignore_case: bool = False
) -> bool:
    """Tell whether two JSON values are equal; 1 equals 1.0, and true is no number.

    Numbers may differ by ``tolerance``, absolutely or as a share of the greater one.
    """
    if isinstance(wanted, Mapping):
        return (
            isinstance(actual, Mapping)
            and wanted.keys() == actual.keys()
            and all(
                same_value(part, actual[key], tolerance=tolerance, ignore_case=ignore_case)
                for key, part in wanted.items()
            )
        )
    if is_list(wanted):
        return (
            is_list(actual)
            and len(wanted) == len(actual)
            and all(
                same_value(*pair, tolerance=tolerance, ignore_case=ignore_case)
                for pair in zip(wanted, actual, strict=True)
            )
        )
    if isinstance(wanted, bool) or isinstance(actual, bool):
        return wanted is actual
    if isinstance(wanted, int | float) and isinstance(actual, int | float):
        return _same_number(wanted, actual, tolerance)
    if isinstance(wanted, str) and isinstance(actual, str) and ignore_case:
        return wanted.casefold() == actual.casefold()
    return type(wanted) is type(actual) and bool(wanted == actual)


def is_list(value: Json) -> bool:
    """Tell whether a value is a list of JSON; parameters keep theirs as tuples."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _same_number(wanted: float, actual: float, tolerance: float) -> bool:
    if wanted == actual:
        return True
    try:
        near = isclose(wanted, actual, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:
        return False
    return bool(tolerance) and isfinite(actual) and near
