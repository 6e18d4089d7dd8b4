"""Models as everything else sees them: messages in, a reply out, or an error that says why not."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar

from proctor.core.access import Access, Destination
from proctor.core.marks import addressed
from proctor.core.suite import Json, Message
from proctor.errors import UsageError

Verdict = TypeVar("Verdict")
Tie = Literal["0", "half", "unscored"]
"""What an even split of a panel is worth: no points, half of what it is divided over, no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Say how a reply is drawn; what is none is not sent, so that the server's default holds."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Further fields of the request's body, as the server names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Say which JSON object is wanted as the reply."""

    name: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Hold one question to a model."""

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    shape: Shape | None = None
    """The JSON wanted; a server that cannot be told gets the messages alone."""
    salt: str = ""
    """Tells apart calls that ask the same and want replies of their own: attempts, repeats."""
    top_logprobs: int = 0
    """How many alternatives to the reply's first token are wanted, with log-probabilities."""

    @property
    def addressed(self) -> "Request":
        """Return the request as it is looked up: marks that belong to one store are left out."""
        if not any(message.marks for message in self.messages):
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
    """Count what calls took."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """In US dollars; none where no price is known."""

    def __add__(self, other: "Usage") -> "Usage":
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=sum(known) if known else None,
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
    """Hold what a model said."""

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
    files: Mapping[str, str] = field(default_factory=dict)
    """The files in an agent's working folder after this reply: the key of each content by name."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """The fields that the server did not take, each with what was sent instead, if anything."""

    @property
    def truncated(self) -> bool:
        """Tell whether the reply was cut off by the limit of tokens."""
        return self.finish in ("length", "max_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Say where the calls of a model go, for what passes them on as they are."""

    destination: Destination
    """The base URL, with the headers that carry the key."""
    model: str
    price: tuple[float, float] | None = None


class Model(ABC):
    """Answer messages; a dataclass whose fields are its parameters.

    Candidates, judges and simulated users are all models, in three roles. ``reply`` raises a
    ModelError when there is no reply after all that could help has been tried.
    """

    computes: ClassVar[bool] = False
    """Whether it computes where it is asked, so that more machines make it faster."""

    @property
    @abstractmethod
    def identity(self) -> Json:
        """Return what tells this model apart from others: it enters keys, so no secrets."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Return the name that people see."""

    @abstractmethod
    async def reply(self, request: Request) -> Reply:
        """Answer, or raise a ModelError."""

    async def discard(self, requests: Sequence[Request]) -> bool:
        """Say that nothing could be made of the replies to these requests.

        A model that keeps replies does not give them again. Returns whether the last of them was a
        kept one, so that asking once more may give another.
        """
        return False

    @abstractmethod
    async def check(self) -> None:
        """Find out whether the model can be reached at all, or raise a ModelError at once."""

    async def close(self) -> None:  # noqa: B027 - not every model holds something open
        """Let go of connections and processes."""

    async def upstream(self) -> Upstream:
        """Return where calls in OpenAI's own form can be sent, or raise a UsageError."""
        raise UsageError(f"{self.label} does not speak OpenAI's protocol, so nothing is passed on")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """Say which model plays a role, where it is, and how it is asked."""

    spec: str
    """``provider:model[@base_url[,base_url…]]``."""
    sampling: Sampling = field(default_factory=Sampling)
    access: Access = field(default_factory=Access)
    """Who named the model and its address, with the keys and headers that are meant for it."""
    concurrency: int | None = None
    timeout: float | None = None
    system: str = ""
    """A system prompt put before the messages of every case."""
    suffix: str = ""
    """A text put after the last user message of every case."""
    defaults: frozenset[str] = frozenset()
    """The settings of the sampling that nobody chose: they hold where nothing else was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling(Generic[Verdict]):
    """Hold what a judge (or a panel) decided, and how it was got out of it."""

    verdict: Verdict
    rung: str = ""
    """How the JSON was found: ``schema``, ``tool``, ``fence``, ``object``."""
    tries: int = 1
    raw: tuple[str, ...] = ()
    """All raw replies, the failed ones first."""
    usage: Usage = field(default_factory=Usage)
    panel: tuple["Ruling[Verdict]", ...] = ()
    """The single rulings, where several judges or repeats were asked."""
    logprobs: Mapping[str, float] = field(default_factory=dict)
    """The log-probabilities of the last reply's first token, where they were asked for."""
    tied: bool = False
    """Whether the single rulings are evenly divided over a truth or a choice."""

    def record(self) -> dict[str, Json]:
        """Return what is kept with a score: how, how often, at what cost."""
        from proctor.core.fingerprint import plain

        made: dict[str, Json] = {"rung": self.rung, "tries": self.tries, "raw": list(self.raw)}
        made["usage"] = plain(self.usage)
        if self.logprobs:
            made["logprobs"] = dict(self.logprobs)
        if self.panel:
            made["panel"] = [ruling.record() for ruling in self.panel]
        return made


class Voice(ABC):
    """Be one judge as a talk hears it: messages in, the plain reply out."""

    @abstractmethod
    async def say(
        self, messages: Sequence[Message], *, max_tokens: int | None = None, top_logprobs: int = 0
    ) -> Reply:
        """Return the reply, with log-probabilities where they were asked for and are given."""


class Talk(ABC, Generic[Verdict]):
    """Get a verdict out of a judge in a way of its own: in several turns, by log-probabilities."""

    @abstractmethod
    async def hold(self, voice: Voice) -> Verdict | None:
        """Return the verdict; none where it is to be asked for in the usual way after all."""


class Judge(ABC):
    """Ask one judge or a panel for a verdict of a given type."""

    identity: Json
    """What tells this judge apart from others, its sampling included."""
    tie: Tie = "0"
    """What a score is worth on which a panel is evenly divided."""

    @abstractmethod
    async def ask(
        self,
        messages: Sequence[Message],
        verdict: type[Verdict],
        *,
        tries: int = 3,
        salt: str = "",
        sampling: Sampling | None = None,
        reader: Any = None,
    ) -> Ruling[Verdict]:
        """Return a verdict whose fields have the right types, or raise a JudgeError.

        ``verdict`` is a pydantic model. ``reader`` replaces how a reply is read: a function from
        the reply's text to a verdict that raises ValueError with what is wrong; a judge read in
        such a way is asked again in the same words, and no shape is asked for. It may also be a
        Talk, which goes before ``messages``: these are only sent where the talk gave no verdict.
        """
