"""The proxy of a run: an agent's model calls pass through it, in an API that the model takes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.contracts.agent import Agent
    from proctor.contracts.model import ModelChoice
    from proctor.core.exchange import Upstream
    from proctor.engine.agents.workspaces import AgentWorkspaces
    from proctor.engine.models.roles import Models


@asynccontextmanager
async def run_proxy(
    seats: "AgentWorkspaces", choice: "ModelChoice | None", models: "Models"
) -> AsyncIterator[None]:
    """Route the agent's calls through a proxy within the block, if requested."""
    try:
        if choice is None:
            refuse_without_model(seats.agent)
            yield
        else:
            async with models.proxy(choice) as seats.proxy:
                refuse_other_api(seats.agent, seats.proxy.upstream, choice.spec)
                yield
    finally:
        seats.proxy = None
        await seats.agent.close()


def refuse_without_model(agent: "Agent") -> None:
    """Raise a UsageError if an agent needs the proxy, and no model is named for it."""
    if apis := " or ".join(sorted(agent.speaks)):
        raise UsageError(
            f"{agent.label} needs a model for its calls (fix: add --proxy M, a model that is asked"
            f" by {apis})"
        )


def refuse_other_api(agent: "Agent", upstream: "Upstream", model: str) -> None:
    """Raise a UsageError if an agent's calls are in no API that its model takes."""
    if agent.speaks and upstream.speaks and not agent.speaks & upstream.speaks:
        raise UsageError(
            f"{agent.label} asks by {' or '.join(sorted(agent.speaks))}, and {model} is asked by"
            f" {' or '.join(sorted(upstream.speaks))} (fix: name another model with --proxy)"
        )
