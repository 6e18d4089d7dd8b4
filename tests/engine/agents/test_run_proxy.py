"""Which models an agent may be given, by the API of its calls."""

from typing import Any

import pytest

from proctor import registry
from proctor.core.access import Destination
from proctor.core.exchange import CHAT, MESSAGES, RESPONSES, Upstream
from proctor.core.suite import Spec
from proctor.engine.agents.run_proxy import refuse_other_api, refuse_without_model
from proctor.errors import UsageError

PYTHON = {"target": "m:f"}


@pytest.mark.parametrize(
    ("name", "params", "speaks", "refused"),
    [
        ("claude-code", {}, {MESSAGES}, False),
        ("claude-code", {}, {CHAT, RESPONSES}, True),
        ("claude-code", {}, set(), False),
        ("codex", {}, {CHAT, RESPONSES}, False),
        ("opencode", {}, {MESSAGES}, True),
        ("acp", {"acp_command": "x"}, {MESSAGES}, False),
        ("python", PYTHON, {MESSAGES}, False),
    ],
)
def test_the_api_must_be_one_that_the_model_takes(
    name: str, params: dict[str, Any], speaks: set[str], refused: bool
) -> None:
    agent = registry.build("candidate", Spec(name=name, params=params))
    upstream = Upstream(destination=Destination(base="b"), model="m", speaks=frozenset(speaks))
    if refused:
        with pytest.raises(UsageError, match="is asked by"):
            refuse_other_api(agent, upstream, "openai:m")
    else:
        refuse_other_api(agent, upstream, "openai:m")


def test_a_coding_agent_needs_a_model() -> None:
    refuse_without_model(registry.build("candidate", Spec(name="python", params=PYTHON)))
    with pytest.raises(UsageError, match="--proxy"):
        refuse_without_model(registry.build("candidate", Spec(name="codex")))
