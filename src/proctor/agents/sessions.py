"""What every session of an agent keeps: what was said, how long a turn may take, why one failed."""

import asyncio
import os
import secrets
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from proctor.agents.process import AgentProcess, Broken, NoAnswer
from proctor.agents.steps import posts_of, round_of
from proctor.contracts.agent import Session, Workspace
from proctor.core.rounds import Round
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.io.child_processes import own_environment
from proctor.io.redaction import SECRETS, redact
from proctor.io.search_paths import MODULES, agent_modules

SHOWN = 200
GRACE = 3.0
"""Seconds for an agent to put its things in order at the end of a session."""
REPLY_KEYS = {"reply", "steps", "error", "round", "post_list"}
"""What a JSON object holds that is a reply, and not a text that looks like one."""


@dataclass
class TimedSession(Session):
    """An agent's turns, each within its time limit; a turn that breaks is a failed round.

    A round is broken where the agent crashed, and merely failed where it passed a limit.
    """

    workspace: Workspace
    timeout: float
    name: str = field(default_factory=lambda: f"session-{secrets.token_hex(8)}")
    history: list[dict[str, str]] = field(default_factory=list)
    turn: int = 0

    async def send(self, message: str) -> Round:
        started = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout):
                outcome = await self.answered(message)
        except TimeoutError:
            await self.drop()
            outcome = Round.failed(message, f"it took longer than the {self.timeout:g} s allowed")
        except Broken as error:
            await self.drop()
            outcome = replace(
                Round.failed(message, str(error)),
                broken=not isinstance(error, NoAnswer),
                traceback=redact(error.traceback),
            )
        outcome = replace(outcome, seconds=time.monotonic() - started, error=redact(outcome.error))
        self.turn += 1
        self.history.append({"role": "user", "content": message})
        if outcome.reply is not None:
            self.history.append({"role": "assistant", "content": outcome.reply})
        return outcome

    @abstractmethod
    async def answered(self, message: str) -> Round:
        """Return what the agent did, or raise Broken."""

    async def drop(self) -> None:
        """Let go of an agent that broke, so that the next turn has a new one."""

    async def close(self) -> None:
        await self.drop()

    def request_fields(self, message: str) -> dict[str, Json]:
        """Write a message for an agent, with what may help it."""
        return {
            "message": message,
            "history": list(self.history),
            "session": self.name,
            "turn": self.turn,
            "case": self.workspace.case.id,
        }


@dataclass
class LineSession(TimedSession):
    """One process that lives as long as the session, and talks in lines of JSON."""

    start: Callable[[], Awaitable[AgentProcess]] | None = None
    driven: bool = False
    """Whether Proctor's own driver is at the other end, which tells what the agent raised."""
    _process: AgentProcess | None = None

    async def answered(self, message: str) -> Round:
        """Send a line, and read lines up to the reply; those before it tell steps."""
        if self._process is None:
            assert self.start is not None
            self._process = await self.start()
        process = self._process
        process.refresh()
        process.write(json_bytes.dumps(self.request_fields(message)) + b"\n")
        steps: list[Json] = []
        before = time.monotonic()
        while True:
            data = object_of(await process.line())
            if data.keys() != {"step"}:
                break
            now = time.monotonic()
            step = data["step"]
            if isinstance(step, dict):
                step.setdefault("seconds", round(now - before, 3))
            steps.append(step)
            before = now
        if self.driven and "raised" in data:
            failed = Round.failed(message, str(data["raised"]), posts_of(steps))
            where = redact(str(data.get("traceback", "")))
            return replace(failed, broken=True, traceback=where)
        if isinstance(data.get("session"), str) and data["session"]:
            self.name = data["session"]
        return round_of(message, data, more=steps)

    async def close(self) -> None:
        if (process := self._process) is not None:
            process.write(b"", last=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(GRACE, self.timeout)):
                    await process.until(lambda: process.status is not None or process.gone)
        await self.drop()

    async def drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.close()


def object_of(line: bytes) -> dict[str, Json]:
    """Read a line as a JSON object, or raise Broken."""
    text = text_from(line)
    try:
        data = json_bytes.loads_foreign(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise Broken(f"a line that it wrote is no JSON object: {text[:SHOWN]!r}")
    return data


def text_from(data: bytes) -> str:
    """Read UTF-8, or raise Broken."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken(f"what it wrote is not UTF-8 (at byte {error.start})") from None


def read_reply(session: TimedSession, message: str, out: bytes) -> Round:
    """Read what a command wrote: a text, or one JSON object that has a reply."""
    text = text_from(out).strip()
    if not text:
        raise NoAnswer("it wrote no reply")
    data: Json = None
    if text.startswith("{"):
        try:
            data = json_bytes.loads_foreign(text)
        except ValueError:
            data = None
    if not isinstance(data, dict) or not REPLY_KEYS & data.keys():
        return round_of(message, {"reply": text})
    if isinstance(data.get("session"), str) and data["session"]:
        session.name = data["session"]
    return round_of(message, data)


def environment(workspace: Workspace, more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of an agent that a person named: theirs, and what is added.

    An agent works in the folder that the files of a case lie in: nothing is looked for there that
    the person meant to be looked for where Proctor was started.
    """
    own = own_environment(keys=True)
    if modules := agent_modules():
        own[MODULES] = modules
    variables = {**own, **resolved(more), **workspace.env}
    SECRETS.add_environment(variables)
    return variables


def resolved(values: Mapping[str, str]) -> dict[str, str]:
    """Put the values of environment variables where ``$NAME`` stands for them."""
    variables = {
        name: os.environ.get(value[1:], "") if named(value) else value
        for name, value in values.items()
    }
    SECRETS.add_environment(variables)
    return variables


def named(value: str) -> bool:
    """Tell whether a value is the name of an environment variable."""
    return value.startswith("$") and value[1:].isidentifier()


def unset(values: Mapping[str, str]) -> list[str]:
    """Return the problems of values that name variables which are not set."""
    missing = [value for value in values.values() if named(value) and value[1:] not in os.environ]
    return [f"the environment variable {value[1:]} is not set" for value in missing]
