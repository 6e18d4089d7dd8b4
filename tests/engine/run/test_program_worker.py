"""A worker that runs programs: what it is told, what it asks, what it says, and when it ends."""

import asyncio
from pathlib import Path
from typing import Any

from proctor.core.attempt import Attempt
from proctor.core.fingerprint import plain
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.program_workers import _MODULE
from proctor.io import json_bytes
from proctor.io.message_process import MessageProcess

ABOUT = {"sandbox": {"name": "process"}, "brings_along": "", "language": "en", "at_once": 2,
         "workers": 2}  # fmt: skip
CASE = Case(id="one", messages=(Message(role="user", content="Write f."),), criteria=())
CRITERION = Criterion(
    id="tests",
    scorer=Spec(
        name="unit_tests", params={"lang": "python", "tests": [{"content": "assert f(1) == 2"}]}
    ),
)


def task(code: str) -> Any:
    attempt = Attempt.of("one", f"```python\n{code}\n```")
    return {"case": plain(CASE), "criterion": plain(CRITERION), "attempt": plain(attempt)}


async def exchanged(process: MessageProcess, message: Any) -> Any:
    return json_bytes.loads(await process.reply(json_bytes.dumps(message), patience=60))


def test_it_asks_for_each_program_and_returns_what_is_new() -> None:
    async def work() -> None:
        process = await MessageProcess.start(_MODULE)
        assert (await exchanged(process, ABOUT))["ready"] == process.process.pid
        job = {"tasks": [task("def f(n):\n    return n + 1"), task("def f(n):\n    return n")]}
        asked, message = [], job
        while "find" in (reply := await exchanged(process, message)):
            asked.append(reply["find"])
            message = None
        assert [score["points"] for score in reply["scores"]] == [1.0, 0.0]
        assert sorted(asked) == sorted(row["key"] for row in reply["results"])
        assert len(asked) == 2

        # Told what is known, it runs nothing.
        known = {row["key"]: row for row in reply["results"]}
        message = job
        while "find" in (again := await exchanged(process, message)):
            message = known[again["find"]]
        assert again == {"scores": reply["scores"], "results": []}
        await process.end()

    asyncio.run(work())


def test_it_ends_when_there_are_no_more_jobs() -> None:
    async def work() -> None:
        process = await MessageProcess.start(_MODULE)
        await exchanged(process, ABOUT)
        assert process.process.stdin is not None
        process.process.stdin.close()
        assert await asyncio.wait_for(process.process.wait(), 60) == 0
        assert not Path(f"/proc/{process.process.pid}").exists()

    asyncio.run(work())
