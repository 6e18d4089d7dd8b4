"""Requests and replies."""

from dataclasses import fields, replace

import pytest

from proctor.core.exchange import Reply, Usage
from proctor.core.suite import ToolCall

USAGE = Usage(
    calls=1, prompt_tokens=2, completion_tokens=3, cost=0.75, cached_tokens=4, cache_write_tokens=5,
    cache_write_long_tokens=6, reasoning_tokens=7,
)  # fmt: skip
WHOLE = Reply(
    text="42", thinking="six by seven", finish="stop", usage=USAGE,
    seconds=1.0, request_id="r", served_by="m", logprobs={"4": -0.1}, rung="tool",
    round={"posts": []}, tool_calls=(ToolCall(name="add", arguments={}, id="1"),),
    carried={"openai": 1}, files={"a": "b"}, refused={"seed": ""},
)  # fmt: skip


@pytest.mark.parametrize("cost", [None, 0.5, 0.75])
def test_what_becomes_known_of_a_reply_leaves_the_rest_of_it(cost: float | None) -> None:
    for whole, empty in ((WHOLE, Reply(text=None)), (USAGE, Usage())):
        assert all(getattr(whole, f.name) != getattr(empty, f.name) for f in fields(whole))
    known = {"rung": "schema", "seconds": 0.25, "request_id": "other"}
    expected = replace(WHOLE, **known, usage=replace(USAGE, cost=cost))
    assert WHOLE.received(**known, cost=cost) == expected
