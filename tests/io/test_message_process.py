"""Processes that reply to messages."""

import io
import json
from pathlib import Path

import pytest

from proctor.io.concurrency import run_sync
from proctor.io.message_process import (
    MessageProcess,
    ProcessLost,
    ServingModule,
    read_message,
    write_message,
)

WORKER = ServingModule(name="proctor.engine.bulk.worker_process", arguments=("100000000",))


def test_messages_are_read_as_they_were_written() -> None:
    stream = io.BytesIO()
    for message in (b"one", b"x" * 70_000):
        write_message(stream, message)
    stream.seek(0)
    assert [read_message(stream) for _ in range(3)] == [b"one", b"x" * 70_000, None]


@pytest.mark.slow
def test_a_process_replies_until_it_is_lost(tmp_path: Path) -> None:
    missing = {"path": str(tmp_path / "none.parquet"), "limits": {}}

    async def exchanged() -> bytes:
        process = await MessageProcess.start(WORKER)
        message = json.dumps(["PlanTask", missing]).encode()
        assert await process.reply(message) == await process.reply(message)
        reply = await process.reply(message)
        process.process.kill()
        with pytest.raises(ProcessLost):
            await process.reply(message)
        assert process.process.returncode is not None
        return reply

    assert json.loads(run_sync(exchanged())) == {"unreadable": True}


@pytest.mark.slow
def test_a_module_that_ends_without_a_reply_is_lost() -> None:
    async def lost() -> None:
        process = await MessageProcess.start(ServingModule(name="platform"))
        with pytest.raises(ProcessLost):
            await process.reply(b"hello")

    run_sync(lost())
