"""Find the Python object that is an agent, and talk to it, whatever it is.

This file is used inside Proctor and, by itself, in the agent's own process: standard library alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

CONTEXT = ("case", "folder", "session", "turn", "history")
"""What a function may ask for by the names of its parameters, besides the message."""
MESSAGE = ("message", "text", "prompt", "query", "question")
"""Names that tell a function which answers messages from one that makes sessions."""
OURS = {os.path.dirname(os.path.abspath(__file__))}
"""Folders of the files that call agents."""
PARTS = ("reply", "steps", "usage", "error", "session")
LEVELS, LONGEST = 30, 8000
"""How many frames of a traceback are written, and how many characters."""


class NotThere(Exception):
    """Say why there is no such agent."""


def load(target: str) -> Any:
    """Return what ``module:attr`` or ``path/file.py:attr`` names, or raise NotThere."""
    name, _, attribute = target.rpartition(":")
    try:
        target_object: Any = _from_file(Path(name)) if name.endswith(".py") else _module(name)
    except NotThere:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise NotThere(f"{name!r} cannot be imported: {reason}") from error
    for part in attribute.split("."):
        try:
            target_object = getattr(target_object, part)
        except AttributeError:
            raise NotThere(f"{name!r} has no {attribute!r}") from None
    if not callable(target_object) and not hasattr(target_object, "send"):
        raise NotThere(f"{target!r} can neither be called nor sent a message")
    return target_object


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise NotThere(f"there is no file {path}")
    name = path.stem.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def is_factory(target: Any) -> bool:
    """Tell whether something is called for a session, and not with a message."""
    if isinstance(target, type):
        return True
    if not callable(target):
        return False
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return False
    if any(p.name in MESSAGE or p.kind is p.VAR_POSITIONAL for p in parameters):
        return False
    first = next(
        (p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)), None
    )
    return first is None or first.default is not first.empty or first.name in CONTEXT


def fitting(function: Callable[..., Any], available: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a function takes of what is given, by the names of its parameters."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return dict(available)
    named = {
        n for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    return {name: value for name, value in available.items() if name in named}


class Caller:
    """Talk to an agent in one session; what it returns may be awaitable, or come in parts."""

    def __init__(self, target: Any, settings: Mapping[str, Any]) -> None:
        self.target, self.settings = target, settings
        self.session: Any = None
        self.loop: Any = None
        """What async code runs in: what it starts in one turn lives in the next."""

    def send(self, message: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the agent says to a message, as the parts of a reply."""
        around = {**self.settings, **fields}
        if not is_factory(self.target) and not hasattr(self.target, "send"):
            return reply_parts(self.settled(self.target(message, **_rest(self.target, around))))
        if self.session is None:
            self.session = self.begun(around)
        send = self.session.send
        return reply_parts(self.settled(send(message, **_rest(send, around))))

    def begun(self, around: Mapping[str, Any]) -> Any:
        """Return the session that a factory gives."""
        if not is_factory(self.target):
            return self.target
        session = self.settled(self.target(**fitting(self.target, around)))
        if not hasattr(session, "send"):
            kind = type(session).__name__
            raise TypeError(
                f"the factory gave a {kind} that has no send (a function that answers messages"
                " takes the message as its first parameter)"
            )
        return session

    def close(self) -> None:
        """End the session, if it wants to be told."""
        try:
            if self.session is not None and hasattr(self.session, "close"):
                self.settled(self.session.close())
        finally:
            if self.loop is not None:
                self.loop.close()

    def settled(self, result: Any) -> Any:
        """Wait for what was returned, and put together what comes in parts."""
        if inspect.isawaitable(result):
            result = self._awaited(_wait(result))
        if inspect.isasyncgen(result):
            return self._awaited(_gather(result))
        if inspect.isgenerator(result):
            return "".join(str(part) for part in result)
        return result

    def _awaited(self, work: Any) -> Any:
        if self.loop is None:
            import asyncio  # an agent that does not wait starts sooner without it

            self.loop = asyncio.new_event_loop()
        return self.loop.run_until_complete(work)


async def _wait(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _gather(parts: AsyncIterator[Any]) -> str:
    return "".join([str(part) async for part in parts])


def _rest(function: Callable[..., Any], around: Mapping[str, Any]) -> dict[str, Any]:
    """Return what fits besides the first parameter, which is the message, however it is called."""
    arguments = fitting(function, around)
    try:
        first = next(iter(inspect.signature(function).parameters), None)
    except (TypeError, ValueError):
        first = None
    return {name: value for name, value in arguments.items() if name != first}


def reply_parts(result: Any) -> dict[str, Any]:
    """Write what an agent returned as an object: the reply, and what else it said."""
    if isinstance(result, Mapping):
        return dict(result)
    if result is None or isinstance(result, str):
        return {"reply": result}
    if hasattr(result, "to_dict"):
        return dict(result.to_dict())
    if hasattr(result, "reply"):
        return {name: getattr(result, name) for name in PARTS if hasattr(result, name)}
    return {"reply": str(result)}


def raised(error: BaseException) -> dict[str, Any]:
    """Tell what an agent raised, with the part of the traceback that is its own."""
    return {"raised": broke(error), "traceback": own_traceback(error)}


def own_traceback(error: BaseException) -> str:
    """Write a traceback without the frames of the files that call the agent."""
    trace = error.__traceback__
    while trace is not None and os.path.dirname(trace.tb_frame.f_code.co_filename) in OURS:
        trace = trace.tb_next
    try:
        lines = traceback.format_exception(type(error), error, trace, limit=-LEVELS)
    except Exception as other:  # noqa: BLE001 - an exception may break where it is written
        return f"{type(error).__name__} (its traceback cannot be written: {type(other).__name__})"
    return "".join(lines)[-LONGEST:]


def broke(error: BaseException) -> str:
    """Say what an agent raised, and where."""
    last = None
    trace = error.__traceback__
    while trace is not None:
        last, trace = trace, trace.tb_next
    where = ""
    if last is not None and last.tb_frame.f_code.co_filename != __file__:
        where = f" (line {last.tb_lineno} of {Path(last.tb_frame.f_code.co_filename).name})"
    return f"it raised {type(error).__name__}: {error}{where}"
