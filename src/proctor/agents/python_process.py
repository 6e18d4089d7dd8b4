"""Python agents in processes of their own, by a small driver that runs there."""

import os
import sys
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.agents.process import AgentProcess, Bounds, Broken, program_of
from proctor.agents.sessions import LineSession, environment, object_of, unset
from proctor.contracts.agent import Agent, Session, Workspace
from proctor.core.suite import Case, Json
from proctor.errors import ModelError
from proctor.io import json_bytes

DRIVER = Path(__file__).parent / "launchers" / "proctor_driver.py"
CHECK_SECONDS = 120.0


@dataclass(kw_only=True)
class Driven(Agent):
    """Base of agents that run in a Python process of their own."""

    timeout: float = 600.0
    """Seconds for one turn, the start of the agent included."""
    interpreter: str = ""
    """The Python that runs the agent; empty for the one that runs Proctor."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables; ``$NAME`` takes the value of one of yours."""
    output: int = Bounds().output
    """Bytes that the agent may write in one turn."""
    processes: int = Bounds().processes
    concurrency: int = 8
    """Attempts at a time."""
    version: str = ""
    """What you call this agent's version: another one is examined anew."""

    def problems(self) -> list[str]:
        problems = unset(self.env)
        if self.interpreter and not program_of(self.interpreter):
            problems.append(f"there is no Python {self.interpreter!r}")
        if self.timeout <= 0:
            problems.append("timeout is a number of seconds above 0")
        return problems

    def _python(self) -> str:
        return program_of(self.interpreter) if self.interpreter else sys.executable

    @abstractmethod
    def begin(self, workspace: Workspace) -> dict[str, Json]:
        """Return what the driver is told first."""

    def environ(self, workspace: Workspace) -> dict[str, str]:
        """Return the environment of the agent's process."""
        return environment(workspace, self.env)

    async def open(self, workspace: Workspace) -> Session:
        session = LineSession(workspace=workspace, timeout=self.timeout, driven=True)
        begin = self.begin(workspace)
        begin["given"] = {
            "case": workspace.case.id, "folder": str(workspace.folder), "session": session.name,
        }  # fmt: skip

        async def start() -> AgentProcess:
            return await self._started(workspace, begin)

        session.start = start
        return session

    async def check(self) -> None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="proctor-agent-") as folder:
            case = Case(id="", messages=(), criteria=())
            workspace = Workspace(case=case, index=0, folder=Path(folder))
            begin = {**self.begin(workspace), "check": True, "given": {}}
            session = LineSession(workspace=workspace, timeout=min(self.timeout, CHECK_SECONDS))

            async def start() -> AgentProcess:
                process = await self._started(workspace, begin)
                await process.close()
                raise Broken("")

            session.start = start
            error = (await session.send("")).error
            if error:
                raise ModelError(f"{self.label}: {error}")

    async def _started(self, workspace: Workspace, begin: Mapping[str, Json]) -> AgentProcess:
        process = await AgentProcess.start(
            [self._python(), "-u", str(DRIVER)],
            folder=workspace.folder,
            env={**self.environ(workspace), "PYTHONDONTWRITEBYTECODE": "1"},
            bounds=Bounds(output=self.output, processes=self.processes),
        )
        try:
            process.write(json_bytes.dumps({"path": [os.getcwd()], **begin}) + b"\n")
            report = object_of(await process.line())
            if report.get("missing"):
                raise Broken(str(report["missing"]), traceback=str(report.get("traceback", "")))
        except BaseException:
            await process.close()
            raise
        return process
