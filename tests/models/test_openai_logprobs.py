"""Log-probabilities of a reply's first token, from servers that give many, few or none."""

from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import Any

import pytest

from proctor.core.encoding import reply_from, request_from
from proctor.core.exchange import Reply, Request
from proctor.core.fingerprint import plain
from proctor.io.concurrency import run_sync
from proctor.testing import FakeServer
from proctor.testing.faults import Fault
from proctor.testing.replies import Answer

GIVEN = {"4": log(0.7), "5": log(0.2), " 4": log(0.05), "x": -9.0}


def once(found: Any, request: Request) -> Reply:
    async def work() -> Reply:
        try:
            reply: Reply = await found.reply(request)
            return reply
        finally:
            await found.close()

    return run_sync(work())


def body_of(content: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "4"}
    return {"choices": [{"message": message, "logprobs": content}]}


def test_they_are_asked_for_and_read(model: Callable[..., Any], ask: Any) -> None:
    with FakeServer(lambda m, b: Answer("4", logprobs=GIVEN)) as server:
        wanted = replace(ask(), top_logprobs=3)
        reply = once(model("openai", model="m", urls=[server.url]), wanted)
        silent = once(model("openai", model="m", urls=[server.url]), ask())
    assert reply.logprobs == {"4": log(0.7), "5": log(0.2), " 4": log(0.05)}
    assert silent.logprobs == {}
    first, second = (call.body for call in server.calls)
    assert (first["logprobs"], first["top_logprobs"]) == (True, 3)
    assert not {"logprobs", "top_logprobs"} & set(second)
    assert reply_from(plain(reply)) == reply
    assert request_from(plain(wanted)) == wanted


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, {}),
        ({}, {}),
        ({"content": None}, {}),
        ({"content": []}, {}),
        ({"content": [{"token": "4", "logprob": -0.5}]}, {"4": -0.5}),
        ({"content": [{"token": "4", "logprob": -0.5, "top_logprobs": []}]}, {"4": -0.5}),
        ({"content": [{"top_logprobs": [{"token": "4", "logprob": None}]}]}, {}),
        (
            {"content": [{"top_logprobs": [{"token": "4", "logprob": log(0.5)},
                                           {"token": "4", "logprob": log(0.25)}]}]},
            {"4": log(0.75)},
        ),
        (
            {"content": [{"top_logprobs": [{"token": "x", "logprob": -9999.0}] * 2}]},
            {"x": -9999.0 + log(2)},
        ),
    ],
)  # fmt: skip
def test_odd_replies(
    model: Callable[..., Any], ask: Any, content: Any, found: dict[str, float]
) -> None:
    with FakeServer(lambda m, b: body_of(content)) as server:
        wanted = replace(ask(), top_logprobs=5)
        reply = once(model("openai", model="m", urls=[server.url]), wanted)
    assert reply.logprobs == pytest.approx(found)
    assert reply.text == "4"


@pytest.mark.parametrize(("most", "asked"), [(5, [20, 5]), (0, [20, 5, None])])
def test_a_server_that_gives_fewer_or_none(
    model: Callable[..., Any], ask: Any, most: int, asked: list[int | None]
) -> None:
    def say(messages: list[Any], body: Any) -> Any:
        if body.get("top_logprobs", 0) > most:
            return Fault("error", status=400, message=f"top_logprobs must be at most {most}")
        return Answer("4", logprobs=GIVEN)

    with FakeServer(say) as server:
        reply = once(model("openai", model="m", urls=[server.url]), replace(ask(), top_logprobs=20))
    assert [call.body.get("top_logprobs") for call in server.calls] == asked
    assert bool(reply.logprobs) == bool(most)
