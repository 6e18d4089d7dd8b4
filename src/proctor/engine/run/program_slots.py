"""Places for programs: one for each core, and more of them while programs only wait."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from proctor.contracts.sandbox import ACTIVITY, Activity
from proctor.io.concurrency import in_line

MOST = 16
"""How many programs may run at once on a small machine, those included that only wait."""
ROOM = 0.5
"""The share of the free memory that programs beyond one for each core may have."""
IDLE_SHARE = 0.25
"""The share of its limit of memory that is kept for a program that only waits.

What it uses already is not free any more. If many that waited want all of theirs at once, the
kernel takes the memory from one of them, which is then tried again among fewer.
"""


@dataclass(eq=False)
class ProgramPlace:
    """The place of a program that runs."""

    crowded: bool = False
    """Whether all that ran beside it could not have had their limits of memory at once."""


@dataclass
class ProgramSlots:
    """Places of the programs that run at the same time.

    A program that does nothing, waiting for time or for input, leaves its place to another; once
    it does something again, nobody else starts until there is room. Second tries come first, and
    run among fewer, so that they are not short of processor time again.
    """

    limit: int
    """How many may compute at once."""
    at_once: int = 0
    """How many may run, those included that only wait; 0: by the limit."""
    sharing: int = 1
    """How many processes with such places share the free memory."""
    running: int = 0
    idle: int = 0
    second: int = 0
    """How many of those that run are second tries."""
    _taken: set[ProgramPlace] = field(default_factory=set)
    _first_tries: deque[tuple[asyncio.Future[None], int]] = field(default_factory=deque)
    _second_tries: deque[tuple[asyncio.Future[None], int]] = field(default_factory=deque)

    @property
    def most(self) -> int:
        """Return how many programs may run at once, those included that only wait."""
        return self.at_once or max(MOST, 2 * self.limit)

    @asynccontextmanager
    async def place(self, memory: int, *, second: bool = False) -> AsyncIterator[ProgramPlace]:
        """Wait for a place for a program that may use so many bytes, and hold it."""
        await self._wait(memory, second=second)
        taken = ProgramPlace()
        self._taken.add(taken)
        self._note_crowd(memory)
        activity = Activity(self._changed)
        token = ACTIVITY.set(activity)
        try:
            yield taken
        finally:
            self._taken.discard(taken)
            ACTIVITY.reset(token)
            activity.end()
            self._leave(second=second)

    async def _wait(self, memory: int, *, second: bool) -> None:
        queue = self._second_tries if second else self._first_tries
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append((turn, memory))
        self._admit()
        try:
            with in_line():
                await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                with suppress(ValueError):  # others that left may have cleared it away
                    queue.remove((turn, memory))
                self._admit()
            else:
                self._leave(second=second)
            raise

    def _leave(self, *, second: bool) -> None:
        self.running -= 1
        self.second -= second
        self._admit()

    def _changed(self, idle: bool) -> None:
        self.idle += 1 if idle else -1
        self._admit()

    def _admit(self) -> None:
        """Let those in for whom there is room, in order."""
        while queue := self._second_tries or self._first_tries:
            turn, memory = queue[0]
            if not turn.done():
                if not self._has_room(memory, second=queue is self._second_tries):
                    return
                self.running += 1
                self.second += queue is self._second_tries
                turn.set_result(None)
            queue.popleft()

    def _has_room(self, memory: int, *, second: bool) -> bool:
        if self.running < self.limit:
            return True
        most = 2 * self.limit if self.second else self.most
        if self.running - self.idle >= self.limit or self.running >= most:
            return False
        # As many as are beyond one for each core only wait.
        share = 1.0 if second else IDLE_SHARE
        return self._fits(self.running + 1 - self.limit, memory * share)

    def _fits(self, beyond: int, memory: float) -> bool:
        return beyond * memory * self.sharing <= ROOM * free_memory()

    def _note_crowd(self, memory: int) -> None:
        beyond = self.running - self.limit
        if beyond > 0 and not self._fits(beyond, memory):
            for taken in self._taken:
                taken.crowded = True


def free_memory() -> int:
    """Return how many bytes programs could still have; 0 where this machine does not say."""
    try:
        with open("/proc/meminfo", "rb") as file:
            rows = dict(line.split(b":", 1) for line in file)
        free = int(rows[b"MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 0
    return min([free, *_group_memory()])


def _group_memory() -> list[int]:
    """Return what the control group of a container leaves, in either layout."""
    left = []
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            with open(f"/sys/fs/cgroup/{most}", "rb") as file:
                limit = int(file.read())
            with open(f"/sys/fs/cgroup/{used}", "rb") as file:
                left.append(limit - int(file.read()))
        except (OSError, ValueError):
            continue
    return left
