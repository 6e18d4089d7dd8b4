"""Agents that are commands: a process for each turn, or one that speaks lines of JSON."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from proctor.agents.in_environment import GRACE, EnvironmentSession, time_of
from proctor.agents.process import (
    AgentProcess,
    Bounds,
    Broken,
    exit_text,
    last_words,
    program_of,
    with_words,
)
from proctor.agents.sandboxed import SandboxedSession, led_out, needed, open_sandbox
from proctor.agents.sessions import LineSession, TimedSession, environment, read_reply, unset
from proctor.agents.source_hash import files_key
from proctor.contracts.agent import Agent, Session, Workspace
from proctor.core.rounds import Round
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io import json_bytes


@dataclass(kw_only=True)
class Command(Agent):
    """A command that reads the message on its standard input and answers on the other.

    Its words are split as a shell would, but no shell runs them. Words that name files in the
    folder where Proctor was started name them also from the working folder.
    """

    works_inside: ClassVar[bool] = True

    command: str
    lines: bool = False
    """Whether one process takes all messages of a session, as lines of JSON."""
    sandboxed: bool = False
    """Whether nobody trusts it: it runs without network, and sees only its working folder."""
    needs: tuple[str, ...] = ()
    """Files and folders that it may read besides in the sandbox."""
    timeout: float = 600.0
    """Seconds for one turn."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables; ``$NAME`` takes the value of one of yours."""
    output: int = Bounds().output
    """Bytes that it may write in one turn."""
    processes: int = Bounds().processes
    concurrency: int = 8
    """Attempts at a time."""
    version: str = ""
    """What you call this agent's version: another one is examined anew."""

    @cached_property
    def argv(self) -> list[str]:
        """Return the words of the command, files by their whole paths."""
        try:
            words = shlex.split(self.command)
        except ValueError:
            return []
        whole = [str(Path(word).resolve()) if Path(word).is_file() else word for word in words[1:]]
        if words and "/" in words[0]:
            words[0] = str(Path(words[0]).absolute())
        return [*words[:1], *whole]

    @property
    def identity(self) -> Json:
        words = [program_of(self.argv[0]), *self.argv[1:]] if self.argv else []
        # Programs of the system are known by their names: an update is no other agent.
        files = [Path(word) for word in words if Path(word).is_file() and not _of_system(word)]
        scripts = [path for path in files if path.stat().st_size < 16 * 2**20]
        how = [self.lines, self.sandboxed, sorted(self.env), self.version]
        return {"kind": "exec", "command": self.command, "files": files_key(scripts), "how": how}

    @property
    def label(self) -> str:
        return f"exec:{self.command}"

    def problems(self) -> list[str]:
        problems = unset(self.env)
        if not self.argv:
            return [*problems, f"{self.command!r} is no command: its quotes do not match"]
        if not program_of(self.argv[0]):
            problems.append(f"there is no program {self.argv[0]!r}")
        if self.timeout <= 0:
            problems.append("timeout is a number of seconds above 0")
        if self.sandboxed:
            problems += open_sandbox().problems()
            problems += led_out([*shlex.split(self.command)[1:], *self.needs])
            if self.lines:
                problems.append("lines and sandboxed are mutually exclusive: one turn a sandbox")
            if self.env:
                problems.append(
                    "env and sandboxed are mutually exclusive: nothing of yours goes inside"
                )
        return problems

    async def check(self) -> None:
        if problems := self.problems():
            raise ModelError(f"{self.label}: {problems[0]}")

    async def open(self, workspace: Workspace) -> Session:
        if workspace.environment is not None:
            argv = [program_of(self.argv[0]) or self.argv[0], *self.argv[1:]]
            wall = time_of(workspace, self.timeout)
            return EnvironmentSession(
                workspace=workspace, timeout=wall + GRACE, wall=wall, argv=argv,
                needs=needed(argv, self.needs), output=self.output,
            )  # fmt: skip
        if self.sandboxed:
            argv = [program_of(self.argv[0]) or self.argv[0], *self.argv[1:]]
            return SandboxedSession(
                workspace=workspace, timeout=self.timeout, argv=argv,
                needs=needed(argv, self.needs), output=self.output,
                processes=min(self.processes, 64),
            )  # fmt: skip

        async def start() -> AgentProcess:
            return await self.started(workspace)

        if self.lines:
            return LineSession(workspace=workspace, timeout=self.timeout, start=start)
        return TurnSession(workspace=workspace, timeout=self.timeout, command=self)

    async def started(self, workspace: Workspace) -> AgentProcess:
        """Start the command in the working folder."""
        bounds = Bounds(output=self.output, processes=self.processes)
        env = environment(workspace, self.env)
        return await AgentProcess.start(self.argv, folder=workspace.folder, env=env, bounds=bounds)


@dataclass
class TurnSession(TimedSession):
    """A command run once for each turn; what it leaves running lives until the session ends."""

    command: Command | None = None
    _processes: list[AgentProcess] = field(default_factory=list)

    async def answered(self, message: str) -> Round:
        assert self.command is not None
        process = await self.command.started(self.workspace)
        self._processes.append(process)
        process.write(json_bytes.dumps(self.request_fields(message)), last=True)
        status = await process.ended()
        if status != 0:
            reason = with_words(exit_text(status), process.err)
            raise Broken(reason, traceback=last_words(process.err))
        return read_reply(self, message, bytes(process.out))

    async def drop(self) -> None:
        while self._processes:
            await self._processes.pop().close()


def _of_system(word: str) -> bool:
    return word.startswith(("/usr/", "/bin/", "/sbin/", "/lib"))
