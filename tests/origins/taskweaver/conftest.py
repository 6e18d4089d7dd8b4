"""The agent is examined as all agents are."""

from agents.conftest import *  # noqa: F403
