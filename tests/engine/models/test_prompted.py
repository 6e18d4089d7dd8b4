"""What a model as candidate is asked: the case's tools and format, with the choice's prompts."""

import asyncio
from typing import Any

import pytest

from proctor.contracts.dialogue import DialogueContext
from proctor.contracts.model import ModelChoice
from proctor.core.exchange import ReplyShape
from proctor.core.suite import Case, Message, Tool
from proctor.engine.models.prompted import ModelCandidate
from proctor.testing import ScriptedModel

TOOL = Tool(name="clock")
SCHEMA = {"type": "object", "title": "Time"}


@pytest.mark.parametrize(
    ("case", "tools", "tool_choice", "shape"),
    [
        ({}, (), "", None),
        ({"tools": (TOOL,), "tool_choice": "required"}, (TOOL,), "required", None),
        ({"tool_choice": "required"}, (), "", None),
        ({"response_format": SCHEMA}, (), "", ReplyShape(name="Time", schema=SCHEMA)),
    ],
)
def test_what_a_case_adds_to_the_request(
    case: dict[str, Any], tools: Any, tool_choice: str, shape: Any
) -> None:
    question = Message(role="user", content="What time is it?")
    whole = Case(id="c", messages=(question,), criteria=(), **case)
    model = ScriptedModel("noon")
    candidate = ModelCandidate(model, ModelChoice(spec="openai:m", system="Be brief."))
    ctx = DialogueContext(case=whole, index=0, candidate=candidate)
    asyncio.run(candidate.reply(ctx, whole.messages))
    (request,) = model.requests
    assert request.messages == (Message(role="system", content="Be brief."), question)
    assert (request.tools, request.tool_choice, request.shape) == (tools, tool_choice, shape)
