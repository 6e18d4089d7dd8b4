"""No sandbox at all: a plain process with limits, for those who ask for it by name."""

import socket
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import Program, Ran
from proctor.io.child_processes import tool_environment
from proctor.sandboxes.pairs import run_joined
from proctor.sandboxes.supervisor_job import SUPERVISOR, job_of, rlimits, supervised


@dataclass
class PlainProcess(Sandbox):
    """Ordinary processes of yours: they can read and change whatever you can."""

    tier: ClassVar[str] = "process"
    safe: ClassVar[bool] = False
    joins: ClassVar[bool] = True

    async def run(self, program: Program) -> Ran:
        if program.partner is None:
            return await self._run(program, None)
        ran = await run_joined(program, self._run)
        assert ran is not None
        return ran

    async def _run(self, program: Program, channel: socket.socket | None) -> Ran:
        with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
            job = job_of(program, folder, rlimits(program, address_space=False, processes=False))
            environment = {"HOME": folder, "LANG": "C.UTF-8", "TMPDIR": folder}
            path = tool_environment()["PATH"]
            job["env"] = {**environment, "PATH": path, **program.env}
            argv = [sys.executable, "-I", "-S", str(SUPERVISOR)]
            return await supervised(argv, job, wall=program.limits.wall, channel=channel)

    def problems(self) -> Iterable[str]:
        """Nothing keeps this from working; that it is no boundary is said where it is chosen."""
        return ()
