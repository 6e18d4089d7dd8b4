"""Money: reservations that learn, calls that wait, and a limit that holds to what is under way."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from proctor.contracts.model import Model
from proctor.core.exchange import Reply, Request, Usage, cost_of
from proctor.core.suite import Json
from proctor.engine.models.budget import Budget, Experience, PricedRequest, tokens
from proctor.engine.models.call_cache import CallLog, StoredModel
from proctor.engine.run.settings import CallSettings
from proctor.errors import BudgetError, ModelError, UsageError
from proctor.io import concurrency
from proctor.store.store import Store

Ask = Callable[..., Request]
PRICE = (2.5, 10.0)


@dataclass
class Provider(Model):
    """A provider with known prices, replies of all lengths, and calls that take their time."""

    lengths: Callable[[random.Random], int] = lambda chance: chance.randint(5, 60)
    price: tuple[float, float] | None = PRICE
    name: str = "p"
    tells: bool = True
    """Whether it tells how many tokens a call took."""
    bill: float = 0.0
    dearest: float = 0.0
    under_way: int = 0
    most_under_way: int = 0
    calls: list[str] = field(default_factory=list)
    seed: int = 1

    @property
    def identity(self) -> Json:
        return {"provider": "paid", "model": self.name}

    @property
    def label(self) -> str:
        return f"paid:{self.name}"

    async def check(self) -> None:
        pass

    async def reply(self, request: Request) -> Reply:
        chance = random.Random(f"{self.seed} {request.salt}")
        self.calls.append(request.salt)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(chance.random() / 500)
        self.under_way -= 1
        said = self.lengths(chance)
        text = sum(len(m.content) for m in request.messages)
        told = Usage(calls=1, prompt_tokens=text // 3 + 7, completion_tokens=said)
        cost = cost_of(self.price, told) or 0.0
        self.bill += cost
        self.dearest = max(self.dearest, cost)
        usage = Usage(calls=1, cost=None)
        if self.tells:
            usage = Usage(
                calls=1, prompt_tokens=told.prompt_tokens, completion_tokens=said, cost=cost
            )
        return Reply(text="word" * said, usage=usage)


async def at_once(works: list[Coroutine[Any, Any, Any]], limit: int) -> list[Any]:
    async def kept(work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        except ModelError as error:
            return error

    made = []
    async with aclosing(concurrency.map_unordered(works, kept, limit=limit)) as done:
        async for one in done:
            made.append(one)
    return made


def bought(
    models: list[StoredModel], ask: Ask, *, number: int = 90, limit: int = 16
) -> list[BudgetError]:
    """Let models answer one question after the other, and return what was refused."""

    async def work() -> list[Any]:
        asked = [
            models[n % len(models)].reply(ask("What is it? " * (n % 7 + 1), salt=str(n)))
            for n in range(number)
        ]
        return await asyncio.wait_for(at_once(asked, limit), 60)

    return [one for one in asyncio.run(work()) if isinstance(one, BudgetError)]


def long_tail(chance: random.Random) -> int:
    return 3000 if chance.random() < 0.05 else chance.randint(1, 30)


def constant(chance: random.Random) -> int:
    return 20


LENGTHS = {"even": Provider.lengths, "constant": constant, "long tail": long_tail}


@pytest.mark.parametrize("limit", [1, 4, 16, 64])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.sampled(4)
def test_all_calls_are_made_where_their_true_cost_is_under_the_limit(
    store: Store, ask: Ask, lengths: str, limit: int
) -> None:
    free = Provider(lengths=LENGTHS[lengths])
    assert bought([StoredModel(free, CallLog(store))], ask) == []
    paid = Provider(lengths=LENGTHS[lengths], name="q")
    budget = Budget(most=free.bill * 1.02)
    assert bought([StoredModel(paid, CallLog(store), budget)], ask, limit=limit) == []
    assert len(paid.calls) == 90
    assert budget.spent == pytest.approx(paid.bill)
    assert not budget.refused


@pytest.mark.parametrize("limit", [1, 4, 16, 64])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.sampled(8)
@pytest.mark.slow
def test_the_limit_is_exceeded_by_no_more_than_what_is_under_way(
    store: Store, ask: Ask, lengths: str, limit: int, share: float
) -> None:
    free = Provider(lengths=LENGTHS[lengths])
    bought([StoredModel(free, CallLog(store))], ask)
    paid = Provider(lengths=LENGTHS[lengths], name="q")
    budget = Budget(most=free.bill * share)
    refused = bought([StoredModel(paid, CallLog(store), budget)], ask, limit=limit)
    assert budget.refused
    assert len(refused) == 90 - len(paid.calls) > 0
    assert paid.bill <= free.bill * share + paid.most_under_way * paid.dearest
    if lengths == "constant":
        assert paid.bill <= free.bill * share, "what is known to cost too much is not begun"
    assert paid.bill >= free.bill * share - 2 * free.dearest, "what fits is bought"


def test_the_cap_of_five_cents_lets_ninety_cheap_calls_through(store: Store, ask: Ask) -> None:
    paid = Provider(lengths=lambda chance: 5)
    budget = Budget(most=0.05)
    assert bought([StoredModel(paid, CallLog(store), budget)], ask, limit=64) == []
    assert paid.bill < 0.02
    assert paid.most_under_way > 16, "once replies are known to be short, few have to wait"


def test_the_first_calls_are_begun_with_caution(store: Store, ask: Ask) -> None:
    """Nothing is known of the replies: one that is long costs all that is left, not 64 of them."""
    paid = Provider(lengths=lambda chance: 4000)
    budget = Budget(most=0.05)
    bought([StoredModel(paid, CallLog(store), budget)], ask, limit=64)
    assert len(paid.calls) == 1
    assert paid.bill <= 0.05


@pytest.mark.parametrize("limit", [1, 8, 64])
def test_candidates_judges_and_simulators_share_one_budget(
    store: Store, ask: Ask, limit: int
) -> None:
    budget, log = Budget(most=0.03), CallLog(store)
    providers = [Provider(name="a"), Provider(name="b", price=(10.0, 40.0))]
    models = [
        StoredModel(provider, log, budget, role=role)
        for provider in providers
        for role in ("candidate", "judge", "simulator")
    ]
    refused = bought(models, ask, number=300, limit=limit)
    bill = sum(provider.bill for provider in providers)
    assert refused
    assert budget.spent == pytest.approx(bill)
    assert bill <= 0.03 + limit * max(provider.dearest for provider in providers)


def test_a_reply_that_tells_no_tokens_is_counted(store: Store, ask: Ask) -> None:
    paid = Provider(tells=False, lengths=constant)
    budget = Budget(most=0.003)
    refused = bought([StoredModel(paid, CallLog(store), budget)], ask, limit=4)
    assert refused
    assert 0 < budget.spent <= 0.003 + 4 * paid.dearest


def test_what_is_free_never_waits(store: Store, ask: Ask) -> None:
    free = Provider(price=(0.0, 0.0))
    assert bought([StoredModel(free, CallLog(store), Budget(most=0.0))], ask) == []


def test_a_call_that_fails_gives_back_what_was_set_aside(store: Store, ask: Ask) -> None:
    class Failing(Provider):
        async def reply(self, request: Request) -> Reply:
            made = await super().reply(request)
            if int(request.salt) % 3:
                raise ModelError("it broke")
            return made

    paid = Failing(lengths=constant)
    budget = Budget(most=0.012)
    assert bought([StoredModel(paid, CallLog(store), budget)], ask, limit=64) == []
    assert len(paid.calls) == 90


def test_one_who_waits_may_be_stopped(ask: Ask) -> None:
    budget = Budget(most=1.0)
    priced = PricedRequest.of(ask(max_tokens=1), "m", (0.0, 600_000.0))

    async def work() -> None:
        first = await budget.reserve(priced)
        waiting = [asyncio.ensure_future(budget.reserve(priced)) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(one.done() for one in waiting), "there is room for one"
        waiting[0].cancel()
        await asyncio.sleep(0)
        budget.settle(first, priced, None)
        waiting[1].cancel()  # it was told to go on, and has not yet heard of it
        await asyncio.wait(waiting[:2])
        assert await waiting[2] == pytest.approx(0.6)
        budget.settle(0.6, priced, Reply(text="", usage=Usage(completion_tokens=1, cost=0.6)))
        with pytest.raises(BudgetError, match="what is left of the 1 dollars"):
            await budget.reserve(priced)

    asyncio.run(asyncio.wait_for(work(), 30))


def test_what_is_told_when_the_money_is_gone() -> None:
    budget = Budget(most=2.0)
    budget.before(Usage(calls=2, cost=1.0))
    budget.seen(1.25)
    with pytest.raises(BudgetError) as told:
        budget.check()
    assert str(told.value) == (
        "the 2 dollars of --max-cost are spent (2.2500 so far, 0.2500 of it by calls that were"
        " under way; fix: start again with a higher --max-cost; it resumes from there)"
    )
    assert budget.overdrawn == (
        "2.2500 dollars were spent, 0.2500 more than --max-cost allows, by calls that were under way"
    )
    assert Budget(most=2.0, spent=1.0).overdrawn == ""
    assert Budget(spent=1.0).overdrawn == ""


def test_what_earlier_calls_cost_is_not_guessed_lower(ask: Ask) -> None:
    budget = Budget(most=2.5)
    budget.before(Usage(calls=2, cost=2.0))
    budget.before(Usage(calls=3))
    with pytest.raises(BudgetError, match=r"1\.000000 at least; 2\.0000 spent so far"):
        asyncio.run(budget.reserve(PricedRequest.of(ask(), "m", (0.001, 0.0))))


def test_a_guess_learns_from_replies(ask: Ask) -> None:
    priced = PricedRequest.of(ask("x" * 400), "m", (1.0, 1.0))
    known = Experience()
    guesses = [known.most(priced)]
    for _ in range(9):
        known.take(priced, Usage(prompt_tokens=2 * priced.prompt, completion_tokens=10))
        guesses.append(known.most(priced))
    assert guesses == sorted(guesses, reverse=True)
    assert guesses[-1] < 2.6 * priced.prompt / 1e6
    assert known.least(priced) == pytest.approx((2 * priced.prompt + 10) / 1e6)
    longer = PricedRequest.of(ask("x" * 400, max_tokens=5), "m", (1.0, 1.0))
    assert known.most(longer) == pytest.approx((2 * priced.prompt + 5) / 1e6)


@pytest.mark.parametrize(
    "given",
    [{"max_cost": -1.0}, {"max_cost": float("nan")}, {"max_cost": float("inf")},
     {"prices": {"m": (1.0, -2.0)}}, {"prices": {"m": (float("nan"), 1.0)}}],
)  # fmt: skip
def test_money_is_a_number_of_dollars(given: Any) -> None:
    with pytest.raises(UsageError):
        CallSettings(**given)


@pytest.mark.parametrize(
    ("text", "number"), [("", 1), ("abcd", 2), ("abcdefgh", 3), ("你好", 3), ("你好abcd", 4)]
)
def test_tokens_are_guessed(text: str, number: int) -> None:
    assert tokens(text) == number
