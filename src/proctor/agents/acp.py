"""Agents that speak the Agent Client Protocol: JSON-RPC in lines, on standard input and output."""

import asyncio
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from proctor.agents.coding import CodingAgent
from proctor.agents.coding_inside import HOME, InstalledProgram, installed
from proctor.agents.coding_turn import KEY, AgentTurn, Proxied
from proctor.agents.process import AgentProcess, Broken, program_of
from proctor.agents.sessions import TimedSession, object_of
from proctor.agents.steps import round_of
from proctor.contracts.agent import Session, Workspace
from proctor.contracts.environment import Environment
from proctor.core.exchange import CHAT, GEMINI, MESSAGES, RESPONSES
from proctor.core.rounds import Round
from proctor.core.suite import Json
from proctor.io import json_bytes

PROTOCOL = 1
TURN = Path(__file__).parent / "launchers" / "proctor_acp_turn.py"
"""What talks to an agent inside of an environment."""


@dataclass(kw_only=True)
class AcpAgent(CodingAgent):
    """A command that speaks the protocol; all usual variables point it at the proxy."""

    acp_command: str

    name: ClassVar[str] = "acp"
    command: ClassVar[str] = ""
    package: ClassVar[str] = ""
    takes_tools: ClassVar[bool] = False
    speaks: ClassVar[frozenset[str]] = frozenset({CHAT, RESPONSES, MESSAGES, GEMINI})

    @property
    def _words(self) -> list[str]:
        try:
            words = shlex.split(self.acp_command)
        except ValueError:
            return []
        return [
            *words[:1],
            *(str(Path(w).resolve()) if Path(w).is_file() else w for w in words[1:]),
        ]

    @property
    def program_path(self) -> str:
        return program_of(self.program or next(iter(self._words), ""))

    @property
    def identity(self) -> Json:
        identity = super().identity
        assert isinstance(identity, dict)
        return {**identity, "command": self.acp_command}

    @property
    def label(self) -> str:
        return f"acp:{self.acp_command}"

    @property
    def install_line(self) -> str:
        return "install it, or name it by its whole path"

    def argv(self, session: str, proxied: Proxied) -> list[str]:
        return [*self._words[1:], *self.args]

    def variables(self, proxied: Proxied) -> dict[str, str]:
        base = f"{proxied.url}/v1"
        return {
            "OPENAI_BASE_URL": base, "OPENAI_API_BASE": base, "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": proxied.url, "ANTHROPIC_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": proxied.url, "GEMINI_API_KEY": KEY,
        }  # fmt: skip

    def read(self, events: Sequence[Mapping[str, Json]]) -> AgentTurn:
        told = AgentTurn()
        words: list[str] = []
        calls: dict[str, dict[str, Json]] = {}
        for update in events:
            kind = update.get("sessionUpdate")
            if kind == "agent_message_chunk":
                words.append(_text(update.get("content")))
            elif kind in ("tool_call", "tool_call_update"):
                if words:
                    told.steps.append("".join(words))
                    words = []
                own = str(update.get("toolCallId"))
                if own not in calls:
                    title = str(update.get("title") or update.get("kind") or "tool")
                    calls[own] = told.tool(title, update.get("rawInput") or {})
                if update.get("rawInput"):
                    calls[own]["input"] = update["rawInput"]
                if update.get("status") in ("completed", "failed"):
                    calls[own]["output"] = update.get("rawOutput") or _texts(update.get("content"))
            elif isinstance(ended := update.get("proctor"), Mapping):
                told.session = str(ended.get("session") or "")
                if ended.get("stop") != "end_turn":
                    told.error = f"it stopped: {ended.get('stop')}"
        told.reply = "".join(words)
        return told

    @property
    def inside_program(self) -> InstalledProgram:
        return installed(self.program_path, from_system=True)

    def inside_needs(self) -> list[str]:
        words = [word for word in self._words[1:] if Path(word).is_file()]
        return [*super().inside_needs(), *words]

    def inside_files(self) -> dict[str, Json]:
        return {TURN.name: TURN.read_text("utf-8")}

    def inside_turn(
        self, proxied: Proxied, environment: Environment, folder: str, session: str, message: str
    ) -> tuple[Sequence[str], bytes]:
        turn: dict[str, Json] = {
            "argv": [*self.inside_program.argv, *self.argv("", proxied)],
            "cwd": folder,
            "prompt": message,
            "session": session,
            "servers": [_server(name, server) for name, server in self.mcp.items()],
        }
        return [environment.python, "-I", f"{HOME}/{TURN.name}"], json_bytes.dumps(turn)

    def session(self, workspace: Workspace, home: Path, proxied: Proxied) -> Session:
        return AcpSession(
            workspace=workspace, timeout=self.timeout, agent=self, home=home, proxied=proxied
        )


@dataclass
class AcpSession(TimedSession):
    """One process that speaks the protocol as long as the session lasts."""

    agent: AcpAgent | None = None
    home: Path = Path()
    proxied: Proxied | None = None
    _process: AgentProcess | None = None
    _session_id: str = ""
    _last: int = 0
    _updates: list[Mapping[str, Json]] = field(default_factory=list)

    async def answered(self, message: str) -> Round:
        assert self.agent is not None
        if self._process is None:
            await self._begin()
        self._updates = []
        prompt = [{"type": "text", "text": message}]
        ended = await self._ask("session/prompt", {"sessionId": self._session_id, "prompt": prompt})
        told = self.agent.read(self._updates)
        data: dict[str, Json] = {"steps": told.steps, "reply": told.reply}
        if (reason := ended.get("stopReason")) not in (None, "end_turn"):
            data = {"steps": told.steps, "error": f"it stopped: {reason}"}
        return round_of(message, data)

    async def _begin(self) -> None:
        assert self.agent is not None
        assert self.proxied is not None
        argv = self.agent.argv("", self.proxied)
        self._process = await self.agent.started(argv, self.workspace, self.home, self.proxied)
        able = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        await self._ask("initialize", {"protocolVersion": PROTOCOL, "clientCapabilities": able})
        servers = [_server(name, server) for name, server in self.agent.mcp.items()]
        opened = await self._ask(
            "session/new", {"cwd": str(self.workspace.folder), "mcpServers": servers}
        )
        self._session_id = str(opened.get("sessionId") or "")

    async def _ask(self, method: str, params: Json) -> Mapping[str, Json]:
        """Send a request, and serve what the agent asks until it is answered."""
        assert self._process is not None
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while True:
            data = object_of(await self._process.line())
            if "method" in data:
                self._serve(data)
            elif data.get("id") == self._last:
                if (error := data.get("error")) is not None:
                    message = error.get("message") if isinstance(error, Mapping) else error
                    raise Broken(f"{method}: {message}")
                result = data.get("result")
                return result if isinstance(result, Mapping) else {}

    def _serve(self, data: Mapping[str, Json]) -> None:
        fields = data.get("params")
        params = fields if isinstance(fields, Mapping) else {}
        if data["method"] == "session/update" and isinstance(params.get("update"), Mapping):
            self._updates.append(params["update"])
        elif data["method"] == "session/request_permission":
            options = [one for one in params.get("options") or () if isinstance(one, Mapping)]
            allowed = [one for one in options if str(one.get("kind", "")).startswith("allow")]
            chosen = next(iter(allowed or options), {}).get("optionId")
            outcome = {"outcome": "selected", "optionId": chosen}
            self._send({"id": data.get("id"), "result": {"outcome": outcome}})
        elif "id" in data:
            error = {"code": -32601, "message": f"{data['method']} is not served"}
            self._send({"id": data["id"], "error": error})

    def _send(self, message: dict[str, Json]) -> None:
        assert self._process is not None
        self._process.write(json_bytes.dumps({"jsonrpc": "2.0", **message}) + b"\n")

    async def drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.close()

    async def close(self) -> None:
        await self.drop()
        await asyncio.to_thread(shutil.rmtree, self.home, ignore_errors=True)


def _text(content: Json) -> str:
    return str(content.get("text") or "") if isinstance(content, Mapping) else ""


def _texts(content: Json) -> str:
    parts = content if isinstance(content, list) else []
    return "\n".join(_text(p.get("content")) for p in parts if isinstance(p, Mapping))


def _server(name: str, server: Mapping[str, Json]) -> Json:
    variables = server.get("env")
    env = variables.items() if isinstance(variables, Mapping) else ()
    return {
        "name": name,
        "command": server.get("command"),
        "args": server.get("args") or [],
        "env": [{"name": key, "value": value} for key, value in env],
    }
