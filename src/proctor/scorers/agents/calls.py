"""The tools that an agent called, as its rounds tell of them."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from proctor.core.attempt import Attempt
from proctor.core.rounds import AGENT, USER, rounds_of
from proctor.core.suite import Json
from proctor.core.tool_calls import call_from, calls_of, decoded

SHELLS = frozenset({
    "bash", "command_execution", "exec", "exec_command", "execute", "execute_command",
    "local_shell", "run_command", "run_shell_command", "shell", "sh", "terminal",
})  # fmt: skip
"""What agents call the tool that runs commands."""
_COMMANDS = ("command", "cmd", "script", "commands")


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One call of a tool: its name, what it was called with, and what came back."""

    tool: str
    text: str
    output: str = ""

    @property
    def command(self) -> str:
        """Return the command that it ran; empty where it ran none."""
        text = decoded(self.text)
        if isinstance(text, Mapping):
            words = next((text[name] for name in _COMMANDS if text.get(name)), "")
            return _line(words)
        return _line(text) if self.tool.lower() in SHELLS else ""


def agent_calls(attempt: Attempt) -> list[AgentCall]:
    """Return all calls of an attempt, in order.

    An agent that tells of no steps is known by what its model asked for.
    """
    rounds = rounds_of(attempt)
    if not rounds:
        return [
            AgentCall(call.name, _as_text(call.arguments)) for call in calls_of(attempt.messages)
        ]
    return [call for one in rounds for call in list(_steps(one)) or list(_asked_for(one))]


def _steps(one: Json) -> Iterator[AgentCall]:
    posts = [post for post in one.get("post_list") or () if isinstance(post, Mapping)]
    for place, post in enumerate(posts):
        tool = str(post.get("send_to"))
        if post.get("send_from") != AGENT or tool in (USER, AGENT):
            continue
        back = posts[place + 1] if place + 1 < len(posts) else {}
        answers = back.get("send_from") == tool and back.get("send_to") == AGENT
        output = str(back.get("message") or "") if answers else ""
        yield AgentCall(tool, str(post.get("message") or ""), output)


def _asked_for(one: Json) -> Iterator[AgentCall]:
    for post in one.get("post_list") or ():
        for attached in post.get("attachment_list") or ():
            if attached.get("type") != "function":
                continue
            try:
                call = call_from(attached.get("content"))
            except ValueError:
                continue
            yield AgentCall(call.name, _as_text(call.arguments))


def _line(words: Json) -> str:
    if isinstance(words, list):
        return shlex.join(str(word) for word in words)
    return words if isinstance(words, str) else ""


def _as_text(value: Json) -> str:
    from proctor.io import json_bytes

    return value if isinstance(value, str) else json_bytes.dumps(value).decode()
