"""Calls of tools and their results in a conversation: which result belongs to which call."""

from collections.abc import Sequence
from dataclasses import replace

from proctor.core.suite import Message


def paired(messages: Sequence[Message]) -> list[Message]:
    """Return messages in which every call has an id, and every result names one.

    A result that names none belongs to the first call before it that has no result yet.
    """
    whole: list[Message] = []
    waiting: list[str] = []
    number = 0
    for message in messages:
        if message.tool_calls:
            calls = []
            for call in message.tool_calls:
                number += 1
                calls.append(call if call.id else replace(call, id=f"call_{number}"))
            waiting = [call.id for call in calls]
            message = replace(message, tool_calls=tuple(calls))  # noqa: PLW2901 - the one to keep
        elif message.role == "tool":
            call_id = message.tool_call_id or next(iter(waiting), "")
            waiting = [one for one in waiting if one != call_id]
            message = replace(message, tool_call_id=call_id)  # noqa: PLW2901 - the one to keep
        whole.append(message)
    return whole


def tool_names(messages: Sequence[Message]) -> dict[str, str]:
    """Return the names of the tools that were called, by the id of the call."""
    return {call.id: call.name for message in messages for call in message.tool_calls}
