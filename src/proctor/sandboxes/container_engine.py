"""The engine of containers, docker or podman: where it is, and what it may know."""

import json
import resource
from collections.abc import Iterator
from functools import cache

from proctor.io.child_processes import find_program, probe, tool_environment

FIXES = (
    ("newuidmap", "install newuidmap and newgidmap, on Debian: apt-get install uidmap"),
    ("newgidmap", "install newuidmap and newgidmap, on Debian: apt-get install uidmap"),
    ("subuid", "give the user a range in /etc/subuid and /etc/subgid: usermod --add-subuids"
     " 100000-165535 --add-subgids 100000-165535 NAME"),
    ("subgid", "give the user a range in /etc/subuid and /etc/subgid: usermod --add-subuids"
     " 100000-165535 --add-subgids 100000-165535 NAME"),
    ("insufficient UIDs or GIDs", "give the user a range in /etc/subuid and /etc/subgid"),
    ("RUNTIME_DIR", "log in as the user itself, or set XDG_RUNTIME_DIR to a folder of its own"),
    ("fuse-overlayfs", "install fuse-overlayfs, or set driver = \"vfs\" in storage.conf"),
    ("overlay is not supported", "install fuse-overlayfs, or set driver = \"vfs\" in storage.conf"),
    ("crun", "install runc, and set runtime = \"runc\" in containers.conf"),
    ("Cannot connect to the Docker daemon", "start it, or install podman"),
)  # fmt: skip
"""What engines say of what is missing, and how it is mended."""
LIMITS = {"memory": "memory", "cpu": "processors", "pids": "processes"}
"""Controllers of control groups, and what each limits."""
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
    engines = installed_engines()
    for path in engines:
        if probe([path, "info"], seconds=30, env=engine_environment()).code == 0:
            return path
    return engines[0] if engines else None


def installed_engines() -> list[str]:
    """Return the programs of engines that are there, whether or not they work."""
    return [path for name in ("docker", "podman") if (path := find_program(name))]


def engine_problems() -> Iterator[str]:
    """Say of every engine that is installed why it does not work, with how to mend it."""
    for name in ("docker", "podman"):
        if (path := find_program(name)) is None:
            continue
        tried = probe([path, "info"], seconds=30, env=engine_environment())
        lines = [line for line in tried.stderr.strip().splitlines() if "level=warning" not in line]
        why = tried.error or (lines[-1] if lines else "no message")
        if tried.code != 0:
            yield f"{name} does not work: {mended(why)}"


def mended(why: str) -> str:
    """Return what an engine says with how to mend it, where that is known."""
    fix = next((fix for words, fix in FIXES if words in why), "")
    return f"{why} (fix: {fix})" if fix else why


@cache
def unlimited() -> str:
    """Say what of a container the engine does not limit on this machine, and why; else nothing."""
    engine = find_engine()
    if engine is None or not engine.endswith("podman"):
        return ""
    reply = probe([engine, "info", "--format", "json"], seconds=30, env=engine_environment())
    try:
        host = json.loads(reply.stdout)["host"]
        there = host.get("cgroupControllers") or ()
        rootless = bool(host["security"]["rootless"])
        version = str(host.get("cgroupVersion", ""))
    except (ValueError, LookupError, TypeError):
        return ""
    missing = [what for name, what in LIMITS.items() if name not in there]
    if not rootless or not missing:
        return ""
    reason = (
        "control groups have their first layout here, which podman without a superuser does not use"
        if version == "v1"
        else "no such controllers are delegated to this user"
    )
    return f"rootless podman does not limit {', '.join(missing)} of containers: {reason}"


def image_id(name: str) -> str:
    """Return the hash that the engine knows an image by; empty where it is not here."""
    argv = [find_engine() or "docker", "image", "inspect", "--format", "{{.Id}}", name]
    result = probe(argv, seconds=30, env=engine_environment())
    return result.stdout.strip() if result.code == 0 else ""


def engine_environment() -> dict[str, str]:
    """Return what docker and podman may know."""
    return tool_environment(ENGINES)
