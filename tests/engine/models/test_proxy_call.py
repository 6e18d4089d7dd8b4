"""What a model call of an agent says besides its messages."""

from typing import Any

import pytest

from proctor.core.rounds import AGENT
from proctor.engine.models.proxy_call import MODEL, ProxyCall, settings_of

ADD = {"name": "add", "description": "x" * 5000}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"messages": [1], "model": "m", "temperature": 0}, {"model": "m", "temperature": 0}),
        ({"messages": [1], "system": "be brief", "tools": [ADD]}, {"system": "be brief", "tools": ["add"]}),
        ({"input": "hi", "tools": [{"type": "function", "function": ADD}, {"type": "web_search"}]},
         {"tools": ["add", "web_search"]}),
        ({"contents": [], "tools": [{"functionDeclarations": [ADD]}]}, {"tools": [["add"]]}),
        ({"prompt": "hi", "tools": "all"}, {"tools": "all"}),
        ({"messages": [], "tools": [7]}, {"tools": ["7"]}),
        ({}, {}),
    ],
)  # fmt: skip
def test_settings_are_the_request_without_messages_and_long_tools(body: Any, wanted: Any) -> None:
    assert settings_of(body) == wanted


def test_a_call_is_a_step_with_its_settings() -> None:
    call = ProxyCall(path="p", model="m", request_messages=[], reply_text="5", settings={"seed": 1})
    assert (call.post.send_from, call.post.send_to) == (MODEL, AGENT)
    kinds = {item.type: item.content for item in call.post.attachments}
    assert kinds["model_settings"] == {"seed": 1}
    assert kinds["model_usage"]["model"] == "m"
    bare = ProxyCall(path="p", model="m", request_messages=[], reply_text="5").post
    assert [item.type for item in bare.attachments] == ["model_request", "model_usage"]
