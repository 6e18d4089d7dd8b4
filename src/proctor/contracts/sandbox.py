"""What a sandbox must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from proctor.core.program import Program, Ran
from proctor.errors import ModelError

if TYPE_CHECKING:
    from proctor.contracts.environment import Environment
    from proctor.core.environment import EnvironmentNeeds


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

    def environment(self, needs: "EnvironmentNeeds") -> "Environment":
        """Return a place for a whole attempt, not yet started, or raise a ModelError."""
        raise ModelError(
            f"the sandbox {self.tier!r} has no environments for tasks"
            " (fix: --sandbox bubblewrap or --sandbox docker)",
            cause="environment",
        )

    def processors_kept_by(self) -> str:
        """Return what keeps a task to its processors: ``quota``, ``affinity`` or ``nothing``."""
        return "nothing"

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


@dataclass
class Activity:
    """Whether a program does something, as told by the sandbox that runs its parts.

    A program and its partner are two parts, in sandboxes of their own; it does nothing while none
    of its parts does.
    """

    changed: Callable[[bool], None]
    """Called with whether the program does nothing, each time that this changes."""
    _parts: dict[int, bool] = field(default_factory=dict)
    _idle: bool = False

    def note(self, part: int, idle: bool | None) -> None:
        """Note whether a part does nothing; none where it has ended."""
        if idle is None:
            self._parts.pop(part, None)
        else:
            self._parts[part] = idle
        self._look()

    def end(self) -> None:
        """Note that all parts have ended."""
        self._parts.clear()
        self._look()

    def _look(self) -> None:
        idle_now = bool(self._parts) and all(self._parts.values())
        if idle_now != self._idle:
            self._idle = idle_now
            self.changed(idle_now)


@dataclass(frozen=True)
class PartActivity:
    """What a sandbox tells of one part of a program."""

    whole: Activity | None

    def tell(self, *, idle: bool) -> None:
        """Tell whether the part does nothing."""
        if self.whole is not None:
            self.whole.note(id(self), idle)

    def end(self) -> None:
        """Tell that the part has ended."""
        if self.whole is not None:
            self.whole.note(id(self), None)


ACTIVITY: ContextVar[Activity | None] = ContextVar("activity", default=None)
"""To whom sandboxes tell whether the program that they run does something; to nobody where none."""


def begin_part() -> PartActivity:
    """Tell that a part of the program begins, and return what tells of it from then on."""
    part = PartActivity(ACTIVITY.get())
    part.tell(idle=False)
    return part
