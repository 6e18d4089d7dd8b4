"""The file task.toml: every field of schema 1.4 and of the older ones."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, field_validator

from proctor.core.suite import Json
from proctor.io.validation import Strict

NetworkMode = Literal["public", "no-network", "allowlist"]
UNITS = {"": 1, "k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}
_SIZE = re.compile(r"^\s*([\d.]+)\s*([kmgt]?)(?:i?b)?\s*$", re.IGNORECASE)


class Healthcheck(Strict):
    """A command that says whether an environment is ready."""

    command: str
    interval_sec: float = 5.0
    timeout_sec: float = 30.0
    start_period_sec: float = 0.0
    start_interval_sec: float = 5.0
    retries: int = 3


class TaskEnvironment(Strict):
    """What the agent, or the verifier, works in."""

    docker_image: str | None = None
    build_timeout_sec: float = Field(default=600.0, gt=0)
    cpus: float | None = Field(default=None, gt=0)
    memory_mb: int | None = Field(default=None, gt=0)
    storage_mb: int | None = Field(default=None, gt=0)
    gpus: int = Field(default=0, ge=0)
    gpu_types: list[str] | None = None
    os: str | None = None
    workdir: str | None = None
    env: dict[str, str] = Field(default_factory=dict)
    network_mode: NetworkMode | None = None
    allowed_hosts: list[str] = Field(default_factory=list)
    mcp_servers: list[dict[str, Json]] = Field(default_factory=list)
    skills_dir: str | None = None
    healthcheck: Healthcheck | None = None
    allow_internet: bool | None = None
    memory: str | None = None
    storage: str | None = None

    @field_validator("workdir")
    @classmethod
    def _is_whole(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("/"):
            raise ValueError("a working folder is a whole path, as in /app")
        return value

    @field_validator("memory", "storage")
    @classmethod
    def _is_size(cls, value: str | None) -> str | None:
        if value is not None and _SIZE.match(value) is None:
            raise ValueError("a size is a number with a unit, as in 2G or 512M")
        return value

    @property
    def network(self) -> str:
        """Return the network that the task asks for; older files say yes or no."""
        if self.network_mode is not None:
            return self.network_mode
        return "no-network" if self.allow_internet is False else "public"

    def size(self, name: str, usual: int) -> int:
        """Return memory or storage in MiB, from either schema."""
        value = getattr(self, f"{name}_mb")
        text = getattr(self, name)
        if value is not None or text is None:
            return int(value or usual)
        size = _SIZE.match(text)
        assert size is not None
        return max(1, int(float(size[1]) * UNITS[size[2].lower()]))


class TaskAgent(Strict):
    """Limits of the agent."""

    timeout_sec: float | None = Field(default=None, gt=0)
    user: str | int | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: list[str] = Field(default_factory=list)


class Collected(Strict):
    """A command that gathers something before the tests run."""

    command: str
    timeout_sec: float = Field(default=60.0, gt=0)
    user: str | int | None = None
    service: str | None = None
    cwd: str | None = None
    env: dict[str, str] = Field(default_factory=dict)


class TaskVerifier(Strict):
    """How the tests are run."""

    timeout_sec: float | None = Field(default=None, gt=0)
    user: str | int | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    environment_mode: Literal["shared", "separate"] | None = None
    environment: TaskEnvironment | None = None
    collect: list[Collected] = Field(default_factory=list)


class TaskStep(Strict):
    """One of several instructions, with tests of its own."""

    name: str = Field(pattern=r"^[\w.-]+$")
    agent: TaskAgent = TaskAgent()
    verifier: TaskVerifier = TaskVerifier()
    min_reward: float | dict[str, float] | None = None
    artifacts: list[Json] = Field(default_factory=list)
    healthcheck: Healthcheck | None = None


class TaskAbout(Strict):
    """What a task is called, and who wrote it."""

    name: str
    description: str = ""
    authors: list[Json] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)


class TaskFile(Strict):
    """The whole file."""

    schema_version: str | None = None
    version: str | float | None = None
    artifacts: list[Json] = Field(default_factory=list)
    multi_step_reward_strategy: Literal["mean", "final"] = "mean"
    task: TaskAbout | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent: TaskAgent = TaskAgent()
    verifier: TaskVerifier = TaskVerifier()
    environment: TaskEnvironment = TaskEnvironment()
    solution: dict[str, Any] = Field(default_factory=dict)
    steps: list[TaskStep] = Field(default_factory=list)
    source: str | None = None


SCHEMA_VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")


def unsupported(task: TaskFile) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what a task asks for and nothing here gives, each with its field."""
    schema = task.schema_version or str(task.version or "1.0")
    if schema not in SCHEMA_VERSIONS:
        yield (
            ("schema_version",),
            f"schema {schema} is not known; up to {SCHEMA_VERSIONS[-1]} are read",
        )
    yield from _unsupported_around(("environment",), task.environment)
    if task.verifier.environment is not None:
        yield from _unsupported_around(("verifier", "environment"), task.verifier.environment)
    for place, verifier in enumerate((task.verifier, *(step.verifier for step in task.steps))):
        if any(hook.service for hook in verifier.collect):
            yield (
                ("verifier", "collect"),
                "services of their own (docker compose) are not supported",
            )
        if place and verifier.environment is not None:
            yield ("steps",), "an environment of its own for one step's tests is not supported"


def _unsupported_around(
    at: tuple[str, ...], environment: TaskEnvironment
) -> Iterator[tuple[tuple[str, ...], str]]:
    if environment.gpus:
        yield (*at, "gpus"), "tasks that need GPUs are not supported"
    if environment.os and environment.os.lower() != "linux":
        yield (*at, "os"), f"tasks for {environment.os} are not supported"
    if environment.mcp_servers:
        yield (*at, "mcp_servers"), "MCP servers beside a task are not supported"
    if environment.skills_dir:
        yield (*at, "skills_dir"), "skills in the environment are not supported"
    if environment.healthcheck:
        yield (*at, "healthcheck"), "health checks need a service, which is not supported"
