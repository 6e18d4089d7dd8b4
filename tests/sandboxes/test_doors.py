"""Sockets that lead to a port of this machine."""

import asyncio
from pathlib import Path

from proctor.sandboxes.doors import doors_opened


async def _shouted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((await reader.read()).upper())
    await writer.drain()
    writer.close()


def test_a_door_passes_both_ways_and_is_closed_afterwards(tmp_path: Path) -> None:
    async def through() -> bytes:
        server = await asyncio.start_server(_shouted, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, doors_opened(tmp_path, (port,)) as names:
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / names[port]))
            writer.write(b"hello")
            writer.write_eof()
            answer = await reader.read()
            writer.close()
        return answer

    assert asyncio.run(through()) == b"HELLO"


def test_a_door_to_nowhere_closes(tmp_path: Path) -> None:
    async def through() -> bytes:
        server = await asyncio.start_server(_shouted, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        async with doors_opened(tmp_path, (port,)) as names:
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / names[port]))
            answer = await reader.read()
            writer.close()
        return answer

    assert asyncio.run(through()) == b""
