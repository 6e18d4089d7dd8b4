"""opencode as an agent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from proctor.agents.coding import CodingAgent
from proctor.agents.coding_turn import KEY, AgentTurn, Proxied
from proctor.core.exchange import CHAT
from proctor.core.suite import Json

_PROVIDER = "proctor"


@dataclass(kw_only=True)
class OpenCode(CodingAgent):
    """The open coding agent of that name, asked by chat completions."""

    name: ClassVar[str] = "opencode"
    command: ClassVar[str] = "opencode"
    package: ClassVar[str] = "opencode-ai"
    skills_in: ClassVar[str] = ".config/opencode/skills"
    speaks: ClassVar[frozenset[str]] = frozenset({CHAT})

    def argv(self, session: str, proxied: Proxied) -> list[str]:
        words = ["run", "--format", "json", "--model", f"{_PROVIDER}/{proxied.model}"]
        if session:
            words += ["--session", session]
        return [*words, *self.args]

    def variables(self, proxied: Proxied) -> dict[str, str]:
        return {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    def settings(self, proxied: Proxied) -> Mapping[str, str]:
        config: dict[str, Json] = {
            "autoupdate": False,
            "share": "disabled",
            "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
            "provider": {
                _PROVIDER: {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Proctor",
                    "options": {"baseURL": f"{proxied.url}/v1", "apiKey": KEY},
                    "models": {proxied.model: {"name": proxied.model}},
                }
            },
            "small_model": f"{_PROVIDER}/{proxied.model}",
        }
        if self.mcp:
            config["mcp"] = {name: _server(server) for name, server in self.mcp.items()}
        if self.tools:
            config["tools"] = {"*": False, **dict.fromkeys(self.tools, True)}
        return {".config/opencode/opencode.json": json.dumps(config)}

    def read(self, events: Sequence[Mapping[str, Json]]) -> AgentTurn:
        told = AgentTurn()
        for event in events:
            told.session = str(event.get("sessionID") or told.session)
            part = event.get("part")
            fields = part if isinstance(part, Mapping) else {}
            if event.get("type") == "text":
                if told.reply is not None:
                    told.steps.append(told.reply)
                told.reply = str(fields.get("text") or "")
            elif event.get("type") == "tool_use":
                state = fields.get("state")
                tool_state = state if isinstance(state, Mapping) else {}
                step = told.tool(str(fields.get("tool")), tool_state.get("input"))
                step["output"] = tool_state.get("output") or tool_state.get("error") or ""
            elif event.get("type") == "error":
                error = event.get("error")
                data = error.get("data") if isinstance(error, Mapping) else None
                message = data.get("message") if isinstance(data, Mapping) else error
                told.error = str(message or "it reported an error")
        return told


def _server(server: Mapping[str, Json]) -> Json:
    if server.get("url"):
        return {"type": "remote", "url": server["url"]}
    command = [server.get("command"), *(server.get("args") or ())]
    return {"type": "local", "command": command, "environment": server.get("env") or {}}
