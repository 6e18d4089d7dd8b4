"""What a sandbox must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from proctor.core.program import Program, Ran


class Sandbox(ABC):
    """A place for programs that nobody trusts."""

    tier: ClassVar[str]
    """``bubblewrap``, ``docker``, ``process``."""
    safe: ClassVar[bool] = True
    """Whether the host is out of a program's reach."""
    joins: ClassVar[bool] = False
    """Whether it can run a program together with its partner."""

    @abstractmethod
    async def run(self, program: Program) -> Ran:
        """Run a program to its end, or to a limit; nothing of it is left afterwards."""

    async def run_python(self, program: Program) -> Ran | None:
        """Run one Python file in a warm interpreter; none where this sandbox has none."""
        return None

    def problems(self) -> Iterable[str]:
        """Return what keeps this sandbox from working here, with how to mend it."""
        return ()

    def lacks(self) -> Iterable[str]:
        """Return what this sandbox does not hold here, though it works, with how to mend it."""
        return ()

    def brings(self) -> str:
        """Return what tells apart the languages it brings along; empty for this machine's own."""
        return ""

    async def close(self) -> None:  # noqa: B027 - most sandboxes hold nothing open
        """Leave nothing behind."""
