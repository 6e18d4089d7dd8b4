"""An MCP server of a suite, started in the sandbox for each round of calls.

The server is a stranger's program: it runs without network, within limits, for moments only. Each
time it is given all calls of the attempt so far, so that it is in the state in which it was left.
"""

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from proctor.contracts.sandbox import Sandbox
from proctor.core.cause import Cause
from proctor.core.program import Limits, Program, Ran, Step
from proctor.core.suite import Json, Tool, ToolCall
from proctor.dialogues.launchers import mcp_client
from proctor.errors import ModelError
from proctor.io import json_bytes

CLIENT = Path(mcp_client.__file__)
MOST_FILES = 8 * 1024 * 1024
LONGEST = 300.0
OUTPUT = 16 * 1024 * 1024
MAIN = "proctor_mcp_client.py"


@dataclass(frozen=True)
class McpServer:
    """How an MCP server is started: its command, and the files in its working folder."""

    command: str | tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 20.0
    """Seconds for starting it and for all calls of an attempt."""

    @property
    def argv(self) -> list[str]:
        """Return the command word by word; no shell is involved."""
        return shlex.split(self.command) if isinstance(self.command, str) else list(self.command)

    def problems(self) -> Iterable[str]:
        """Return what is wrong with it."""
        try:
            if not self.argv:
                yield "the MCP server has an empty command"
        except ValueError as error:
            yield f"the command of the MCP server cannot be read: {error}"
        for name in self.files:
            parts = PurePosixPath(name).parts
            if not parts or name.startswith("/") or ".." in parts or "\0" in name:
                yield f"{name!r} is no name inside of the MCP server's folder"
        if sum(len(text) for text in self.files.values()) > MOST_FILES:
            yield "the files of the MCP server are larger than 8 MiB"
        if not 0 < self.timeout <= LONGEST:
            yield f"the timeout of the MCP server is from 0 to {LONGEST:g} s, not {self.timeout:g}"


@dataclass
class McpSession:
    """The calls of one attempt to an MCP server."""

    server: McpServer
    sandbox: Sandbox
    calls_so_far: list[ToolCall] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    changed: bool = False
    """Whether the server, given the same calls again, once gave other results."""

    async def tools(self) -> tuple[Tool, ...]:
        """List the tools of the server, or raise a ModelError."""
        outcome = await self._run()
        return tuple(_tool(entry) for entry in outcome["tools"] if _is_tool(entry))

    async def call(self, calls: Sequence[ToolCall]) -> list[str]:
        """Return the results of further calls, or raise a ModelError."""
        self.calls_so_far += calls
        rows = (await self._run()).get("results")
        if not isinstance(rows, list) or len(rows) != len(self.calls_so_far):
            raise ModelError(
                "the MCP server gave results that cannot be read", cause=Cause.ENVIRONMENT.value
            )
        texts = [_result_text(row) for row in rows]
        before = len(self.results)
        self.changed = self.changed or texts[:before] != self.results
        self.results += texts[before:]
        return texts[before:]

    async def _run(self) -> Mapping[str, Json]:
        ran = await self.sandbox.run(self._program())
        outcome = _outcome(ran)
        if "error" in outcome or not isinstance(outcome.get("tools"), list):
            words = str(outcome.get("stderr") or "").strip()
            why = f"{outcome.get('error', 'no tools')}{f': {words[-500:]}' if words else ''}"
            raise ModelError(
                f"the MCP server {shlex.join(self.server.argv)!r} failed: {why}",
                cause=Cause.ENVIRONMENT.value,
            )
        return outcome

    def _program(self) -> Program:
        request = {
            "argv": self.server.argv,
            "calls": [[call.name, call.arguments] for call in self.calls_so_far],
        }
        return Program(
            steps=(Step(argv=("python3", "-I", "-B", MAIN)),),
            files={
                **{name: text.encode() for name, text in self.server.files.items()},
                MAIN: CLIENT.read_bytes(),
                mcp_client.REQUEST: json_bytes.dumps(request),
            },
            env={"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"},
            needs=(sys.prefix,),
            limits=Limits(wall=self.server.timeout, output=OUTPUT),
            toolchain=f"python {sys.version}",
        )


def _outcome(ran: Ran) -> Mapping[str, Json]:
    if ran.not_started:
        return {"error": ran.not_started}
    if ran.stopped is not None:
        return {"error": f"it passed the limit on {ran.stopped}"}
    try:
        outcome = json.loads(ran.stdout)
    except (ValueError, RecursionError):
        outcome = None
    if not isinstance(outcome, dict):
        return {"error": "the sandbox gave no report", "stderr": ran.stderr}
    return outcome


def _is_tool(entry: Json) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str) and bool(entry["name"])


def _tool(entry: Mapping[str, Json]) -> Tool:
    schema, description = entry.get("inputSchema"), entry.get("description")
    return Tool(
        name=entry["name"],
        description=description if isinstance(description, str) else "",
        parameters=schema if isinstance(schema, dict) else {},
    )


def _result_text(row: Json) -> str:
    """Return what a tool gave as the text that a model is shown."""
    result = row.get("result") if isinstance(row, dict) else None
    if not isinstance(result, dict):
        message = row.get("error") if isinstance(row, dict) else None
        return json.dumps({"error": str(message or "no result")}, ensure_ascii=False)
    parts = result.get("content")
    texts = [_part_text(part) for part in parts] if isinstance(parts, list) else []
    if not texts and result.get("structuredContent") is not None:
        texts = [json.dumps(result["structuredContent"], ensure_ascii=False)]
    return "\n".join(texts)


def _part_text(part: Json) -> str:
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    resource = part.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return str(resource["text"])
    return f"[{part.get('type', 'something')}, not shown]"
