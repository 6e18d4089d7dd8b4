"""What a model must be able to do, and how one is chosen."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from proctor.core.access import Access
from proctor.core.exchange import Reply, Request, Sampling, Upstream
from proctor.core.suite import Json
from proctor.errors import UsageError


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
