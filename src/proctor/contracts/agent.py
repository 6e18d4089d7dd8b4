"""What an agent must be able to do, and where it works."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from proctor.core.rounds import Round
from proctor.core.suite import Case, Json

if TYPE_CHECKING:
    from proctor.contracts.environment import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The place where an agent works on one attempt."""

    case: Case
    index: int
    folder: Path
    """Its working folder, with the files of the case in it."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What the agent's processes find in their environment besides: the address of a proxy."""
    environment: "Environment | None" = None
    """The place around the folder, for cases that bring one: commands run in it."""


class Session(ABC):
    """A conversation with an agent that remembers what was said."""

    laid: Mapping[str, str] = MappingProxyType({})
    """The files that were laid into the working folder before the agent began, each with its key,
    besides those of the case."""

    @abstractmethod
    async def send(self, message: str) -> Round:
        """Return what the agent did; a failing agent is a failed round, a crashed one broken.

        Raises a ModelError only where the agent could not be reached at all.
        """

    async def close(self) -> None:  # noqa: B027 - not every session holds something open
        """Leave no process and no connection behind."""


class Agent(ABC):
    """An agent that is examined in sessions: a dataclass whose fields are its parameters."""

    in_folder: bool = True
    """Whether it works in a folder of its own; where not, it is given none, and leaves no files."""
    speaks: ClassVar[frozenset[str]] = frozenset()
    """The APIs that its model calls use, which go through the proxy; empty where it needs none."""
    works_inside: ClassVar[bool] = False
    """Whether it can work inside of an environment, where this machine's folders are not."""
    concurrency: int | None = None
    """How many sessions may be open at a time; none: as many as the run allows."""
    timeout: float | None = None
    """How many seconds a turn may take, where it has a limit."""

    def mounts(self) -> Mapping[str, str]:
        """Return what of this machine must lie inside of an environment: where, and what."""
        return {}

    @property
    @abstractmethod
    def identity(self) -> Json:
        """Return what tells this agent apart from others: it enters keys, so no secrets."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Return the name that people see."""

    @abstractmethod
    async def open(self, workspace: Workspace) -> Session:
        """Begin a session, or raise a ModelError."""

    async def check(self) -> None:  # noqa: B027 - some agents can only be tried
        """Find out whether the agent is there at all, or raise a ModelError at once."""

    def problems(self) -> Iterable[str]:
        """Return what is wrong with the parameters, or missing on this machine."""
        return ()

    def placed(self, case: Case) -> Case:
        """Return a case with all that it names found on this machine, or raise a SuiteError.

        It is asked about every case before anything runs.
        """
        return case

    async def close(self) -> None:  # noqa: B027 - not every agent holds something open
        """Let go of what sessions shared."""


class ProgramAgent(Agent):
    """An agent that is a program on this machine, which may be installed or not."""

    command: ClassVar[str]
    """What the program is called."""

    @property
    @abstractmethod
    def program_path(self) -> str:
        """Return where its program lies; empty where it is not installed."""

    @property
    @abstractmethod
    def program_version(self) -> str:
        """Return the version that is installed, as far as that is known."""

    @property
    @abstractmethod
    def install_line(self) -> str:
        """Return how its program is installed."""
