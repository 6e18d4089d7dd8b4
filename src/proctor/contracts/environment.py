"""What an environment must be able to do: a writable place that lasts as long as an attempt."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from proctor.core.program import Ran
from proctor.core.suite import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentCommand:
    """A command to run in an environment."""

    argv: tuple[str, ...]
    wall: float
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    """Who runs it; empty for the environment's own user."""
    stdin: bytes = b""
    output: int = 1024 * 1024
    """Bytes that it may write."""
    needs: tuple[str, ...] = ()
    """Files and folders of this machine that it may read besides."""
    doors: tuple[int, ...] = ()
    """Ports of this machine's loopback that it may reach: a proxy listens there."""
    memory: int | None = None
    """Bytes of memory; none for what the environment has."""


class Environment(ABC):
    """A root of its own, its limits, loopback, and no network besides the doors of a command."""

    shares_programs: ClassVar[bool] = True
    """Whether it has this machine's programs, and its folder lies on this machine; where not, it
    has those of an image, and only agents that work inside can work there."""

    mounts: Mapping[str, str] = MappingProxyType({})
    """Files and folders of this machine that lie inside, read-only, by their place there; to be
    set before it is started."""

    @property
    @abstractmethod
    def python(self) -> str:
        """Return what its Python is called inside."""

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Return where its working folder lies on this machine."""

    @abstractmethod
    async def start(self) -> None:
        """Make it ready, or raise a ModelError that says why it cannot be."""

    @abstractmethod
    async def run(self, command: EnvironmentCommand) -> Ran:
        """Run a command in the working folder; nothing of it goes on running afterwards."""

    @abstractmethod
    async def place(self, files: Mapping[str, Json], where: str) -> None:
        """Make a folder inside hold these files and nothing else."""

    @abstractmethod
    async def add(self, files: Mapping[str, Json], where: str) -> None:
        """Add files to a folder inside; others that it has stay."""

    @abstractmethod
    async def read(self, path: str) -> bytes | None:
        """Return a regular file from inside, none where there is none; links are not followed."""

    @abstractmethod
    async def changes(self) -> bytes:
        """Return all that was changed since it was started, as an archive, or raise ModelError."""

    @abstractmethod
    async def restore(
        self, archive: bytes, only: Sequence[str] = (), without: Collection[str] = ()
    ) -> None:
        """Make the changes of an archive, or raise a ModelError.

        ``only`` names the paths below which they are made, ``without`` entries to pass over.
        """

    async def close(self) -> None:  # noqa: B027 - not every environment holds something open
        """Leave nothing behind."""
