"""Claude Code as an agent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from proctor.agents.coding import CodingAgent
from proctor.agents.coding_turn import KEY, AgentTurn, Proxied
from proctor.core.exchange import MESSAGES
from proctor.core.suite import Json


@dataclass(kw_only=True)
class ClaudeCode(CodingAgent):
    """Anthropic's coding agent, asked by Messages."""

    name: ClassVar[str] = "claude-code"
    command: ClassVar[str] = "claude"
    package: ClassVar[str] = "@anthropic-ai/claude-code"
    told_in: ClassVar[str] = "CLAUDE.md"
    skills_in: ClassVar[str] = ".claude/skills"
    told_home: ClassVar[Mapping[str, str]] = {"CLAUDE_CONFIG_DIR": ".claude"}
    speaks: ClassVar[frozenset[str]] = frozenset({MESSAGES})

    def argv(self, session: str, proxied: Proxied) -> list[str]:
        words = ["-p", "--output-format", "stream-json", "--verbose"]
        words += ["--dangerously-skip-permissions", "--model", proxied.model]
        if self.tools:
            words += ["--tools", ",".join(self.tools)]
        if self.mcp:
            servers = json.dumps({"mcpServers": {n: dict(s) for n, s in self.mcp.items()}})
            words += ["--strict-mcp-config", "--mcp-config", servers]
        if session:
            words += ["--resume", session]
        return [*words, *self.args]

    def variables(self, proxied: Proxied) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": proxied.url,
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_SMALL_FAST_MODEL": proxied.model,
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": proxied.model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            # It refuses to work without questions for a superuser outside of a sandbox.
            "IS_SANDBOX": "1",
        }

    def read(self, events: Sequence[Mapping[str, Json]]) -> AgentTurn:
        told = AgentTurn()
        open_calls: dict[str, dict[str, Json]] = {}
        step: dict[str, Json]
        for event in events:
            told.session = str(event.get("session_id") or told.session)
            if event.get("type") == "result":
                text = event.get("result")
                if event.get("is_error"):
                    told.error = str(text or event.get("subtype") or "it reported an error")
                else:
                    told.reply = str(text or "")
                told.usage = _used(event)
                continue
            # What an agent within the agent does belongs to the call that began it.
            within = open_calls.get(str(event.get("parent_tool_use_id") or ""))
            steps = told.steps if within is None else within.setdefault("steps", [])
            for block in _blocks(event):
                if block.get("type") == "tool_use":
                    step = {"tool": str(block.get("name")), "input": block.get("input")}
                    steps.append(step)
                    open_calls[str(block.get("id"))] = step
                elif block.get("type") == "tool_result":
                    if (called := open_calls.get(str(block.get("tool_use_id")))) is not None:
                        called["output"] = _text(block.get("content"))
                elif block.get("type") == "text" and event.get("type") == "assistant":
                    steps.append(str(block.get("text") or ""))
        if told.reply is not None and told.steps and told.steps[-1] == told.reply:
            told.steps.pop()
        return told


def _blocks(event: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, Mapping)]


def _text(content: Json) -> Json:
    if not isinstance(content, list):
        return content if content is not None else ""
    texts = [str(part.get("text") or "") for part in content if isinstance(part, Mapping)]
    return "\n".join(texts)


def _used(event: Mapping[str, Json]) -> Json:
    usage = event.get("usage")
    if not isinstance(usage, Mapping):
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [usage.get(name) for name in names]
    return {
        "prompt_tokens": sum(count for count in counts if isinstance(count, int)),
        "completion_tokens": usage.get("output_tokens"),
        "cost": event.get("total_cost_usd"),
    }
