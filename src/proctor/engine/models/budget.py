"""The budget of a command: money spent, reservations of running calls, and calls that wait.

Before a call, its maximum cost is reserved: the prompt is known, the length of the reply is
estimated conservatively and learned from replies of the same model in the same role. If the
reservation does not fit, the call waits for others to end, whose actual cost is usually lower; the
first call of a model in a role runs alone. A call is refused only if the money is really spent, or
if it alone would not fit into what is left.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING

from proctor.core.exchange import Reply, Request, Usage
from proctor.errors import BudgetError
from proctor.records import dataclass

if TYPE_CHECKING:
    import asyncio


Price = tuple[float, float]
"""US dollars per million tokens in and out."""

FIRST_REPLY = 4096
"""Assumed maximum tokens of a reply before any was seen, if no limit is set."""
PER_MESSAGE = 4
"""Tokens that servers add around each message."""
_PROMPT_RANGE = (0.5, 1.5)
"""Assumed range of the server's token count relative to ours, before any reply."""
_DUST = 1e-12


@cache
def _wide() -> re.Pattern[str]:
    """Return the pattern of a wide character; to compile it takes as long as a small run's work."""
    return re.compile(r"[\u2e80-\U0010ffff]")


def tokens(text: str) -> int:
    """Estimate the tokens of a text: four Latin letters, or one Chinese character, per token."""
    wide = len(_wide().findall(text))
    return wide + (len(text) - wide) // 4 + 1


@dataclass(frozen=True, slots=True)
class PricedRequest:
    """Size and price of a call before it is made."""

    who: str
    """The model and its role, as one key."""
    prompt: int
    """Estimated tokens of the prompt."""
    most: int | None
    """The token limit of the reply, if any."""
    price: Price | None

    @classmethod
    def of(cls, request: Request, who: str, price: Price | None) -> "PricedRequest":
        """Describe a request."""
        prompt = sum(tokens(message.content) + PER_MESSAGE for message in request.messages)
        return cls(who, prompt, request.sampling.max_tokens, price)

    @property
    def free(self) -> bool:
        """Tell whether it costs nothing."""
        return self.price is None or not any(self.price)

    def cost(self, prompt: float, completion: float) -> float:
        """Return dollars."""
        into, out = self.price or (0.0, 0.0)
        return (into * prompt + out * completion) / 1e6

    def reckoned(self, reply: Reply) -> Usage:
        """Return the usage of a call, by our own estimate if the server reported no tokens."""
        usage = reply.usage
        if usage.cost is not None or self.price is None:
            return usage
        completion_tokens = tokens(f"{reply.thinking}{reply.text or ''}")
        cost = self.cost(self.prompt, completion_tokens)
        return Usage(
            calls=1, prompt_tokens=self.prompt, completion_tokens=completion_tokens, cost=cost
        )


@dataclass
class RefusedCalls:
    """Whether a run was refused a call for lack of money, while others share the budget."""

    any: bool = False

    @classmethod
    def watch(cls) -> "RefusedCalls":
        """Begin to note refused calls of whatever the current task starts from here on."""
        watched = cls()
        _WATCHED.set(watched)
        return watched

    @classmethod
    def note(cls) -> None:
        """Note one."""
        if (watched := _WATCHED.get()) is not None:
            watched.any = True


_WATCHED: ContextVar[RefusedCalls | None] = ContextVar("refused calls", default=None)
UNCOUNTED = PricedRequest("", 0, None, None)
"""A call without a budget."""


@dataclass
class Experience:
    """Observed token counts of one model in one role."""

    replies: int = 0
    longest: int = 0
    shortest: int = 0
    prompt_range: tuple[float, float] | None = None
    """The lowest and highest ratio of the server's prompt count to ours."""
    excess: int = 0
    """The largest excess of the server's prompt count over ours, in tokens."""

    def take(self, priced: PricedRequest, usage: Usage) -> None:
        """Learn from a reply."""
        completion_tokens = usage.completion_tokens
        self.shortest = min(self.shortest, completion_tokens) if self.replies else completion_tokens
        self.longest = max(self.longest, completion_tokens)
        self.replies += 1
        if usage.prompt_tokens and priced.prompt:
            share = usage.prompt_tokens / priced.prompt
            low, high = self.prompt_range or (share, share)
            self.prompt_range = (min(low, share), max(high, share))
            self.excess = max(self.excess, usage.prompt_tokens - priced.prompt)

    def most(self, priced: PricedRequest) -> float:
        """Return the maximum cost of a call, more conservative the fewer replies were seen."""
        unseen = max(0, (priced.most or FIRST_REPLY) - self.longest)
        length = self.longest + unseen / (self.replies + 1) ** 2
        prompt = (self.prompt_range or _PROMPT_RANGE)[1] * priced.prompt
        if self.prompt_range is not None:
            prompt = min(prompt, priced.prompt + self.excess)
        return priced.cost(prompt, min(length, priced.most or length))

    def least(self, priced: PricedRequest) -> float:
        """Return the minimum cost of a call, as far as is known."""
        length = self.shortest if self.replies else 1
        share = (self.prompt_range or _PROMPT_RANGE)[0]
        return priced.cost(share * priced.prompt, min(length, priced.most or length))


@dataclass(eq=False)
class _Waiting:
    """A call that waits for its reservation."""

    priced: PricedRequest
    reserved: "asyncio.Future[float]"


@dataclass
class Budget:
    """The budget that all calls of a command share."""

    most: float | None = None
    """Dollars; None means no limit."""
    spent: float = 0.0
    refused: bool = False
    """Whether a call was refused for lack of money."""
    _least: float = 0.0
    """The minimum cost of the first refused call."""
    _earlier: tuple[float, float] | None = None
    """The lowest and highest cost of a call in earlier runs."""
    _reserved: float = 0.0
    _under_way: int = 0
    _experience: dict[str, Experience] = field(default_factory=dict)
    _new: dict[str, bool] = field(default_factory=dict)
    """Models in their first call: until it has ended, no other begins."""
    _queue: deque[_Waiting] = field(default_factory=deque)

    @property
    def words(self) -> str:
        """Return the message after a refused call."""
        assert self.most is not None
        fix = "fix: start again with a higher --max-cost; it resumes from there"
        if self.spent < self.most:
            left = self.most - self.spent
            return (
                f"what is left of the {self.most:g} dollars of --max-cost ({left:.6f}) is too"
                f" little for another call ({self._least:.6f} at least; {self.spent:.4f} spent so"
                f" far; {fix})"
            )
        over = self.spent - self.most
        beyond = f", {over:.4f} of it by calls that were under way" if over > 5e-5 else ""
        return (
            f"the {self.most:g} dollars of --max-cost are spent ({self.spent:.4f} so far{beyond};"
            f" {fix})"
        )

    @property
    def overdrawn(self) -> str:
        """Return the message if running calls cost more than was left."""
        over = 0.0 if self.most is None else self.spent - self.most
        if over <= 5e-5:
            return ""
        return (
            f"{self.spent:.4f} dollars were spent, {over:.4f} more than --max-cost allows, by calls"
            " that were under way"
        )

    def before_all(self, usages: Iterable[Usage]) -> None:
        """Take in what was paid for many such things, where there is a limit to hold."""
        if self.most is not None:
            for usage in usages:
                self.before(usage)

    def before(self, usage: Usage) -> None:
        """Count the cost of stored work that is not repeated."""
        if usage.cost:
            self.spent += usage.cost
            each = usage.cost / max(1, usage.calls)
            low, high = self._earlier or (each, each)
            self._earlier = (min(low, each), max(high, each))

    def stored(self, priced: PricedRequest, reply: Reply) -> None:
        """Learn from a reply that an earlier run paid for."""
        self._take(priced, priced.reckoned(reply))

    def seen(self, cost: float | None) -> None:
        """Count a cost from elsewhere, such as an agent's."""
        self.spent += cost or 0.0

    def check(self) -> None:
        """Raise a BudgetError if nothing is left."""
        if self.most is not None and self.spent >= self.most - _DUST:
            RefusedCalls.note()
            raise self._refusal(0.0)

    async def reserve(self, priced: PricedRequest) -> float:
        """Reserve money for a call, waiting until it fits, or raise a BudgetError."""
        try:
            return await self._reserve(priced)
        except BudgetError:
            RefusedCalls.note()
            raise

    async def _reserve(self, priced: PricedRequest) -> float:
        if self.most is None or priced.free:
            return 0.0
        if not self._queue and (reserved := self._admitted(priced)) is not None:
            return reserved
        import asyncio

        waiting = _Waiting(priced, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        try:
            return await waiting.reserved
        except asyncio.CancelledError:
            if waiting in self._queue:
                self._queue.remove(waiting)
            elif not waiting.reserved.cancelled() and waiting.reserved.exception() is None:
                self.settle(waiting.reserved.result(), priced, None)
            self._wake()
            raise

    def settle(self, reserved: float, priced: PricedRequest, reply: Reply | None) -> None:
        """Replace the reservation by the actual cost, and wake waiting calls.

        A call without a reply counts as free.
        """
        if self.most is not None and not priced.free:
            self._release(reserved)
            self._new[priced.who] = False
        if reply is not None:
            self._take(priced, priced.reckoned(reply))
        self._wake()

    def _take(self, priced: PricedRequest, usage: Usage) -> None:
        self.spent += usage.cost or 0.0
        if self.most is not None and (usage.prompt_tokens or usage.completion_tokens):
            self._experience.setdefault(priced.who, Experience()).take(priced, usage)

    def _release(self, reserved: float) -> None:
        self._under_way -= 1
        self._reserved = self._reserved - reserved if self._under_way else 0.0

    def _admitted(self, priced: PricedRequest) -> float | None:
        """Reserve and return an amount; None if the call must wait."""
        assert self.most is not None
        experience = self._experience.get(priced.who) or Experience()
        left = self.most - self.spent
        amount, least = experience.most(priced), experience.least(priced)
        if not experience.replies and self._earlier is not None:
            least, amount = max(least, self._earlier[0]), max(amount, self._earlier[1])
        if left <= _DUST:
            raise self._refusal(least)
        if self._reserved + amount > left + _DUST:
            if self._under_way:
                return None
            if least > left + _DUST:
                raise self._refusal(least)
        if self._new.get(priced.who):
            return None
        self._new.setdefault(priced.who, not experience.replies)
        self._reserved += amount
        self._under_way += 1
        return amount

    def _wake(self) -> None:
        """Wake waiting calls in order, as far as they fit."""
        while self._queue:
            first = self._queue[0]
            if first.reserved.done():
                self._queue.popleft()
                continue
            try:
                reserved = self._admitted(first.priced)
            except BudgetError as error:
                self._tell(first.reserved.set_exception, error)
                continue
            if reserved is None:
                return
            self._tell(first.reserved.set_result, reserved)

    def _tell(self, tell: Callable[..., None], outcome: object) -> None:
        self._queue.popleft()
        tell(outcome)

    def _refusal(self, least: float) -> BudgetError:
        if not self.refused:
            self.refused, self._least = True, least
        return BudgetError(self.words)
