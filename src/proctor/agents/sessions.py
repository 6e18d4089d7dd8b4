"""What every session of an agent keeps: what was said, how long a turn may take, why one failed."""

import asyncio
import os
import secrets
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from proctor.agents.process import Broken, Held, NoAnswer
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
KNOWN = {"reply", "steps", "error", "round", "post_list"}
"""What a JSON object holds that is a reply, and not a text that looks like one."""


@dataclass
class TimedSession(Session):
    """Let an agent take its turns, each in its time; what it does wrong is a failed round.

    A round is broken where the agent crashed, and merely failed where it passed a limit.
    """

    workspace: Workspace
    timeout: float
    name: str = field(default_factory=lambda: f"session-{secrets.token_hex(8)}")
    history: list[dict[str, str]] = field(default_factory=list)
    turn: int = 0

    async def send(self, message: str) -> Round:
        """Ask the agent, and remember what was said."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout):
                made = await self.answered(message)
        except TimeoutError:
            await self.drop()
            made = Round.failed(message, f"it took longer than the {self.timeout:g} s allowed")
        except Broken as error:
            await self.drop()
            made = replace(
                Round.failed(message, str(error)),
                broken=not isinstance(error, NoAnswer),
                traceback=redact(error.traceback),
            )
        made = replace(made, seconds=time.monotonic() - started, error=redact(made.error))
        self.turn += 1
        self.history.append({"role": "user", "content": message})
        if made.reply is not None:
            self.history.append({"role": "assistant", "content": made.reply})
        return made

    @abstractmethod
    async def answered(self, message: str) -> Round:
        """Return what the agent did, or raise Broken."""

    async def drop(self) -> None:
        """Let go of an agent that broke, so that the next turn has a new one."""

    async def close(self) -> None:
        """Leave nothing behind."""
        await self.drop()

    def asked(self, message: str) -> dict[str, Json]:
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
    """Talk with one process that lives as long as the session, in lines of JSON."""

    start: Callable[[], Awaitable[Held]] | None = None
    driven: bool = False
    """Whether Proctor's own driver is at the other end, which tells what the agent raised."""
    _held: Held | None = None

    async def answered(self, message: str) -> Round:
        """Send a line, and read lines up to the reply; those before it tell steps."""
        if self._held is None:
            assert self.start is not None
            self._held = await self.start()
        held = self._held
        held.refresh()
        held.write(json_bytes.dumps(self.asked(message)) + b"\n")
        steps: list[Json] = []
        while True:
            told = object_of(await held.line())
            if told.keys() != {"step"}:
                break
            steps.append(told["step"])
        if self.driven and "raised" in told:
            failed = Round.failed(message, str(told["raised"]), posts_of(steps))
            where = redact(str(told.get("traceback", "")))
            return replace(failed, broken=True, traceback=where)
        if isinstance(told.get("session"), str) and told["session"]:
            self.name = told["session"]
        return round_of(message, told, more=steps)

    async def close(self) -> None:
        """Tell the process that there are no more messages, and end it if it does not."""
        if (held := self._held) is not None:
            held.write(b"", last=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(GRACE, self.timeout)):
                    await held.until(lambda: held.status is not None or held.gone)
        await self.drop()

    async def drop(self) -> None:
        """End the process with all that it started."""
        held, self._held = self._held, None
        if held is not None:
            await held.close()


def object_of(line: bytes) -> dict[str, Json]:
    """Read a line as a JSON object, or raise Broken."""
    text = text_from(line)
    try:
        told = json_bytes.loads_foreign(text)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise Broken(f"a line that it wrote is no JSON object: {text[:SHOWN]!r}")
    return told


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
    told: Json = None
    if text.startswith("{"):
        try:
            told = json_bytes.loads_foreign(text)
        except ValueError:
            told = None
    if not isinstance(told, dict) or not KNOWN & told.keys():
        return round_of(message, {"reply": text})
    if isinstance(told.get("session"), str) and told["session"]:
        session.name = told["session"]
    return round_of(message, told)


def environment(workspace: Workspace, more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of an agent that a person named: theirs, and what is added.

    An agent works in the folder that the files of a case lie in: nothing is looked for there that
    the person meant to be looked for where Proctor was started.
    """
    own = own_environment(keys=True)
    if modules := agent_modules():
        own[MODULES] = modules
    found = {**own, **resolved(more), **workspace.env}
    SECRETS.add_environment(found)
    return found


def resolved(values: Mapping[str, str]) -> dict[str, str]:
    """Put the values of environment variables where ``$NAME`` stands for them."""
    found = {
        name: os.environ.get(value[1:], "") if named(value) else value
        for name, value in values.items()
    }
    SECRETS.add_environment(found)
    return found


def named(value: str) -> bool:
    """Tell whether a value is the name of an environment variable."""
    return value.startswith("$") and value[1:].isidentifier()


def unset(values: Mapping[str, str]) -> list[str]:
    """Return the problems of values that name variables which are not set."""
    missing = [value for value in values.values() if named(value) and value[1:] not in os.environ]
    return [f"the environment variable {value[1:]} is not set" for value in missing]
