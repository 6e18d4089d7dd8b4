"""Codex as an agent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from proctor.agents.coding import CodingAgent
from proctor.agents.coding_turn import KEY, AgentTurn, Proxied
from proctor.core.exchange import RESPONSES
from proctor.core.suite import Json

_KEY_NAME = "PROCTOR_PROXY_KEY"
_TOOLS = {"command_execution": "shell", "file_change": "apply_patch", "web_search": "web_search"}


@dataclass(kw_only=True)
class Codex(CodingAgent):
    """OpenAI's coding agent, asked by Responses."""

    name: ClassVar[str] = "codex"
    command: ClassVar[str] = "codex"
    package: ClassVar[str] = "@openai/codex"
    skills_in: ClassVar[str] = ".codex/skills"
    takes_tools: ClassVar[bool] = False
    told_home: ClassVar[Mapping[str, str]] = {"CODEX_HOME": ".codex"}
    speaks: ClassVar[frozenset[str]] = frozenset({RESPONSES})

    def argv(self, session: str, proxied: Proxied) -> list[str]:
        words = ["exec", "--json", "--skip-git-repo-check"]
        words += ["--dangerously-bypass-approvals-and-sandbox", *self.args]
        return [*words, "resume", session, "-"] if session else [*words, "-"]

    def variables(self, proxied: Proxied) -> dict[str, str]:
        return {_KEY_NAME: KEY}

    def settings(self, proxied: Proxied) -> Mapping[str, str]:
        lines = [
            f"model = {json.dumps(proxied.model)}",
            'model_provider = "proctor"',
            "check_for_update_on_startup = false",
            "[analytics]",
            "enabled = false",
            "[model_providers.proctor]",
            'name = "Proctor"',
            f"base_url = {json.dumps(f'{proxied.url}/v1')}",
            f'env_key = "{_KEY_NAME}"',
            'wire_api = "responses"',
        ]
        for name, server in self.mcp.items():
            lines.append(f"[mcp_servers.{json.dumps(name)}]")
            for field in ("command", "args", "url"):
                if server.get(field):
                    lines.append(f"{field} = {json.dumps(server[field])}")
            variables = server.get("env")
            for key, value in variables.items() if isinstance(variables, Mapping) else ():
                lines.append(f"env.{json.dumps(key)} = {json.dumps(str(value))}")
        return {".codex/config.toml": "\n".join(lines) + "\n"}

    def read(self, events: Sequence[Mapping[str, Json]]) -> AgentTurn:
        told = AgentTurn()
        failed = ""
        for event in events:
            kind, item = event.get("type"), event.get("item")
            if kind == "thread.started":
                told.session = str(event.get("thread_id") or "")
            elif kind == "turn.failed":
                error = event.get("error")
                message = error.get("message") if isinstance(error, Mapping) else error
                told.error = str(message or "its turn failed")
            elif kind == "error":
                failed = str(event.get("message") or "")
            elif kind == "turn.completed":
                told.usage = event.get("usage")
                told.error = ""
            elif kind == "item.completed" and isinstance(item, Mapping):
                _take(told, item)
        if told.reply is None and not told.error:
            told.error = failed
        return told


def _take(told: AgentTurn, item: Mapping[str, Json]) -> None:
    kind = str(item.get("type"))
    if kind == "agent_message":
        if told.reply is not None:
            told.steps.append(told.reply)
        told.reply = str(item.get("text") or "")
    elif kind == "reasoning":
        told.steps.append(str(item.get("text") or ""))
    elif kind == "mcp_tool_call":
        step = told.tool(f"{item.get('server')}.{item.get('tool')}", item.get("arguments"))
        step["output"] = item.get("result") or item.get("error") or ""
    elif kind in _TOOLS:
        tool_input = item.get("command") or item.get("changes") or item.get("query")
        step = told.tool(_TOOLS[kind], tool_input)
        output = item.get("aggregated_output")
        code = item.get("exit_code")
        ended = f"exit status {code}" if isinstance(code, int) and code else item.get("status")
        step["output"] = output if output and not code else f"{output or ''}\n{ended or ''}".strip()
