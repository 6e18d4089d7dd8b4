"""One turn of a coding agent: where its model calls go, and what it told of its work."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.core.suite import Json
from proctor.io import json_bytes

KEY = "none"
"""What an agent has in place of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxied:
    """Where an agent's model calls go."""

    url: str
    """The address without the version of the API."""
    model: str
    socket: str = ""


@dataclass
class AgentTurn:
    """What an agent told of one turn."""

    steps: list[Json] = field(default_factory=list)
    reply: str | None = None
    error: str = ""
    session: str = ""
    usage: Json = None

    def tool(self, name: str, tool_input: Json) -> dict[str, Json]:
        """Add a call of a tool, and return it for its output."""
        step: dict[str, Json] = {"tool": name, "input": tool_input}
        self.steps.append(step)
        return step

    def to_json(self) -> dict[str, Json]:
        """Return the turn as it is read into a round."""
        data: dict[str, Json] = {"steps": self.steps, "usage": self.usage}
        return data | ({"error": self.error} if self.error else {"reply": self.reply or ""})


def events_of(out: bytes) -> list[Mapping[str, Json]]:
    """Read lines of JSON; what stands between them is passed over."""
    events: list[Mapping[str, Json]] = []
    for line in out.splitlines():
        try:
            data = json_bytes.loads_foreign(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(data, Mapping):
            events.append(data)
    return events
