"""Requests to models and their replies: settings, usage, cost."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from proctor.core.prompt_fences import addressed
from proctor.core.suite import Json, Message, Tool, ToolCall
from proctor.records import dataclass

if TYPE_CHECKING:
    from proctor.core.access import Destination


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings; those that are none are not sent, so that the server's defaults hold."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Further fields of the request's body, as the server names them."""
    reasoning_effort: str | None = None
    """How long to think before the answer, one of ``EFFORTS``; each provider takes some of them."""


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
"""How long a model may be asked to think, from not at all to the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyShape:
    """Schema of the JSON object that is expected as the reply."""

    name: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model."""

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    shape: ReplyShape | None = None
    """The JSON wanted; a server that cannot be told gets the messages alone."""
    salt: str = ""
    """Tells apart calls that ask the same and want replies of their own: attempts, repeats."""
    top_logprobs: int = 0
    """How many alternatives to the reply's first token are wanted, with log-probabilities."""
    tools: tuple[Tool, ...] = ()
    """The tools that may be called."""
    tool_choice: str = ""
    """``auto``, ``none``, ``required`` or the name of a tool; empty means the server's default."""

    @property
    def addressed(self) -> "Request":
        """Return the request as it is looked up: marks that belong to one store are left out."""
        for message in self.messages:
            if message.marks:
                break
        else:
            return self
        # A judge that is asked again is shown its own words, in which it may repeat a mark.
        marks = tuple(mark for message in self.messages for mark in message.marks)
        messages = tuple(
            replace(message, content=addressed(message.content, marks), marks=())
            for message in self.messages
        )
        return replace(self, messages=messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls, tokens and cost that were used."""

    calls: int = 0
    prompt_tokens: int = 0
    """All tokens of the prompt, those read from the server's cache and written to it included."""
    completion_tokens: int = 0
    """All tokens of the reply, those of its thinking included."""
    cost: float | None = None
    """In US dollars; none where no price is known."""
    cached_tokens: int = 0
    """The tokens of the prompt that the server had in its cache."""
    cache_write_tokens: int = 0
    """The tokens of the prompt that the server wrote to its cache."""
    cache_write_long_tokens: int = 0
    """Those of them that are kept for an hour, at a higher price."""
    reasoning_tokens: int = 0
    """The tokens of the reply that were thinking, where the server tells."""

    def priced(self, cost: float | None) -> "Usage":
        """Return the same at another cost."""
        return Usage(
            calls=self.calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost=cost,
            cached_tokens=self.cached_tokens,
            cache_write_tokens=self.cache_write_tokens,
            cache_write_long_tokens=self.cache_write_long_tokens,
            reasoning_tokens=self.reasoning_tokens,
        )

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=sum(costs) if costs else None,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cache_write_long_tokens=self.cache_write_long_tokens + other.cache_write_long_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What the tokens of a model cost, in US dollars per million."""

    prompt: float
    completion: float
    cached: float | None = None
    """For tokens that were in the cache; none means as much as for others."""
    cache_write: float | None = None
    """For tokens that are written to the cache; none means as much as for others."""
    cache_write_long: float | None = None
    """For tokens that are kept in the cache for an hour; none means as much as the shorter."""
    batch: float = 0.5
    """The part of the price that is paid in a batch job."""
    tiers: "tuple[tuple[int, Rates], ...]" = ()
    """Other rates for the whole of a call, by the length of the prompt from which on they hold."""

    @property
    def pair(self) -> tuple[float, float]:
        """Return what ordinary tokens cost, in and out."""
        return self.prompt, self.completion

    def cost(self, usage: Usage) -> float | None:
        """Return what a call cost; none where the server told no tokens, and it was not free."""
        rates = self
        for least, other in self.tiers:
            if usage.prompt_tokens > least:
                rates = other
        plain = cost_of(rates.pair, usage)
        if plain is None:
            return None
        written = rates.prompt if rates.cache_write is None else rates.cache_write
        kept = written if rates.cache_write_long is None else rates.cache_write_long
        cached = rates.prompt if rates.cached is None else rates.cached
        long = min(usage.cache_write_long_tokens, usage.cache_write_tokens)
        return (
            plain
            + (
                usage.cached_tokens * (cached - rates.prompt)
                + (usage.cache_write_tokens - long) * (written - rates.prompt)
                + long * (kept - rates.prompt)
            )
            / 1e6
        )


def cost_of(price: tuple[float, float] | None, usage: Usage) -> float | None:
    """Return what a call cost in US dollars; none where its price or its tokens are not known."""
    if price is None:
        return None
    if any(price) and not usage.prompt_tokens and not usage.completion_tokens:
        return None
    into, out = price
    return (into * usage.prompt_tokens + out * usage.completion_tokens) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's reply."""

    text: str | None
    """The answer without its thinking; none where the model gave no content."""
    thinking: str = ""
    finish: str = ""
    """Why the model stopped, in the server's own word: ``stop``, ``length``, …"""
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None
    request_id: str = ""
    served_by: str = ""
    """The model that the server says it used."""
    logprobs: Mapping[str, float] = field(default_factory=dict)
    """Log-probabilities of alternatives to the first token, where they were asked for and given."""
    rung: str = ""
    """How the wanted shape was asked for: ``schema``, ``tool``, or nothing."""
    round: Mapping[str, Json] | None = None
    """What an agent did for this reply, post by post; none for a model."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools that the model called, in its order; they are never part of the text."""
    carried: Mapping[str, Json] = field(default_factory=dict)
    """What the provider wants back unchanged with this reply's message, by the provider's name."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The files in an agent's working folder after this reply: the key of each content by name."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """The fields that the server did not take, each with what was sent instead, if anything."""

    def received(
        self, *, rung: str, seconds: float, request_id: str, cost: float | None
    ) -> "Reply":
        """Return the reply with what is known once it is there.

        Written out: ``dataclasses.replace`` takes twice as long, for each reply of a run.
        """
        usage = self.usage
        return Reply(
            text=self.text,
            thinking=self.thinking,
            finish=self.finish,
            usage=usage if usage.cost == cost else usage.priced(cost),
            seconds=seconds,
            request_id=request_id,
            served_by=self.served_by,
            logprobs=self.logprobs,
            rung=rung,
            round=self.round,
            tool_calls=self.tool_calls,
            carried=self.carried,
            files=self.files,
            refused=self.refused,
        )

    @property
    def truncated(self) -> bool:
        """Tell whether the reply was cut off by the limit of tokens."""
        return self.finish in _CUT_OFF

    @property
    def message(self) -> Message:
        """Return the reply as the next message of its conversation."""
        return Message(
            role="assistant",
            content=self.text or "",
            thinking=self.thinking,
            tool_calls=self.tool_calls,
            carried=self.carried,
        )


_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"})
"""The words that servers have for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Address that a model's calls go to, for what passes them on unchanged."""

    destination: "Destination"
    """The base URL, with the headers that carry the key."""
    model: str
    price: tuple[float, float] | None = None
    rates: Rates | None = None
    """What tokens cost in detail, those of the cache too."""
    speaks: frozenset[str] = frozenset()
    """The APIs that are taken there; empty where nobody knows."""
    exchanges: "Mapping[tuple[str, int, int], ProxiedExchange] | None" = None
    """What is answered in place of a server, by case, attempt and number of the call."""


CHAT, RESPONSES = "chat completions", "Responses"
MESSAGES, GEMINI = "Messages", "generateContent"
"""The APIs of models, by the names that people know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxiedExchange:
    """One call of an agent as it was answered, for a cassette."""

    case: str = ""
    index: int = 0
    place: int = 0
    """Its number within the attempt."""
    path: str
    status: int = 200
    kind: str = ""
    """The content type of the answer."""
    body: str = ""
