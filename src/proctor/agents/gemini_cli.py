"""Gemini CLI as an agent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from proctor.agents.coding import CodingAgent
from proctor.agents.coding_turn import KEY, AgentTurn, Proxied
from proctor.core.exchange import GEMINI
from proctor.core.suite import Json


@dataclass(kw_only=True)
class GeminiCli(CodingAgent):
    """Google's coding agent, asked by generateContent."""

    name: ClassVar[str] = "gemini-cli"
    command: ClassVar[str] = "gemini"
    package: ClassVar[str] = "@google/gemini-cli"
    told_in: ClassVar[str] = "GEMINI.md"
    skills_in: ClassVar[str] = ".gemini/skills"
    speaks: ClassVar[frozenset[str]] = frozenset({GEMINI})

    def argv(self, session: str, proxied: Proxied) -> list[str]:
        words = ["--output-format", "stream-json", "--approval-mode", "yolo"]
        words += ["--model", proxied.model, "--skip-trust"]
        if session:
            words += ["--resume", session]
        return [*words, *self.args]

    def variables(self, proxied: Proxied) -> dict[str, str]:
        return {
            "GOOGLE_GEMINI_BASE_URL": proxied.url,
            "GEMINI_API_KEY": KEY,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }

    def settings(self, proxied: Proxied) -> Mapping[str, str]:
        settings: dict[str, Json] = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        }
        if self.mcp:
            settings["mcpServers"] = {name: dict(server) for name, server in self.mcp.items()}
        if self.tools:
            settings["tools"] = {"core": list(self.tools)}
        return {".gemini/settings.json": json.dumps(settings)}

    def read(self, events: Sequence[Mapping[str, Json]]) -> AgentTurn:
        told = AgentTurn()
        words: list[str] = []
        open_calls: dict[str, dict[str, Json]] = {}
        for event in events:
            kind = event.get("type")
            if kind == "init":
                told.session = str(event.get("session_id") or "")
            elif kind == "message" and event.get("role") == "assistant":
                words.append(str(event.get("content") or ""))
            elif kind == "tool_use":
                if words:
                    told.steps.append("".join(words))
                    words = []
                step = told.tool(str(event.get("tool_name")), event.get("parameters"))
                open_calls[str(event.get("tool_id"))] = step
            elif kind == "tool_result":
                if (called := open_calls.get(str(event.get("tool_id")))) is not None:
                    called["output"] = event.get("output") or event.get("error") or ""
            elif kind == "result":
                if event.get("status") not in (None, "success"):
                    error = event.get("error")
                    message = error.get("message") if isinstance(error, Mapping) else error
                    told.error = str(message or "it reported an error")
                told.reply = "".join(words)
        return told
