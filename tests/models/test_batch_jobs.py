"""Batch jobs at both providers: handed in, found again, and read at half the price."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from proctor.contracts.batch_model import BatchModel
from proctor.core.exchange import Reply, ReplyShape, Request, Sampling
from proctor.core.suite import Message
from proctor.errors import ModelError
from proctor.models import batch_jobs
from proctor.testing import Answer, FakeServer

each = pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic"])


def ask(text: str, **more: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), **more)


def script(messages: list[Any], body: Any) -> Any:
    text = str(messages)
    return Answer("no" if "2" in text else '{"ok":true}', tokens=(1000, 100))


@each
def test_a_job(model: Callable[..., Any], provider: str) -> None:
    shape = ReplyShape(name="v", schema={"type": "object"})
    requests = [ask("1", shape=shape, sampling=Sampling(temperature=0)), ask("2")]

    async def main(server: FakeServer) -> dict[str, Reply | ModelError]:
        client = model(provider, model="m", urls=[server.url], price_given=[2, 8])
        assert isinstance(client, BatchModel)
        try:
            await client.reply(requests[0])  # what is refused is learned from it
            written = [client.written(request) for request in requests]
            assert "temperature" not in written[0].body
            assert written[0].refused == {"temperature": ""}
            names = {f"job1-{n}": one for n, one in enumerate(written)}
            bodies = {name: one.body for name, one in names.items()}
            began = time.time()
            remote = await client.submit("job1", written[0].path, bodies)
            assert not (await client.job_state(remote)).ended
            server.batches.seconds = 0
            state = await client.job_state(remote)
            assert (state.ended, state.done, state.total) == (True, 2, 2)
            assert await client.find_job("job1", began, 2) == remote
            assert await client.find_job("job2", began, 2) == ""
            rungs = {name: one.rung for name, one in names.items()} | {"job1-9": ""}
            return await client.job_replies(remote, rungs)
        finally:
            await client.close()

    with FakeServer(script, refuses=("temperature",), batch_seconds=3600) as server:
        replies = asyncio.run(main(server))
    first, second = replies["job1-0"], replies["job1-1"]
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert (first.text, second.text, first.rung) == ('{"ok":true}', "no", "schema")
    assert first.usage.cost == pytest.approx((1000 * 2 + 100 * 8) / 1e6 / 2)
    missing = replies["job1-9"]
    assert isinstance(missing, ModelError)
    assert missing.passing


@each
def test_requests_that_fail_are_errors_of_their_own(
    model: Callable[..., Any], provider: str
) -> None:
    async def main(server: FakeServer) -> dict[str, Reply | ModelError]:
        client = model(provider, model="m", urls=[server.url])
        try:
            good, bad = ask("1"), ask("2", sampling=Sampling(temperature=0))
            written = {"j-0": client.written(good), "j-1": client.written(bad)}
            bodies = {name: one.body for name, one in written.items()}
            remote = await client.submit("j", written["j-0"].path, bodies)
            assert (await client.job_state(remote)).ended
            return await client.job_replies(remote, dict.fromkeys(written, ""))
        finally:
            await client.close()

    with FakeServer("yes", refuses=("temperature",)) as server:
        replies = asyncio.run(main(server))
    assert isinstance(replies["j-0"], Reply)
    error = replies["j-1"]
    assert isinstance(error, ModelError)
    assert "temperature" in str(error)
    assert not error.passing


def test_a_server_without_jobs_says_so(stub: Any, model: Callable[..., Any]) -> None:
    server = stub(lambda *_: (404, {}, b'{"detail": "Not Found"}'))

    async def main() -> None:
        client = model("anthropic", model="m", urls=[server.root])
        try:
            await client.submit("j", "/messages", {"j-0": {}})
        finally:
            await client.close()

    with pytest.raises(ModelError, match="Not Found") as raised:
        asyncio.run(main())
    assert not raised.value.passing
    assert batch_jobs.LARGEST_RESULTS > 2**20
