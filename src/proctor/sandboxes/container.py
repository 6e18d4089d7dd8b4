"""Programs in containers, by docker or podman, where bubblewrap is not to be had."""

import asyncio
import resource
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import Limits, Program, Ran
from proctor.io.child_processes import probe
from proctor.sandboxes.container_engine import (
    USER_PROCESSES,
    at_most,
    engine_environment,
    engine_problems,
    find_engine,
    image_id,
    installed_engines,
    mended,
    remove,
    unlimited,
)
from proctor.sandboxes.supervisor_job import (
    LIMITS_WATCH,
    OWN_MEMORY,
    SUPERVISOR,
    job_of,
    police_of,
    rlimits,
    supervised,
    tasks_of,
)

if TYPE_CHECKING:
    from proctor.contracts.environment import Environment
    from proctor.core.environment import EnvironmentNeeds

WORK, INSIDE = "/sandbox", "/proctor/supervise.py"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TRIAL_TIME = 300
"""Seconds for the first run, which may fetch the image."""


@dataclass
class Container(Sandbox):
    """A container without network; its image brings the languages."""

    tier: ClassVar[str] = "docker"

    image: str = "python:3.12-slim"

    async def run(self, program: Program) -> Ran:
        job = job_of(program, WORK, rlimits(program, address_space=False, processes=False))
        job["police"] = police_of(program)
        job["env"] = {
            "HOME": WORK,
            "LANG": "C.UTF-8",
            "PATH": PATH,
            "TMPDIR": "/tmp",  # nosec B108  # a place inside the sandbox
            **program.env,
        }
        name = f"proctor-{secrets.token_hex(8)}"
        argv = [*command(name, program.limits), self.image, "python3", "-I", "-S", INSIDE]
        done = False
        try:
            ran = await supervised(argv, job, wall=program.limits.wall, env=engine_environment())
            done = ran.code is not None or ran.finished
        finally:
            if not done:
                # What the engine's own program has started outlives it.
                await asyncio.to_thread(remove, name)
        return ran

    def environment(self, needs: "EnvironmentNeeds") -> "Environment":
        from proctor.sandboxes.container_environment import ContainerEnvironment

        return ContainerEnvironment(needs=needs, image=self.image)

    def problems(self) -> Iterable[str]:
        if find_engine() is None:
            yield "neither docker nor podman is installed"
        elif failed := trial(self.image):
            broken = list(engine_problems())
            # Where one of them works, the image is the problem.
            yield "; ".join(broken) if len(broken) == len(installed_engines()) else failed

    def processors_kept_by(self) -> str:
        return "nothing" if unlimited() else "quota"

    def lacks(self) -> Iterable[str]:
        if why := unlimited():
            yield f"{why} (tasks may use more than they are allowed; only single files are limited)"

    def brings(self) -> str:
        return f"image {self.image} {content_of(self.image)}".rstrip()


def command(name: str, limits: Limits) -> list[str]:
    """Return the engine's part of the command line, up to the image."""
    half = limits.disk // 2
    memory = str(limits.memory + limits.disk + OWN_MEMORY)
    files = at_most(resource.RLIMIT_NOFILE, max(1024, limits.open_files))
    processes = at_most(resource.RLIMIT_NPROC, USER_PROCESSES)
    return [
        *(find_engine() or "docker", "run", "--rm", "--interactive", "--name", name),
        *("--network", "none", "--hostname", "sandbox", "--user", "65534:65534"),
        *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--memory", memory, "--memory-swap", memory, "--shm-size", "16m"),
        *("--pids-limit", str(tasks_of(limits) + 8)),
        # Without these an engine may ask for more than this machine allows.
        *("--ulimit", f"nofile={files}:{files}", "--ulimit", f"nproc={processes}:{processes}"),
        *("--tmpfs", f"{WORK}:rw,exec,mode=1777,size={half}"),
        *("--tmpfs", f"/tmp:rw,exec,mode=1777,size={half}", "--workdir", WORK),  # nosec B108
        *("--volume", f"{SUPERVISOR}:{INSIDE}:ro"),
        *("--volume", f"{LIMITS_WATCH}:/proctor/{LIMITS_WATCH.name}:ro"),
    ]


@cache
def trial(image: str) -> str:
    """Start Python in the image once; return why that failed, or an empty text."""
    argv = [*command(f"proctor-{secrets.token_hex(8)}", Limits()), image, "python3", "-V"]
    done = probe(argv, seconds=TRIAL_TIME, env=engine_environment())
    if done.code is None:
        return f"containers cannot be run: {done.error}"
    message = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return "" if done.code == 0 else f"the image {image} cannot be run: {mended(message)}"


@cache
def content_of(image: str) -> str:
    """Return the hash that the engine knows an image by, shortened; empty where it is not here."""
    return image_id(image).removeprefix("sha256:")[:12]
