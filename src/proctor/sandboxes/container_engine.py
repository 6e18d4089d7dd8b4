"""The engine of containers, docker or podman: where it is, and what it may know."""

import resource
from functools import cache

from proctor.io.child_processes import find_program, probe, tool_environment

USER_PROCESSES = 4096
"""Processes of nobody in all containers together; each container has a limit of its own."""
ENGINES = (
    "CONTAINERS_*", "CONTAINER_*", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_*", "REGISTRY_AUTH_FILE",
    "XDG_*", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
)  # fmt: skip
"""Variables by which docker and podman are told where their daemon, settings and images are."""


def at_most(which: int, limit: int) -> int:
    """Return a limit that this machine allows."""
    _, hard = resource.getrlimit(which)
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def remove(name: str) -> None:
    """End a container, if it is still there."""
    probe([find_engine() or "docker", "rm", "--force", name], env=engine_environment())


@cache
def find_engine() -> str | None:
    """Return docker's program, or podman's: the first that has something behind it."""
    engines = [path for name in ("docker", "podman") if (path := find_program(name))]
    for path in engines:
        if probe([path, "info"], seconds=30, env=engine_environment()).code == 0:
            return path
    return engines[0] if engines else None


def engine_environment() -> dict[str, str]:
    """Return what docker and podman may know."""
    return tool_environment(ENGINES)
