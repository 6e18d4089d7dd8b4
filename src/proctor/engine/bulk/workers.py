"""Worker processes of this machine, one for each core, for the shares of a run."""

import asyncio
import subprocess
from contextlib import suppress
from typing import Any

from proctor.engine.bulk.tasks import from_json, to_json
from proctor.engine.bulk.worker_process import LENGTH
from proctor.errors import StoreError
from proctor.io import child_processes, json_bytes
from proctor.io.concurrency import available_cores
from proctor.io.row_shares import UnreadableShare
from proctor.io.text_files import limit

_MODULE = "proctor.engine.bulk.worker_process"
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Each core has a process; threads of libraries would only take memory."""
PATIENCE = 600.0
"""Seconds after which a worker that says nothing of its task is taken for stuck."""


class WorkerLost(UnreadableShare):
    """A worker that ended in the middle of its task, or was taken for stuck."""


class Workers:
    """Processes that do tasks; one that is lost is replaced."""

    def __init__(self, *, keys: bool = False) -> None:
        self._keys = keys
        self.size = available_cores()
        self._idle: list[asyncio.subprocess.Process] = []
        self._all: set[asyncio.subprocess.Process] = set()

    async def run(self, task: Any) -> Any:
        """Do one task; an UnreadableShare where its files are not as they should be."""
        process = self._idle.pop() if self._idle else await self._start()
        try:
            async with asyncio.timeout(PATIENCE):
                reply = await _exchanged(process, json_bytes.dumps(to_json(task)))
        except (OSError, EOFError, TimeoutError, ValueError):
            await self._end(process)
            raise WorkerLost from None
        except BaseException:
            await self._end(process)
            raise
        self._idle.append(process)
        if "done" in reply:
            return from_json(reply["done"])
        if "error" in reply:
            raise StoreError(reply["error"])
        raise UnreadableShare

    async def close(self) -> None:
        """Leave no process behind."""
        while self._all:
            await self._end(next(iter(self._all)))

    async def _start(self) -> asyncio.subprocess.Process:
        process = await child_processes.spawn(
            child_processes.own_module(_MODULE, str(limit("memory"))),
            env={**child_processes.own_environment(keys=self._keys), **_ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=2**20,
        )
        self._all.add(process)
        return process

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        self._all.discard(process)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _exchanged(process: asyncio.subprocess.Process, message: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(LENGTH.pack(len(message)) + message)
    await process.stdin.drain()
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    reply: dict[str, Any] = json_bytes.loads(await process.stdout.readexactly(length))
    return reply
