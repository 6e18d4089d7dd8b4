"""Programs in containers, by docker or podman, where bubblewrap is not to be had."""

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from proctor.core.program import Program, Ran, Sandbox
from proctor.sandboxes.processes import (
    POLICING,
    SUPERVISOR,
    job_of,
    police_of,
    rlimits,
    supervised,
    tasks_of,
)

WORK, INSIDE = "/sandbox", "/proctor/supervise.py"


@dataclass
class Container(Sandbox):
    """Run programs in a container without network; its image brings the languages."""

    tier: ClassVar[str] = "docker"

    image: str = "python:3.12-slim"

    async def run(self, program: Program) -> Ran:
        """Run a program in a container of its own."""
        limits = program.limits
        half = limits.disk // 2
        job = job_of(program, WORK, rlimits(program, address_space=False, processes=False))
        job["police"] = police_of(program)
        job["env"] = {
            "HOME": WORK,
            "LANG": "C.UTF-8",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "TMPDIR": "/tmp",
            **program.env,
        }
        argv = [
            *(find_engine() or "docker", "run", "--rm", "--interactive", "--network", "none"),
            *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--user", "65534:65534", "--workdir", WORK),
            *("--memory", str(limits.memory), "--memory-swap", str(limits.memory)),
            *("--pids-limit", str(tasks_of(limits) + 8)),
            *("--tmpfs", f"{WORK}:rw,exec,mode=1777,size={half}"),
            *("--tmpfs", f"/tmp:rw,exec,mode=1777,size={half}"),
            *("--volume", f"{SUPERVISOR}:{INSIDE}:ro"),
            *("--volume", f"{POLICING}:/proctor/{POLICING.name}:ro"),
            *(self.image, "python3", "-I", "-S", INSIDE),
        ]
        return await supervised(argv, job, wall=limits.wall)

    def problems(self) -> Iterable[str]:
        """Try to run nothing in the image, and say what keeps that from working."""
        if find_engine() is None:
            yield "neither docker nor podman is installed"
        elif failed := trial(self.image):
            yield failed


@cache
def find_engine() -> str | None:
    """Return docker's program, or podman's: the first that has something behind it."""
    found = [path for name in ("docker", "podman") if (path := shutil.which(name))]
    for path in found:
        try:
            done = subprocess.run([path, "info"], capture_output=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return path
    return found[0] if found else None


@cache
def trial(image: str) -> str:
    """Start Python in the image once; return why that failed, or an empty text."""
    argv = [find_engine() or "docker", "run", "--rm", "--network", "none", image, "python3", "-V"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"containers cannot be run: {error}"
    said = (done.stderr.strip().splitlines() or ["no message"])[0]
    return "" if done.returncode == 0 else f"the image {image} cannot be run: {said}"
