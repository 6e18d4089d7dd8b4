"""Calls in batch jobs: each handed in once, whatever happens, and stored before it is used."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.core.exchange import Reply, Request, Sampling
from proctor.core.fingerprint import digest
from proctor.core.suite import Message, Spec
from proctor.engine.models import batching
from proctor.engine.models.batching import BatchedModel, BatchQueue
from proctor.engine.models.budget import Budget
from proctor.engine.models.call_cache import CallLog
from proctor.errors import ModelError, UsageError
from proctor.models import batch_jobs
from proctor.registry import build
from proctor.store.store import Store
from proctor.testing import Answer, FakeServer

each = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "QUIET", 0.05)
    monkeypatch.setattr(batching, "FIRST_POLL", 0.02)
    monkeypatch.setattr(batch_jobs, "POLL", 0.02)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(lambda m, b: Answer(m[-1]["content"][::-1], tokens=(1000, 100))) as made:
        yield made


def ask(text: str) -> Request:
    return Request(messages=(Message(role="user", content=text),))


class Batched:
    """A command's model, with its queue."""

    def __init__(
        self, store: Store, server: FakeServer, provider: str, budget: Budget | None = None
    ) -> None:
        params = {"model": "m", "urls": [server.url], "price_given": [2, 8], "retries": 1}
        self.client: Any = build("model", Spec(name=provider, params=params))
        log = CallLog(store)
        self.told: list[str] = []
        self.queue = BatchQueue(self.client, store, log, self.told.append)
        self.model = BatchedModel(self.client, log, budget or Budget(), queue=self.queue)

    async def replies(self, *texts: str) -> list[Reply | BaseException]:
        return await self.replies_to(*map(ask, texts))

    async def replies_to(self, *requests: Request) -> list[Reply | BaseException]:
        try:
            waiting = [asyncio.ensure_future(self.model.reply(one)) for one in requests]
            await asyncio.wait(waiting)
            return [one.exception() or one.result() for one in waiting]
        finally:
            await self.close()

    async def close(self) -> None:
        await self.queue.close()
        await self.client.close()


def texts_of(replies: list[Any]) -> list[str]:
    return [reply.text for reply in replies]


@each
def test_the_first_call_alone_and_the_others_in_one_job(
    store: Store, server: FakeServer, provider: str
) -> None:
    made = Batched(store, server, provider)
    replies = asyncio.run(made.replies("ab", "cd", "ef"))
    assert texts_of(replies) == ["ba", "dc", "fe"]
    full = (1000 * 2 + 100 * 8) / 1e6
    assert [reply.usage.cost for reply in replies if isinstance(reply, Reply)] == pytest.approx(
        [full, full / 2, full / 2]
    )
    assert [len(job.requests) for job in server.batches.jobs] == [2]
    assert made.model.price == (1.0, 4.0)
    assert "has 2 calls" in made.told[0]
    assert store.batches.of_model(digest(made.client.identity)) == []
    again = Batched(store, server, provider)
    assert texts_of(asyncio.run(again.replies("ab", "cd", "ef"))) == ["ba", "dc", "fe"]
    assert (again.model.bought, len(server.calls), len(server.batches.jobs)) == (0, 3, 1)


async def abandoned(made: Batched, *texts: str, until: Any) -> None:
    """Ask, and go away as soon as something is the case, as a killed process does."""
    waiting = [asyncio.ensure_future(made.model.reply(ask(text))) for text in texts]
    while not until():
        await asyncio.sleep(0.005)
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting)
    await made.close()


@each
def test_a_job_of_an_earlier_command_is_collected_and_not_handed_in_again(
    store: Store, server: FakeServer, provider: str
) -> None:
    server.batches.seconds = 3600
    made = Batched(store, server, provider)
    asyncio.run(abandoned(made, "ab", "cd", "ef", until=lambda: made.told))
    assert store.batches.pending() == 2
    server.batches.seconds = 0
    later = Batched(store, server, provider)
    assert texts_of(asyncio.run(later.replies("cd", "ab", "ef", "gh"))) == ["dc", "ba", "fe", "hg"]
    assert "handed in earlier" in later.told[0]
    assert [len(job.requests) for job in server.batches.jobs] == [2]
    assert store.batches.pending() == 0
    assert server.finished_twice() == []


@each
def test_a_job_whose_arrival_was_not_heard_of_is_found(
    store: Store, server: FakeServer, provider: str
) -> None:
    server.batches.seconds = 3600
    made = Batched(store, server, provider)

    async def lost(*_: Any) -> str:
        await submit(*_)
        raise ModelError("the connection broke", passing=True)

    submit, made.client.submit = made.client.submit, lost
    find = made.client.find_job

    async def unheard(*_: Any) -> str:
        await asyncio.sleep(3600)
        return ""

    made.client.find_job = unheard
    asyncio.run(abandoned(made, "ab", "cd", "ef", until=lambda: server.batches.jobs))
    assert find
    (row,) = store.batches.of_model(digest(made.client.identity))
    assert row.remote == ""
    server.batches.seconds = 0.2
    later = Batched(store, server, provider)
    assert texts_of(asyncio.run(later.replies("cd", "ab", "ef"))) == ["dc", "ba", "fe"]
    assert [len(job.requests) for job in server.batches.jobs] == [2]
    assert server.finished_twice() == []


@each
@pytest.mark.parametrize("arrives", [True, False])
def test_a_broken_connection_while_a_job_is_handed_in(
    store: Store, server: FakeServer, provider: str, arrives: bool
) -> None:
    made = Batched(store, server, provider)
    submit, tries = made.client.submit, []

    async def broken(*order: Any) -> str:
        tries.append(order)
        if len(tries) == 1:
            if arrives:
                await submit(*order)
            raise ModelError("the connection broke", passing=True)
        return str(await submit(*order))

    made.client.submit = broken
    assert texts_of(asyncio.run(made.replies("ab", "cd", "ef"))) == ["ba", "dc", "fe"]
    assert len(tries) == (1 if arrives else 2)
    assert len(server.batches.jobs) == 1


@each
def test_a_job_that_never_arrived_is_forgotten_and_its_calls_are_made(
    store: Store, server: FakeServer, provider: str
) -> None:
    made = Batched(store, server, provider)

    async def never(*_: Any) -> str:
        await asyncio.sleep(3600)
        return ""

    made.client.submit = never
    asyncio.run(abandoned(made, "ab", "cd", "ef", until=store.batches.pending))
    later = Batched(store, server, provider)
    assert texts_of(asyncio.run(later.replies("cd", "ab", "ef"))) == ["dc", "ba", "fe"]
    assert [len(job.requests) for job in server.batches.jobs] in ([1], [])
    assert store.batches.pending() == 0


def test_what_a_provider_refuses_and_what_fails_in_a_job(store: Store) -> None:
    def script(messages: list[Any], body: Any) -> Any:
        text = str(messages[-1]["content"])
        return {"error": {"message": "bad luck"}} if text == "bad" else text

    with FakeServer(script, refuses=("temperature",)) as server:
        made = Batched(store, server, "openai")
        first, good, bad = asyncio.run(made.replies("a", "b", "bad"))
    assert isinstance(first, Reply)
    assert isinstance(good, Reply)
    assert isinstance(bad, ModelError)
    assert store.batches.pending() == 0

    with FakeServer("x", lacks=()) as server:
        made = Batched(store, server, "openai")

        async def refused(*_: Any) -> str:
            raise ModelError("no jobs here", passing=False)

        made.client.submit = refused
        first, second = asyncio.run(made.replies("c", "d"))
    assert isinstance(first, Reply)
    assert "no jobs here" in str(second)
    assert store.batches.pending() == 0


@each
def test_calls_that_a_job_refuses_are_asked_otherwise(store: Store, provider: str) -> None:
    field = "stop" if provider == "openai" else "stop_sequences"

    def script(messages: list[Any], body: Any) -> Any:
        return str(messages[-1]["content"])[::-1]

    with FakeServer(script, refuses=(field,)) as server:
        made = Batched(store, server, provider)

        stopped = Sampling(stop=("!",))
        requests = [ask("ab"), *(replace(ask(f"{n}x"), sampling=stopped) for n in range(4))]
        replies = asyncio.run(made.replies_to(*requests))
        assert texts_of(replies) == ["ba", "x0", "x1", "x2", "x3"]
        jobs = [list(job.requests.values()) for job in server.batches.jobs]
    # All four were refused in the first job; one was made by itself, and three are in the second.
    assert [len(job) for job in jobs] == [4, 3]
    assert not any(field in body for body in jobs[1])
    assert store.batches.pending() == 0


def test_one_process_at_a_time_has_jobs_of_a_model(
    store: Store, server: FakeServer, tmp_path: Path
) -> None:
    async def main() -> None:
        first = Batched(store, server, "openai")
        await first.model.reply(ask("ab"))
        with Store.open(str(tmp_path / "proctor.db")) as other:
            second = Batched(other, server, "openai")
            with pytest.raises(UsageError, match="another process has batch jobs"):
                await second.model.reply(ask("cd"))
            await first.close()
            await second.close()
            third = Batched(other, server, "openai")
            assert (await third.model.reply(ask("cd"))).text == "dc"
            await third.close()

    asyncio.run(main())


def test_a_budget_holds_for_jobs_too(store: Store, server: FakeServer) -> None:
    made = Batched(store, server, "openai", Budget(most=0.0075))
    replies = asyncio.run(made.replies("ab", "cd", "ef", "gh", "ij", "kl"))
    paid = [reply for reply in replies if isinstance(reply, Reply)]
    assert 0 < len(paid) < 6
    assert sum(reply.usage.cost or 0 for reply in paid) <= 0.0075
