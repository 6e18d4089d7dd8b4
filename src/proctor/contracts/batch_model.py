"""What a model must be able to do that takes many requests at once, for replies hours later."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.model import Model
from proctor.core.exchange import Reply, Request
from proctor.core.suite import Json
from proctor.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A request as it is handed in, and what is needed to read its reply."""

    path: str
    """Where it would go by itself; a job has requests of one path."""
    body: Mapping[str, Json]
    rung: str = ""
    """How the wanted shape is asked for."""
    refused: Mapping[str, str] | None = None
    """What the server does not take, with what is sent instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """How far a job is."""

    ended: bool
    done: int
    total: int


class BatchModel(Model):
    """A model whose provider answers jobs of many requests, at a lower price.

    A job has a name of ours, by which it is found again when it is not known whether it arrived.
    """

    takes_batches: ClassVar[bool] = True
    """Whether this one's server has jobs."""
    largest_batch: ClassVar[int] = 10_000
    """How many requests one job has at most."""
    largest_batch_bytes: ClassVar[int] = 100 * 2**20

    @property
    @abstractmethod
    def batch_share(self) -> float:
        """Return the part of the price that is paid in a job."""

    @abstractmethod
    def written(self, request: Request) -> WrittenCall:
        """Write a request as the server takes it, as far as that is known."""

    @abstractmethod
    async def submit(self, job: str, path: str, bodies: Mapping[str, Mapping[str, Json]]) -> str:
        """Hand in a job once, and return the provider's id of it, or raise a ModelError."""

    @abstractmethod
    async def find_job(self, job: str, created: float, size: int) -> str:
        """Return the provider's id of a job that may have arrived; empty where it did not."""

    @abstractmethod
    async def job_state(self, remote: str) -> BatchState:
        """Return how far a job is."""

    @abstractmethod
    async def job_replies(
        self, remote: str, rungs: Mapping[str, str]
    ) -> dict[str, Reply | ModelError]:
        """Return the replies of a job that has ended, by the names of its requests."""
