"""A call that passed the proxy: what was asked, what came back, what it took."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.core.exchange import Usage
from proctor.core.rounds import AGENT, Attachment, Post
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.io.event_stream import event_data, split_events

MODEL = "Model"
"""The role of a model in the rounds of an agent that asks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyCall:
    """Hold one call of an agent."""

    path: str
    model: str
    asked: Json
    """The messages of the request."""
    said: str
    tools: tuple[Json, ...] = ()
    """The tools that the model wants called."""
    status: int = 200
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    at: float = 0.0

    @property
    def post(self) -> Post:
        """Return the call as a step of the agent: the model's words, with what it was asked."""
        attachments = [Attachment(type="model_request", content=self.asked)]
        attachments += [Attachment(type="function", content=tool) for tool in self.tools]
        took = {
            "model": self.model,
            "status": self.status,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost": self.usage.cost,
            "seconds": round(self.seconds, 3),
        }
        attachments.append(Attachment(type="model_usage", content=took))
        return Post(
            message=self.said, send_from=MODEL, send_to=AGENT, attachments=tuple(attachments)
        )

    def to_json(self) -> dict[str, Json]:
        """Write the call as a line of a record."""
        usage = self.usage
        return {
            "session": "",
            "path": self.path,
            "model": self.model,
            "messages": self.asked,
            "reply": self.said,
            "tool_calls": list(self.tools),
            "status": self.status,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost": usage.cost,
            "seconds": round(self.seconds, 6),
            "at": self.at,
        }


@dataclass(frozen=True, slots=True)
class ProxiedReply:
    """Hold what a reply says: its words, the tools it wants called, and its tokens."""

    said: str = ""
    tools: tuple[Json, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0


def heard_in(body: bytes) -> ProxiedReply:
    """Read a whole reply; one that cannot be read says nothing."""
    try:
        data = json_bytes.loads(body)
    except ValueError:
        return ProxiedReply()
    if not isinstance(data, Mapping):
        return ProxiedReply()
    choice = _first(data.get("choices"))
    message = choice.get("message")
    said = message if isinstance(message, Mapping) else {"content": choice.get("text")}
    return _heard(said, data.get("usage"))


def heard_in_stream(body: bytes) -> ProxiedReply:
    """Put the parts of a streamed reply together."""
    words: list[str] = []
    tools: dict[int, dict[str, Json]] = {}
    usage: Json = None
    for part in json_events(body):
        usage = part.get("usage") or usage
        delta = _first(part.get("choices")).get("delta")
        if not isinstance(delta, Mapping):
            continue
        if isinstance(delta.get("content"), str):
            words.append(delta["content"])
        for call in delta.get("tool_calls") or ():
            if isinstance(call, Mapping):
                _add(tools.setdefault(int(call.get("index") or 0), {}), call)
    return _heard({"content": "".join(words), "tool_calls": list(tools.values())}, usage)


def json_events(body: bytes) -> list[Mapping[str, Json]]:
    """Return the JSON objects of a stream of events."""
    found = []
    for event in split_events(body):
        try:
            data = json_bytes.loads(event_data(event))
        except ValueError:
            continue
        if isinstance(data, Mapping):
            found.append(data)
    return found


def only_usage(event: bytes) -> bool:
    """Tell whether an event of a stream has nothing but the tokens that we asked for."""
    found = json_events(event)
    return bool(found) and all("choices" in part and not part["choices"] for part in found)


def _heard(message: Mapping[str, Json], usage: Json) -> ProxiedReply:
    used = usage if isinstance(usage, Mapping) else {}
    content = message.get("content")
    said = content if isinstance(content, str) else json.dumps(content) if content else ""
    tools = message.get("tool_calls")
    calls = [_tool(call) for call in tools if isinstance(call, Mapping)] if tools else []
    return ProxiedReply(
        said,
        tuple(calls),
        int(used.get("prompt_tokens") or used.get("input_tokens") or 0),
        int(used.get("completion_tokens") or used.get("output_tokens") or 0),
    )


def _tool(call: Mapping[str, Json]) -> Json:
    function = call.get("function")
    known = function if isinstance(function, Mapping) else {}
    return {"name": known.get("name", ""), "arguments": known.get("arguments", "")}


def _add(tool: dict[str, Json], part: Mapping[str, Json]) -> None:
    function = tool.setdefault("function", {"name": "", "arguments": ""})
    new = part.get("function")
    if isinstance(new, Mapping):
        function["name"] += new.get("name") or ""
        function["arguments"] += new.get("arguments") or ""


def _first(choices: Json) -> Mapping[str, Json]:
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return choices[0]
    return {}
