"""Calls that are kept before they are used, asked once, and never beyond the money allowed."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from proctor.contracts.judge import Talk, Voice
from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Reply, Request, Usage
from proctor.core.suite import Message
from proctor.engine.models import call_cache
from proctor.engine.models.budget import Budget
from proctor.engine.models.call_cache import CallLog, StoredModel
from proctor.engine.models.call_scope import CallScope
from proctor.engine.models.roles import Models
from proctor.engine.run.settings import CallSettings
from proctor.errors import BudgetError, JudgeError, ModelError, StoreError, UsageError
from proctor.io import concurrency
from proctor.judging import ModelJudge
from proctor.store.calls import Calls
from proctor.store.database import Database
from proctor.store.rows import CallRow
from proctor.store.store import Store
from proctor.testing import ScriptedModel

Ask = Callable[..., Request]


class CountingCalls(Calls):
    """Count how often the database is gone to, and fail where a test says so."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.puts: list[int] = []
        self.gets: list[int] = []
        self.broken: Exception | None = None

    def put(self, calls: Iterable[CallRow]) -> None:
        rows = list(calls)
        if self.broken is not None:
            raise self.broken
        self.puts.append(len(rows))
        super().put(rows)

    def get_many(self, keys: Iterable[str]) -> dict[str, CallRow]:
        wanted = list(keys)
        if self.broken is not None:
            raise self.broken
        self.gets.append(len(wanted))
        return super().get_many(wanted)


class Counting(Store):
    """A store whose calls are counted."""

    calls: CountingCalls

    def __init__(self, database: Database, *more: Any) -> None:
        super().__init__(database, *more)
        self.calls = CountingCalls(database)


@pytest.fixture
def counting(tmp_path: Path) -> Any:
    with Counting.open(str(tmp_path / "counted.db")) as opened:
        yield opened


@dataclass
class Gated(ScriptedModel):
    """Answer when the gate opens."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def reply(self, request: Request) -> Reply:
        made = await super().reply(request)
        await self.gate.wait()
        return made


@dataclass
class Paid(ScriptedModel):
    """Cost a quarter of a dollar a call."""

    price: tuple[float, float] | None = (0.0, 250_000.0)
    cost: float | None = 0.25

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        await asyncio.sleep(0)
        return Reply(text="ok", usage=Usage(calls=1, completion_tokens=1, cost=self.cost))


async def each(works: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Do all at once, and return what came of each, errors included."""

    async def kept(pair: tuple[int, Coroutine[Any, Any, Any]]) -> tuple[int, Any]:
        try:
            return pair[0], await pair[1]
        except (ModelError, StoreError, ValueError) as error:
            return pair[0], error

    found = {}
    async with aclosing(concurrency.map_unordered(enumerate(works), kept, limit=1000)) as pairs:
        async for number, made in pairs:
            found[number] = made
    return [found[number] for number in sorted(found)]


def row(key: str, status: str = "ok") -> CallRow:
    return CallRow(key=key, model="m", request={}, response={"text": key}, status=status)


async def until(condition: Callable[[], Any]) -> None:
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came")


def test_under_load_replies_wait_for_each_other_and_look_ups_for_nobody(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        log = CallLog(counting)
        await each(log.keep(row(f"k{n}")) for n in range(20))
        monkeypatch.setattr(call_cache, "MOMENT", 3600.0)
        kept = [asyncio.ensure_future(log.keep(row(key))) for key in ("a", "b")]
        assert (await log.find("k1")).key == "k1"  # type: ignore[union-attr]
        assert await log.find("never") is None
        assert not any(future.done() for future in kept)
        assert counting.calls.puts == [20]
        # Who wants one of them need not wait: all are written at once.
        assert (await log.find("a")).key == "a"  # type: ignore[union-attr]
        await until(lambda: all(future.done() for future in kept))
        assert counting.calls.puts == [20, 2]
        await each(log.keep(row(f"l{n}")) for n in range(20))
        discarded = asyncio.ensure_future(log.discard("k1", 0.0))
        await asyncio.sleep(0)
        assert await log.find("k1") is None
        await until(discarded.done)

    asyncio.run(work())


@pytest.mark.parametrize("kind", ["keep", "discard"])
def test_what_waits_for_others_is_written_where_the_waiting_is_given_up(
    counting: Counting, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    log = CallLog(counting)

    async def given_up() -> None:
        await each(log.keep(row(f"k{n}")) for n in range(20))
        monkeypatch.setattr(call_cache, "MOMENT", 3600.0)
        work = log.keep(row("paid")) if kind == "keep" else log.discard("k1", 0.0)
        waiting = asyncio.ensure_future(work)
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()

    asyncio.run(given_up())
    if kind == "keep":
        assert counting.calls.find("paid") is not None
    else:
        assert counting.calls.get_many(["k1"])["k1"].status == "unusable"

    async def in_another_loop() -> None:
        async with asyncio.timeout(20):
            await log.keep(row("later"))

    monkeypatch.setattr(call_cache, "MOMENT", 0.0)
    asyncio.run(in_another_loop())


def test_calls_that_come_together_share_a_transaction(counting: Counting) -> None:
    async def work() -> tuple[list[Any], list[Any]]:
        log = CallLog(counting)
        await each(log.keep(row(f"k{n}")) for n in range(20))
        await log.keep(row("alone"))
        first = await each(log.find(f"k{n}") for n in range(20))
        return first, await each([log.keep(row("new")), log.find("new"), log.find("never")])

    first, mixed = asyncio.run(work())
    assert [found.response["text"] for found in first] == [f"k{n}" for n in range(20)]
    assert (mixed[0], mixed[1].key, mixed[2]) == (None, "new", None)
    assert counting.calls.puts == [20, 1, 1]
    assert counting.calls.gets == [20, 2]


def test_under_load_calls_of_one_moment_share_a_transaction(counting: Counting) -> None:
    async def later(log: CallLog, number: int) -> None:
        await asyncio.sleep(0.0004 * number)
        await log.keep(row(f"later {number}"))

    async def work() -> float:
        log = CallLog(counting)
        await each(log.keep(row(f"k{n}")) for n in range(20))
        await each(later(log, number) for number in range(4))
        await log.keep(row("alone"))
        begun = asyncio.get_running_loop().time()
        await log.keep(row("at once"))
        return asyncio.get_running_loop().time() - begun

    asyncio.run(work())
    puts = counting.calls.puts
    assert puts[0] == 20
    assert sum(puts) == 26
    assert len(puts) <= 5, "four calls within two milliseconds are written together, or nearly so"
    assert puts[-2:] == [1, 1], "a single call waits for nobody"


def test_a_call_that_ended_badly_is_not_found(counting: Counting) -> None:
    async def work() -> Any:
        log = CallLog(counting)
        await log.keep(row("k", status="error"))
        before = await log.find("k")
        await log.keep(row("k"))
        return before, await log.find("k")

    before, after = asyncio.run(work())
    assert before is None
    assert after.status == "ok"


@pytest.mark.parametrize("broken", [StoreError("the disk is full"), ValueError("not JSON")])
def test_the_log_survives_a_store_that_fails_for_a_while(
    counting: Counting, broken: Exception
) -> None:
    async def work() -> tuple[list[Any], Any]:
        log = CallLog(counting)
        counting.calls.broken = broken
        failed = await each([log.keep(row("a")), log.keep(row("b")), log.find("c")])
        counting.calls.broken = None
        await log.keep(row("a"))
        return failed, await log.find("a")

    failed, found = asyncio.run(work())
    assert failed == [broken] * 3
    assert found.key == "a"


def test_a_reply_that_could_not_be_kept_is_not_used(counting: Counting, ask: Ask) -> None:
    async def work() -> None:
        await StoredModel(ScriptedModel(), CallLog(counting)).reply(ask())

    counting.calls.broken = StoreError("the disk is full")
    with pytest.raises(StoreError, match="the disk is full"):
        asyncio.run(work())


@pytest.mark.parametrize(
    ("other", "asked"),
    [
        ({}, 1),
        ({"salt": "second"}, 2),
        ({"temperature": 0.5}, 2),
        ({"max_tokens": 5}, 2),
        ({"text": "Who?"}, 2),
        ({"extra": {"think": True}}, 2),
    ],
)
def test_what_was_asked_is_not_asked_again(
    tmp_path: Path, ask: Ask, other: dict[str, Any], asked: int
) -> None:
    """Neither by this process nor, with a store handle of its own, by the next."""
    inner = ScriptedModel("a \ud800 reply")
    replies = []
    for request in (ask(), ask(**other)):
        with Store.open(str(tmp_path / "one.db")) as opened:
            model = StoredModel(inner, CallLog(opened))
            replies.append(asyncio.run(model.reply(request)))
    assert len(inner.requests) == asked
    assert [reply.text for reply in replies] == ["a \ud800 reply"] * 2
    assert replies[0].usage == replies[1].usage
    assert replies[0].usage.calls == 1


def test_a_stored_reply_says_what_the_server_had_not_taken(store: Store, ask: Ask) -> None:
    """So that whoever rests on it can say so, too, though nothing is refused any more."""

    class Refusing(ScriptedModel):
        async def reply(self, request: Request) -> Reply:
            return replace(await super().reply(request), refused={"temperature": ""})

    for inner in (Refusing("warm"), ScriptedModel("cold")):
        model = StoredModel(inner, CallLog(store))
        assert asyncio.run(model.reply(ask())).refused == {"temperature": ""}
    assert model.refused == {"temperature": ""}


def test_models_are_told_apart(store: Store, ask: Ask) -> None:
    log = CallLog(store)
    models = [StoredModel(ScriptedModel(name, name=name), log) for name in ("a", "b")]
    said = [asyncio.run(model.reply(ask())).text for model in (*models, *models)]
    assert said == ["a", "b", "a", "b"]
    assert [model.bought for model in models] == [1, 1]


def test_equal_requests_at_once_are_one_call(store: Store, ask: Ask) -> None:
    inner = ScriptedModel(["first", "second"])
    model = StoredModel(inner, CallLog(store))

    async def work() -> list[Any]:
        return await each(model.reply(ask()) for _ in range(5))

    assert [reply.text for reply in asyncio.run(work())] == ["first"] * 5
    assert (len(inner.requests), model.bought) == (1, 1)


def test_a_call_that_fails_fails_for_all_and_is_not_kept(store: Store, ask: Ask) -> None:
    inner = ScriptedModel([ModelError("busy", passing=True), "there"])
    model = StoredModel(inner, CallLog(store))

    async def work() -> tuple[list[Any], Reply]:
        return await each(model.reply(ask()) for _ in range(3)), await model.reply(ask())

    failed, later = asyncio.run(work())
    assert [str(error) for error in failed] == ["busy"] * 3
    assert later.text == "there"
    assert len(inner.requests) == 2


def test_a_caller_who_is_stopped_does_not_stop_the_others(store: Store, ask: Ask) -> None:
    inner = Gated("said")
    model = StoredModel(inner, CallLog(store))

    async def work() -> list[Any]:
        owner = asyncio.ensure_future(model.reply(ask()))
        await until(lambda: inner.requests)
        others = [asyncio.ensure_future(model.reply(ask())) for _ in range(3)]
        await asyncio.sleep(0)
        others[0].cancel()
        owner.cancel()
        inner.gate.set()
        done, _ = await asyncio.wait([owner, *others], timeout=30)
        assert len(done) == 4
        assert owner.cancelled()
        assert others[0].cancelled()
        return [other.result().text for other in others[1:]]

    assert asyncio.run(work()) == ["said", "said"]
    assert len(inner.requests) == 2
    assert asyncio.run(model.reply(ask())).text == "said"
    assert len(inner.requests) == 2


def test_every_reply_goes_to_the_cassette_once(store: Store, ask: Ask) -> None:
    class Tape:
        def __init__(self) -> None:
            self.added: list[tuple[Any, str, str | None]] = []

        def add(self, identity: Any, request: Request, reply: Reply) -> None:
            self.added.append((identity["model"], request.salt, reply.text))

    async def work(model: StoredModel) -> None:
        await each(model.reply(ask(salt=salt)) for salt in ("x", "x", "y"))

    for _ in range(2):  # the second time all comes from the store
        tape = Tape()
        asyncio.run(work(StoredModel(ScriptedModel("ok"), CallLog(store), recorder=tape)))
        assert sorted(tape.added) == [("scripted", "x", "ok"), ("scripted", "y", "ok")]


# money


@pytest.mark.parametrize(
    ("most", "bought"), [(1.0, 4), (1.1, 4), (0.3, 1), (0.2, 0), (0.0, 0), (None, 10)]
)
def test_no_more_is_bought_than_there_is_money_for(
    store: Store, ask: Ask, most: float | None, bought: int
) -> None:
    inner = Paid()
    model = StoredModel(inner, CallLog(store), Budget(most=most))

    async def work() -> list[Any]:
        return await each(model.reply(ask(salt=str(n), max_tokens=1)) for n in range(10))

    made = asyncio.run(work())
    assert len(inner.requests) == bought
    assert sum(isinstance(reply, BudgetError) for reply in made) == 10 - bought
    assert model.budget.spent == bought * 0.25
    assert model.budget.refused is (bought < 10)


def test_calls_from_the_store_count(store: Store, ask: Ask) -> None:
    inner = Paid()
    for number in range(4):
        model = StoredModel(inner, CallLog(store))
        asyncio.run(model.reply(ask(salt=str(number), max_tokens=1)))
    limited = StoredModel(inner, CallLog(store), Budget(most=1.0))

    async def work() -> list[Any]:
        return [*await each(limited.reply(ask(salt=str(n), max_tokens=1)) for n in range(4)),
                *await each([limited.reply(ask(salt="new", max_tokens=1))])]  # fmt: skip

    made = asyncio.run(work())
    assert [type(reply) for reply in made] == [Reply] * 4 + [BudgetError]
    assert (len(inner.requests), limited.budget.spent) == (4, 1.0)


# replies of no use


def test_a_discarded_reply_is_asked_for_again_and_only_that(store: Store, ask: Ask) -> None:
    inner = ScriptedModel(["bad", "good", "later"])
    model = StoredModel(inner, CallLog(store))

    async def work() -> list[Any]:
        said = []
        with CallScope.opened() as scope:
            said.append((await model.reply(ask())).text)
            assert not await model.discard([ask()]), "it was bought just now"
            said.append((await model.reply(ask())).text)
        assert (scope.discarded, scope.all_stored, scope.broken) == (True, False, False)
        with CallScope.opened() as scope:
            said.append((await model.reply(ask())).text)
            assert scope.all_stored
            assert await model.discard([ask()]), "it came from the store"
        return [*said, (await model.reply(ask())).text]

    assert asyncio.run(work()) == ["bad", "good", "good", "later"]


def test_what_was_asked_anew_meanwhile_is_not_discarded_with_the_old(
    store: Store, ask: Ask
) -> None:
    inner = ScriptedModel(["old", "new"])
    model = StoredModel(inner, CallLog(store))

    async def work() -> str | None:
        await model.reply(ask())
        with CallScope.opened() as slow:
            await model.reply(ask())
            with CallScope.opened():
                await model.reply(ask())
                await model.discard([ask()])
            assert (await model.reply(ask())).text == "new"
            await slow.discard(slow.replies[:1])
        return (await model.reply(ask())).text

    assert asyncio.run(work()) == "new"
    assert len(inner.requests) == 2


def test_what_belongs_to_no_work_is_discarded_all_the_same(store: Store, ask: Ask) -> None:
    model = StoredModel(ScriptedModel(["bad", "good"]), CallLog(store))

    async def work() -> list[Any]:
        said = [(await model.reply(ask())).text for _ in range(2)]
        assert await model.discard([ask(), ask("never asked")]) is False
        return [*said, *[(await model.reply(ask())).text for _ in range(2)]]

    assert asyncio.run(work()) == ["bad", "bad", "good", "good"]


class Weighed(BaseModel):
    """Hold a verdict."""

    text: str


class Talked(Talk[Weighed]):
    """Find nothing in one plain reply."""

    async def hold(self, voice: Voice) -> Weighed | None:
        await voice.say([Message(role="user", content="briefly?")], top_logprobs=3)
        return None


def test_a_talk_before_an_unreadable_verdict_is_held_again(store: Store, ask: Ask) -> None:
    said = [Reply(text="3", logprobs={"x": -9.0}), "no", "no", "no",
            Reply(text="3", logprobs={"x": -9.0}), '{"text": "well"}']  # fmt: skip
    inner = ScriptedModel(said)
    judge = ModelJudge(model=StoredModel(inner, CallLog(store), role="judge"))

    async def work() -> str:
        for count in (4, 6):
            with CallScope.opened():
                with suppress(JudgeError):
                    ruling = await judge.ask(ask().messages, Weighed, reader=Talked())
                assert len(inner.requests) == count
        with CallScope.opened():
            assert (await judge.ask(ask().messages, Weighed, reader=Talked())) == ruling
        return ruling.verdict.text

    assert asyncio.run(work()) == "well"
    assert len(inner.requests) == 6


@pytest.mark.parametrize(
    ("spec", "prices", "fine"),
    [
        ("openai:m@http://10.0.0.1/v1", {}, False),
        ("openai:m@http://10.0.0.1/v1", {"other": (1.0, 2.0)}, False),
        ("openai:m@http://10.0.0.1/v1", {"m": (1.0, 2.0)}, True),
        ("openai:m@http://10.0.0.1/v1", {"openai:m": (1.0, 2.0)}, True),
        ("openai:m@http://127.0.0.1:1/v1", {}, False),
        ("openai:m@http://127.0.0.1:1/v1", {"m": (0.0, 0.0)}, True),
        ("openai:m@http://localhost:1/v1", {}, False),
        ("openai:gpt-4o", {}, True),
        ("replay:nothing.jsonl", {}, True),
    ],
)
def test_a_limit_wants_prices(
    store: Store, spec: str, prices: dict[str, tuple[float, float]], fine: bool
) -> None:
    models = Models(store, CallSettings(max_cost=1.0, prices=prices))
    if fine:
        assert models.open(ModelChoice(spec=spec)).price is not None
    else:
        with pytest.raises(UsageError, match="--price 'openai:m=IN/OUT'"):
            models.open(ModelChoice(spec=spec))
    assert (
        Models(store, CallSettings()).open(ModelChoice(spec=spec)).label == spec.partition("@")[0]
    )
