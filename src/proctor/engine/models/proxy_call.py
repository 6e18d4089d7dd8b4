"""One model call of an agent, as the proxy saw it, and as a step of the agent's round."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.core.exchange import Usage
from proctor.core.rounds import AGENT, Attachment, Post
from proctor.core.suite import Json

MODEL = "Model"
"""The role of the model in the rounds of an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyCall:
    """One model call of an agent."""

    path: str
    model: str
    request_messages: Json
    """The messages of the request."""
    reply_text: str
    tools: tuple[Json, ...] = ()
    """The tool calls that the model requested."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    """What else the request said: sampling, a system prompt, the names of the tools."""
    status: int = 200
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    at: float = 0.0

    @property
    def post(self) -> Post:
        """Return the call as a step of the agent: the reply, with the request attached."""
        attachments = [Attachment(type="model_request", content=self.request_messages)]
        if self.settings:
            attachments.append(Attachment(type="model_settings", content=dict(self.settings)))
        attachments += [Attachment(type="function", content=tool) for tool in self.tools]
        took = {
            "model": self.model,
            "status": self.status,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost": self.usage.cost,
            "seconds": round(self.seconds, 3),
        }
        if self.usage.cached_tokens:
            took["cached_tokens"] = self.usage.cached_tokens
        attachments.append(Attachment(type="model_usage", content=took))
        return Post(
            message=self.reply_text, send_from=MODEL, send_to=AGENT, attachments=tuple(attachments)
        )

    def to_json(self) -> dict[str, Json]:
        """Return the call as JSON for a record."""
        usage = self.usage
        return {
            "session": "",
            "path": self.path,
            "model": self.model,
            "messages": self.request_messages,
            "reply": self.reply_text,
            "tool_calls": list(self.tools),
            "status": self.status,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost": usage.cost,
            "seconds": round(self.seconds, 6),
            "at": self.at,
            **({"cached_tokens": usage.cached_tokens} if usage.cached_tokens else {}),
        }


QUESTIONS = ("messages", "input", "contents", "prompt")
"""What the APIs call the messages of a request."""


def settings_of(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return a request without its messages; of its tools, which every call repeats, the names."""
    rest = {name: value for name, value in body.items() if name not in QUESTIONS}
    if isinstance(rest.get("tools"), list):
        rest["tools"] = [_tool_name(tool) for tool in rest["tools"]]
    return rest


def _tool_name(tool: Json) -> Json:
    """Return the name of a tool, in whatever API it is described."""
    if not isinstance(tool, Mapping):
        return str(tool)
    if isinstance(declared := tool.get("functionDeclarations"), list):
        return [_tool_name(one) for one in declared]
    described = tool.get("function")
    named = described if isinstance(described, Mapping) else tool
    return str(named.get("name") or tool.get("type") or "?")
