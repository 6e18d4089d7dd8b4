"""What a model must be able to do, and how one is chosen."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from proctor.core.access import Access
from proctor.core.exchange import ProxiedExchange, Reply, Request, Sampling, Upstream
from proctor.core.suite import Json
from proctor.errors import UsageError

Price = tuple[float, float]
"""US dollars per million tokens in and out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelListener:
    """Whom a model tells what a person should know."""

    notice: Callable[[str], None] = lambda _: None
    """Is told something in words, such as where a model that was fetched lies."""
    setting_refused: Callable[[str, Json, str], None] = lambda *_: None
    """Is told once a process: the refused field, its value, and what is sent instead."""
    refusals_changed: Callable[[], None] = lambda: None
    """Is called whenever there is something new in ``Model.refused``."""


class Recorder(ABC):
    """A file to which the calls of a run are added as they are made."""

    @abstractmethod
    def add(self, identity: Json, request: Request, reply: Reply) -> None:
        """Add one call to the model of this identity."""

    def add_exchange(self, exchange: ProxiedExchange) -> None:
        """Add one call of an agent, as it passed through the proxy."""
        raise UsageError("calls of agents cannot be recorded here")

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


class Model(ABC):
    """A model that answers messages: a dataclass whose fields are its parameters.

    Candidates, judges and simulated users are all models, in three roles. ``reply`` raises a
    ModelError when there is no reply after all that could help has been tried.
    """

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

    # What it costs, and what it needs.

    computes: ClassVar[bool] = False
    """Whether it computes where it is asked, so that more machines make it faster."""
    queues: ClassVar[bool] = False
    """Whether calls beyond its ``concurrency`` wait inside of it, in the order they came."""
    key_env: str = ""
    """The environment variable that holds its key; empty where no key is needed."""
    home_env: ClassVar[str] = ""
    """The environment variable that may name its address."""

    @property
    def price(self) -> Price | None:
        """Return what tokens cost; none where nobody knows."""
        return None

    @property
    def price_known(self) -> bool:
        """Tell whether somebody said what it costs; that it is on this machine says nothing."""
        return self.price is not None

    def use_key(self, secret: str) -> None:  # noqa: B027 - not every model needs a key
        """Take a key from the person's own settings; it goes wherever they sent the model."""

    # What becomes known while it is asked.

    refused: Mapping[str, str] = MappingProxyType({})
    """What requests should have had and the server does not take, with what is sent instead."""

    def listen(self, listener: ModelListener) -> None:  # noqa: B027 - some have nothing to tell
        """Take whom to tell what a person should know."""

    def leave_out(self, names: Iterable[str]) -> None:  # noqa: B027 - most send all they are given
        """Send no more what an earlier part of the same run could not send."""

    @classmethod
    def record_to(cls, path: Path) -> Recorder:
        """Return what records calls so that this kind of model gives their replies again."""
        raise UsageError(f"{cls.__name__} cannot give recorded replies again")

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
        """Return where calls in an API's own form can be sent, or raise a UsageError."""
        raise UsageError(f"{self.label} has no API that is known here, so nothing is passed on")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """Which model plays a role, where it is, and how it is asked."""

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
