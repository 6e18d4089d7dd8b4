"""Workers of a Ray cluster: lent to pieces of work, replaced when they or their nodes are lost."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from proctor.errors import MissingResource, ProctorError
from proctor.executors.ray_worker import WorkerReady
from proctor.version import __version__

START_LIMIT = 300.0
CLOSE_LIMIT = 2.0
MOST_TRIES = 4
"""How many workers may be lost over a piece of work before it is given up."""
MOST_FALSE_STARTS = 8
"""How many workers may end before they are ready, none having been so in between."""

Result = TypeVar("Result")


class NodeLost(Exception):
    """Loss of all workers that a piece of work was given to, one after the other."""


@dataclass
class Pool:
    """The workers of one kind."""

    make: Callable[[], Any]
    """Starts a worker."""
    size: int
    deep: int = 2
    """How many pieces of work a worker is given at a time: one waits while the other is done."""
    lost: int = 0
    """How many workers went away while something was to be done."""
    _free: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    _alive: dict[str, Any] = field(default_factory=dict)
    _starting: set[asyncio.Future[None]] = field(default_factory=set)
    _false_starts: int = 0
    _wrong: ProctorError | None = None

    @property
    def limit(self) -> int:
        """Return how many pieces of work may be under way at once."""
        return self.size * self.deep

    def start(self) -> None:
        """Start as many workers as there are to be, without waiting for them."""
        while len(self._alive) < self.size:
            worker = self.make()
            self._alive[_name(worker)] = worker
            starting = asyncio.ensure_future(self._welcome(worker))
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)

    async def use(self, work: Callable[[Any], Awaitable[Result]]) -> Result:
        """Let a worker do something; where it is lost, let another one do it."""
        from ray.exceptions import RayError, RayTaskError

        for _ in range(MOST_TRIES):
            worker = await self._one()
            try:
                result = await work(worker)
            except RayTaskError as error:
                self._free.put_nowait(worker)
                raise _cause(error) from error
            except RayError:
                self._drop(worker)
                continue
            except BaseException:
                self._free.put_nowait(worker)
                raise
            self._free.put_nowait(worker)
            return result
        raise NodeLost

    async def close(self) -> None:
        """Let the workers leave nothing behind, and end them."""
        import ray

        for starting in list(self._starting):
            starting.cancel()
        closing = {asyncio.ensure_future(_closed(worker)) for worker in self._alive.values()}
        if closing:
            await asyncio.wait(closing, timeout=CLOSE_LIMIT)
        for future in closing:
            future.cancel()
        for worker in self._alive.values():
            with suppress(Exception):
                ray.kill(worker)
        self._alive.clear()

    async def _one(self) -> Any:
        """Wait for a worker that is ready and alive."""
        self.start()
        while True:
            if self._wrong is not None:
                raise self._wrong
            try:
                worker = await asyncio.wait_for(self._free.get(), START_LIMIT)
            except TimeoutError:
                raise MissingResource(
                    f"the cluster has had no room for a worker for {START_LIMIT:g} s"
                    " (fix: wait until others are done, or add nodes)"
                ) from None
            if worker is not None and _name(worker) in self._alive:
                return worker

    async def _welcome(self, worker: Any) -> None:
        """Wait until a worker is ready, and let it be used if it is as it should be."""
        from ray.exceptions import RayError

        try:
            ready: WorkerReady = await worker.ready.remote()
        except RayError as error:
            self._false_starts += 1
            if self._false_starts >= MOST_FALSE_STARTS:
                first_line = next(iter(str(error).splitlines()), type(error).__name__)
                self._refuse(
                    ProctorError(f"workers of the cluster end at their start: {first_line}")
                )
            else:
                self._drop(worker)
            return
        if (wrong := _misfit(ready)) is not None:
            self._refuse(wrong)
            return
        self._false_starts = 0
        for _ in range(self.deep):
            self._free.put_nowait(worker)

    def _refuse(self, error: ProctorError) -> None:
        self._wrong = error
        for _ in range(self.limit):
            self._free.put_nowait(None)

    def _drop(self, worker: Any) -> None:
        """Forget a worker that is lost, and start another one in its place."""
        import ray

        if self._alive.pop(_name(worker), None) is not None:
            self.lost += 1
            with suppress(Exception):
                ray.kill(worker)
            self.start()


def _name(worker: Any) -> str:
    return str(worker._actor_id.hex() if hasattr(worker, "_actor_id") else id(worker))


async def _closed(worker: Any) -> None:
    with suppress(Exception):
        await worker.close.remote()


def _misfit(ready: WorkerReady) -> ProctorError | None:
    if ready.version != __version__:
        return MissingResource(
            f"the node {ready.node} has Proctor {ready.version}, and this is {__version__}"
            " (fix: install the same version everywhere)"
        )
    if ready.problems:
        return MissingResource(
            f"the suite has programs to run, and the node {ready.node} has no safe place for them:"
            f" {ready.problems[0]}"
        )
    return None


def _cause(error: Any) -> BaseException:
    """Return what was raised in a worker, in our words where it is ours."""
    cause = error.cause
    if isinstance(cause, ProctorError):
        return cause
    return ProctorError(f"a worker of the cluster failed: {type(cause).__name__}: {cause}")
