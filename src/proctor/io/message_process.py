"""A process that runs a module of ours and replies to one message after the other."""

import asyncio
import os
import struct
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from proctor.io import child_processes

LENGTH = struct.Struct("!Q")
"""What stands before each message: its length."""
PATIENCE = 600.0
"""Seconds after which a process that does not reply is taken for stuck."""
PAUSE = 0.5
"""Seconds between looks at whether the process that sends the messages is still there."""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Each core has a process; threads of libraries would only take memory."""


class ProcessLost(Exception):
    """A process that ended over a message, or was taken for stuck."""

    def __init__(self, *, stuck: bool = False) -> None:
        super().__init__()
        self.stuck = stuck


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingModule:
    """A module of ours that replies to messages on its standard input."""

    name: str
    arguments: tuple[str, ...] = ()
    keys: bool = False
    """Whether it may see the keys in the environment, as for the address of an object store."""


@dataclass(eq=False)
class MessageProcess:
    """A process that runs such a module."""

    process: asyncio.subprocess.Process

    @classmethod
    async def start(
        cls, module: ServingModule, descriptors: Sequence[int] = ()
    ) -> "MessageProcess":
        """Start a process, which holds some open files together with this one."""
        process = await child_processes.spawn(
            child_processes.own_module(module.name, *module.arguments),
            env={**child_processes.own_environment(keys=module.keys), **_ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=2**20,
            pass_fds=descriptors,
        )
        return cls(process)

    async def reply(self, message: bytes, *, patience: float | None = PATIENCE) -> bytes:
        """Send a message and wait for the reply; where none comes, end the process."""
        try:
            async with asyncio.timeout(patience):
                return await self._exchanged(message)
        except TimeoutError:
            await self.end()
            raise ProcessLost(stuck=True) from None
        except (OSError, EOFError, ValueError):
            await self.end()
            raise ProcessLost from None
        except BaseException:
            await self.end()
            raise

    async def end(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()

    async def _exchanged(self, message: bytes) -> bytes:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(LENGTH.pack(len(message)) + message)
        await stdin.drain()
        (length,) = LENGTH.unpack(await stdout.readexactly(LENGTH.size))
        return await stdout.readexactly(length)


def read_message(source: BinaryIO) -> bytes | None:
    """Read one message; None at the end."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    data = source.read(LENGTH.unpack(head)[0])
    return data if data else None


def write_message(sink: BinaryIO, data: bytes) -> None:
    """Write one message."""
    sink.write(LENGTH.pack(len(data)))
    sink.write(data)
    sink.flush()


def end_with(parent: int) -> None:
    """End this process once the one that it works for is gone: nobody wants the rest."""
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)
