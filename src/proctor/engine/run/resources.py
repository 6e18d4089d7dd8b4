"""What an agent had to work with: its marks move with the machine, the time and its neighbours."""

import os
from collections.abc import Mapping
from dataclasses import replace

from proctor.contracts.agent import Agent
from proctor.contracts.sandbox import Sandbox
from proctor.core.environment import SETUP
from proctor.core.run import RESOURCES, Run
from proctor.core.suite import Json, Suite
from proctor.io.concurrency import available_cores

MIB = 1024 * 1024
_STEP = 256
"""Machines of one kind differ by a few MiB, which is no difference."""


def with_resources(
    run: Run, agent: Agent, at_once: int, sandbox: str | None, processors_by: str | None = None
) -> Run:
    """Note what the agent of a run had, how many attempts shared it, and what kept tasks to it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB
    resources: dict[str, Json] = {
        "cores": available_cores(),
        "memory_mb": round(memory / _STEP) * _STEP,
        "at_once": at_once,
        "timeout": agent.timeout,
        "sandbox": sandbox,
        "cpus_by": processors_by,
    }
    noted = {name: value for name, value in resources.items() if value is not None}
    return replace(run, settings={**run.settings, RESOURCES: noted})


def processors_by(suite: Suite, sandbox: Sandbox | None) -> str | None:
    """Return what keeps the tasks of a suite to their processors; none where it has no tasks."""
    has_tasks = any(SETUP in case.setup for case in suite.cases)
    return sandbox.processors_kept_by() if sandbox is not None and has_tasks else None


def resources_text(settings: Mapping[str, Json]) -> str:
    """Write what an agent had, as signatures have it: ``cores=2,memory_mb=8192,at_once=4``."""
    noted = settings.get(RESOURCES) or {}
    return ",".join(f"{name}={_number(value)}" for name, value in noted.items())


def resources_differ(one: Mapping[str, Json], two: Mapping[str, Json]) -> str:
    """Say what the agents of two runs had that differs; nothing where one of them is not known."""
    mine, other = one.get(RESOURCES) or {}, two.get(RESOURCES) or {}
    if not mine or not other:
        return ""
    names = [name for name in {**mine, **other} if mine.get(name) != other.get(name)]
    words = [f"{name} {_number(mine.get(name))} and {_number(other.get(name))}" for name in names]
    return f"the agents had other resources: {', '.join(words)}" if words else ""


def _number(value: Json) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, int | float) else str(value)
