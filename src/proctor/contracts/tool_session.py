"""Tools of a suite with the state that they work on, called in the sandbox.

Dialogues call them for the candidate and the simulated user, scorers for the reference actions.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.contracts.launchers import tool_calls
from proctor.core.cause import Cause
from proctor.core.fingerprint import digest, plain
from proctor.core.program import Limits, Program, Ran, Step
from proctor.core.suite import Json
from proctor.core.tool_module import ToolFunction, functions_of
from proctor.errors import ModelError
from proctor.io import json_bytes

if TYPE_CHECKING:
    from proctor.contracts.sandbox import Sandbox

LAUNCHER = Path(tool_calls.__file__)
LONGEST = 300.0
OUTPUT = 32 * 1024 * 1024
MOST_STATE = 4 * 1024 * 1024
"""Characters of a state, written as JSON."""


@dataclass(frozen=True)
class Action:
    """A call of a tool that a suite writes down."""

    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class StateCheck(Action):
    """A call of a function on the state at the end, and what it must return."""

    gives: Json = True


@dataclass(frozen=True)
class ToolModule:
    """Python source of tools, and the state that they begin with."""

    source: str
    state: Json = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    """Calls that are made before anything else, to bring the state about."""
    timeout: float = 20.0
    """Seconds for the calls of one reply."""

    @cached_property
    def functions(self) -> Mapping[str, ToolFunction]:
        """Return the tools by name."""
        return {function.name: function for function in functions_of(self.source)[0]}

    @cached_property
    def key(self) -> str:
        """Return the hash of the tools and of the state they begin with."""
        return digest(self.source, plain(self.state), plain(self.actions))[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call: a text, or an error that left the state alone."""

    text: str
    failed: bool = False


@dataclass
class ToolSession:
    """The state of one attempt, and the calls that change it."""

    module: ToolModule
    sandbox: "Sandbox"
    state: Json = None
    calls_so_far: int = 0
    """How many calls were made."""

    async def begin(self) -> Json:
        """Bring about the state that it begins with, and return it."""
        self.state = plain(self.module.state)
        results = await self.call([(one.name, one.arguments) for one in self.module.actions])
        for action, result in zip(self.module.actions, results, strict=True):
            if result.failed:
                raise _broken(f"the action {action.name!r} before the case failed: {result.text}")
        return self.state

    async def call(self, calls: Sequence[tuple[str, Json]]) -> list[ToolResult]:
        """Make calls one after the other, or raise a ModelError where they cannot be made."""
        if not calls:
            return []
        program = self._program(calls)
        ran = await self.sandbox.run_python(program) or await self.sandbox.run(program)
        outcome = _outcome(ran)
        rows = outcome.get("results")
        if "failed" in outcome or not isinstance(rows, list) or len(rows) != len(calls):
            raise _broken(str(outcome.get("failed") or "the sandbox gave no report"))
        self.calls_so_far += len(calls)
        self.state = outcome["state"]
        return [_result(row) for row in rows]

    def _program(self, calls: Sequence[tuple[str, Json]]) -> Program:
        rows = [
            {"name": name, "arguments": plain(arguments), "place": self.calls_so_far + place}
            for place, (name, arguments) in enumerate(calls)
        ]
        job = {"state": self.state, "calls": rows}
        return Program(
            steps=(Step(argv=("python3", "-I", "-B", "main.py")),),
            files={
                "main.py": LAUNCHER.read_bytes() + b"\n\nmain()\n",
                tool_calls.SOURCE: self.module.source.encode(),
                tool_calls.JOB: json_bytes.dumps(job),
            },
            env={
                "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
                "PYTHONHASHSEED": "0",
            },
            needs=(sys.prefix,),
            limits=Limits(wall=self.module.timeout, output=OUTPUT),
            toolchain=f"python {sys.version}",
        )


def _broken(why: str) -> ModelError:
    """Return the error of tools that cannot be used, whoever calls them."""
    error = ModelError(f"the tools of the case failed: {why}")
    error.cause = Cause.ENVIRONMENT.value
    return error


def _outcome(ran: Ran) -> Mapping[str, Json]:
    if ran.not_started:
        return {"failed": ran.not_started}
    if ran.stopped is not None:
        return {"failed": f"they passed the limit on {ran.stopped}"}
    try:
        outcome = json.loads(ran.stdout)
    except (ValueError, RecursionError):
        outcome = None
    if not isinstance(outcome, dict):
        words = ran.stderr.strip()[-300:]
        return {"failed": f"the sandbox gave no report{f': {words}' if words else ''}"}
    return outcome


def _result(row: Json) -> ToolResult:
    if "error" in row:
        text = json.dumps({"error": str(row["error"])}, ensure_ascii=False)
        return ToolResult(text=text, failed=True)
    return ToolResult(text=str(row["result"]))
