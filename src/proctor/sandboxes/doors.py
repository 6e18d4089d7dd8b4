"""Doors of environments without network: sockets that lead to ports of this machine."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from proctor.io.concurrency import map_unordered


def _to_port(
    port: int,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return what joins a connection with one to a port of this machine's loopback."""

    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        pairs = [(reader, there[1]), (there[0], writer)]

        async def passed(pair: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
            with suppress(OSError):
                while piece := await pair[0].read(65536):
                    pair[1].write(piece)
                    await pair[1].drain()
                if pair[1].can_write_eof():
                    pair[1].write_eof()

        try:
            async for _ in map_unordered(pairs, passed, limit=2):
                pass
        finally:
            writer.close()
            there[1].close()

    return joined


@asynccontextmanager
async def doors_opened(folder: Path, ports: Sequence[int]) -> AsyncIterator[dict[int, str]]:
    """Listen at sockets in a folder that lead to ports of this machine; yield their names."""
    names: dict[int, str] = {}
    async with AsyncExitStack() as stack:
        for port in ports:
            names[port] = f"{port}.sock"
            path = folder / names[port]
            path.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(_to_port(port), path=str(path))
            path.chmod(0o666)  # whoever is inside may knock
            stack.push_async_callback(_closed, server)
        yield names


async def _closed(server: asyncio.Server) -> None:
    server.close()
