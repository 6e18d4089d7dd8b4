"""Worker processes for the shares of a run: of this machine, one for each core, or of a cluster."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proctor.engine.bulk.reach import Reach
from proctor.engine.bulk.tasks import from_json, to_json
from proctor.errors import StoreError
from proctor.io import json_bytes
from proctor.io.concurrency import available_cores
from proctor.io.message_process import MessageProcess, ProcessLost, ServingModule
from proctor.io.row_shares import UnreadableShare
from proctor.io.text_files import limit

if TYPE_CHECKING:
    import tempfile

    from proctor.contracts.executor import Executor
    from proctor.store.parts.claims import Claim

_MODULE = "proctor.engine.bulk.worker_process"
_TRIES = 3
"""How many processes are given a task that costs them their lives: it may have been chance."""


class WorkerLost(UnreadableShare):
    """A task over which one worker after the other ended, or one was taken for stuck."""


class Workers:
    """Processes that do tasks; one that is lost is replaced."""

    def __init__(self, *, keys: bool = False) -> None:
        self.module = serving_module(keys=keys)
        self.claim: Claim | None = None
        """The claim that processes hold together with this one, on what they write."""
        self.size = available_cores()
        self._idle: list[MessageProcess] = []
        self._all: set[MessageProcess] = set()

    async def begin(self, count: int) -> None:
        """Start processes ahead of their first tasks: they load what they need side by side."""
        while len(self._all) < min(count, self.size):
            self._idle.append(await self._start())

    async def run(self, task: Any) -> Any:
        """Do one task; an UnreadableShare where its files are not as they should be."""
        message = json_bytes.dumps(to_json(task))
        for _ in range(_TRIES):
            process = self._idle.pop() if self._idle else await self._start()
            try:
                reply = json_bytes.loads(await process.reply(message))
            except ProcessLost as lost:
                self._all.discard(process)
                if lost.stuck:
                    break
                continue
            self._idle.append(process)
            return result_of(reply)
        raise WorkerLost

    def scratch(self) -> "tempfile.TemporaryDirectory[str]":
        """Return a new folder that all workers reach."""
        assert self.claim is not None
        return self.claim.scratch()

    async def close(self) -> None:
        """Leave no process behind."""
        self._idle.clear()
        while self._all:
            await self._all.pop().end()

    async def _start(self) -> MessageProcess:
        descriptors = () if self.claim is None or self.claim.file is None else (self.claim.file,)
        process = await MessageProcess.start(self.module, descriptors)
        self._all.add(process)
        return process


@dataclass
class ClusterWorkers:
    """Workers on the nodes of a cluster; what all of them fail at is done by this machine's."""

    executor: "Executor"
    size: int
    """How many tasks may be under way at once."""
    here: Workers
    reach: Reach
    """What every node must be able to read and write."""
    notice: Callable[[str], None]
    _alone: bool = field(default=False, init=False)
    """Whether this machine does all that is left, since some node lacks the files."""

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.here.size)

    async def run(self, task: Any) -> Any:
        """Do one task, on a node where that is possible."""
        if not self._alone:
            message = {"reach": to_json(self.reach), "task": to_json(task)}
            reply = await self.executor.exchange(self.here.module, json_bytes.dumps(message))
            answer: Mapping[str, Any] = {} if reply is None else json_bytes.loads(reply)
            if "apart" in answer:
                self.keep_here(answer["apart"])
            elif reply is not None:
                return result_of(answer)
        return await self._run_here(task)

    def keep_here(self, reason: str) -> None:
        """Do all that is left on this machine, and say why."""
        if not self._alone:
            self._alone = True
            self.notice(
                f"{reason}: this machine reads and scores alone (fix: a file system that all nodes"
                " share; parts may be at an address, --parts URL)"
            )

    def scratch(self) -> "tempfile.TemporaryDirectory[str]":
        """Return a new folder that all workers reach."""
        folder = self.reach.folder
        if folder.is_local and not self._alone:
            return self.here.scratch()
        self.keep_here(
            "the answers are in another order than the cases, and once sorted they lie in a folder"
            " of this machine"
        )
        return self.here.scratch()

    async def close(self) -> None:
        """Leave neither process nor mark behind."""
        await self.here.close()
        self.reach.clear()

    async def _run_here(self, task: Any) -> Any:
        async with self._room:
            return await self.here.run(task)


def serving_module(*, keys: bool) -> ServingModule:
    """Return the module that does tasks, with the memory that a file's rows may take."""
    return ServingModule(name=_MODULE, arguments=(str(limit("memory")),), keys=keys)


def result_of(reply: Mapping[str, Any]) -> Any:
    """Return what came of a task; raise what went wrong with it."""
    if "done" in reply:
        return from_json(reply["done"])
    if "error" in reply:
        raise StoreError(reply["error"])
    raise UnreadableShare
