"""Functions of a program as candidates: called with each question, many at a time."""

import asyncio
import contextvars
import inspect
import json
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cached_property, partial
from threading import Thread
from typing import Any

from proctor.api.function_identity import Identity, identify
from proctor.contracts.agent import Agent, Session, Workspace
from proctor.core.exchange import Usage
from proctor.core.rounds import AGENT, Post, Round
from proctor.core.suite import Json
from proctor.errors import AgentError, ModelError, UsageError
from proctor.io.redaction import redact

LEVELS, LONGEST = 30, 8000
"""How many frames of a traceback are kept, and how many characters."""
PARTS = frozenset({"output", "reply", "steps", "usage", "error"})
"""What a mapping holds that tells how an agent came to its answer."""
_CASE, _HISTORY, _MESSAGES, _INDEX = "case", "history", "messages", "attempt"
_OFFERED = (_CASE, _HISTORY, _MESSAGES, _INDEX)
"""What a function may ask for by name, besides the question."""


@dataclass(frozen=True, eq=False)
class FunctionAgent(Agent):
    """A function that answers questions."""

    function: Callable[..., Any]
    name: str
    takes: tuple[str, ...] = ()
    """What it is given after the question, by position."""
    named: tuple[str, ...] = ()
    """What it is given by name."""
    in_folder = False

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "FunctionAgent":
        """Make the candidate of a function, or say why it cannot be one."""
        name = function_name(function)
        takes, named = _parameters(function, name)
        return cls(function=function, name=name, takes=takes, named=named)

    @cached_property
    def function_identity(self) -> Identity:
        """Return what tells the function apart from others."""
        return identify(self.function)

    @property
    def identity(self) -> Json:
        return {"kind": "function", "name": self.name, "key": self.function_identity.key}

    @property
    def label(self) -> str:
        return self.name

    async def open(self, workspace: Workspace) -> Session:
        return FunctionSession(agent=self, workspace=workspace)


@dataclass(eq=False)
class FunctionSession(Session):
    """The questions of one attempt, put to a function one after the other."""

    agent: FunctionAgent
    workspace: Workspace
    history: list[dict[str, str]] = field(default_factory=list)

    async def send(self, message: str) -> Round:
        started = time.monotonic()
        try:
            result = await self._called(message)
            answer = round_of(message, result, self.agent.name)
        except ModelError:
            raise
        except (Exception, SystemExit) as error:
            text = str(error)
            reason = f"{type(error).__name__}{f': {text}' if text else ''}"
            raise AgentError(
                redact(f"{self.agent.name} raised {reason}"), traceback=redact(_trace(error))
            ) from error
        self.history.append({"role": "user", "content": message})
        if answer.reply is not None:
            self.history.append({"role": "assistant", "content": answer.reply})
        return replace(answer, seconds=time.monotonic() - started)

    async def _called(self, message: str) -> Any:
        """Call the function: here if it is async, else in a thread, since it may block."""
        agent = self.agent
        offered = self._offered(agent.takes + agent.named)
        work = partial(
            agent.function,
            message,
            *(offered[name] for name in agent.takes),
            **{name: offered[name] for name in agent.named},
        )
        result = work() if is_async(agent.function) else await in_own_thread(work)
        if inspect.isawaitable(result):
            result = await result
        if isinstance(result, AsyncIterator):
            return await _joined_as_they_come(result)
        if isinstance(result, Iterator):
            return await in_own_thread(partial(_joined, result))
        return result

    def _offered(self, names: Sequence[str]) -> dict[str, Any]:
        if not names:
            return {}
        case = self.workspace.case
        messages = [{"role": m.role, "content": m.content} for m in case.messages]
        return {
            _CASE: case,
            _HISTORY: list(self.history),
            _MESSAGES: messages + self.history,
            _INDEX: self.workspace.index,
        }


def function_name(function: Any) -> str:
    """Return what people call a function."""
    if isinstance(function, partial):
        return function_name(function.func)
    name = getattr(function, "__name__", "") or type(function).__name__
    owner = getattr(function, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        kind = owner if isinstance(owner, type) else type(owner)
        return f"{kind.__name__}.{name}"
    return str(name).strip("<>")


def is_async(function: Any) -> bool:
    """Tell whether a function is called in the loop, because it does not block."""
    while isinstance(function, partial):
        function = function.func
    called = type(function).__call__ if not inspect.isroutine(function) else function
    return inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)


def _parameters(function: Any, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a function is given after the question: by position, and by name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # written in C
        return (), ()
    positional = [
        one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    if not positional and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
        raise UsageError(
            f"{name}() takes no question (fix: def {name}(question), or def {name}(question, case))"
        )
    rest = positional[1:]
    takes = []
    for one in rest:
        if one.default is not one.empty:
            break
        takes.append(one.name if one.name in _OFFERED else _CASE)
    wrong = [one.name for one in rest[: len(takes)] if one.name not in _OFFERED]
    lacking = [
        one.name
        for one in parameters
        if one.kind is one.KEYWORD_ONLY and one.default is one.empty and one.name not in _OFFERED
    ]
    # One parameter with a name of its own is the case, where none is called so.
    strange = wrong if any(one.name == _CASE for one in rest[: len(takes)]) else wrong[1:]
    if strange or lacking:
        raise UsageError(
            f"{name}() has more parameters than it can be given: {', '.join(strange + lacking)}"
            f" (fix: the question first, then any of {', '.join(_OFFERED)}; fill in others with"
            " functools.partial)"
        )
    optional = [*rest[len(takes) :], *(one for one in parameters if one.kind is one.KEYWORD_ONLY)]
    return tuple(takes), tuple(one.name for one in optional if one.name in _OFFERED)


async def in_own_thread(work: Callable[[], Any]) -> Any:
    """Run work in a thread of its own, which nobody waits for where it never ends."""
    future: Future[Any] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result = context.run(work)
        except StopIteration as error:
            _settle(future, error=RuntimeError(f"it raised StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            _settle(future, error=error)
        else:
            _settle(future, result=result)

    Thread(target=run, name="proctor-function", daemon=True).start()
    return await asyncio.wrap_future(future)


def _settle(
    future: "Future[Any]", *, result: Any = None, error: BaseException | None = None
) -> None:
    with suppress(InvalidStateError):
        if error is None:
            future.set_result(result)
        elif isinstance(error, Exception):
            future.set_exception(error)
        else:
            future.set_exception(RuntimeError(f"it raised {type(error).__name__}"))


def _joined(parts: Iterator[Any]) -> Any:
    return _put_together(list(parts))


async def _joined_as_they_come(parts: AsyncIterator[Any]) -> Any:
    return _put_together([part async for part in parts])


def _put_together(parts: list[Any]) -> Any:
    """Put together what came in parts: pieces of a text, and perhaps a mapping at the end."""
    pieces = [part for part in parts if part is not None]
    if strange := [part for part in pieces if not isinstance(part, str | Mapping)]:
        raise TypeError(f"a stream is made of texts, not {type(strange[0]).__name__}")
    text = "".join(part for part in pieces if isinstance(part, str))
    told = {
        key: value for part in pieces if isinstance(part, Mapping) for key, value in part.items()
    }
    if not told:
        return text if pieces else None
    return told if "output" in told or "reply" in told else {"output": text, **told}


def round_of(question: str, result: Any, name: str) -> Round:
    """Make the round of what a function returned."""
    if isinstance(result, Mapping) and PARTS & result.keys():
        return _told_round(question, result, name)
    text = text_of(result, name)
    if text is None:
        return Round.failed(question, f"{name} returned None")
    return Round.of(question, text)


def _told_round(question: str, told: Mapping[Any, Any], name: str) -> Round:
    """Make the round of an agent: its answer, its steps and what it used."""
    steps = [post for step in _listed(told.get("steps")) for post in _posts(step)]
    usage = _usage(told.get("usage"))
    if told.get("error"):
        return replace(Round.failed(question, str(told["error"])[:2000], steps), usage=usage)
    output = told.get("output", told.get("reply"))
    text = text_of(output, name)
    if text is None:
        return replace(Round.failed(question, f"{name} gave no output", steps), usage=usage)
    return Round.of(question, text, steps, usage)


def text_of(value: Any, name: str = "the function") -> str | None:
    """Return an answer as text: numbers as they are written, objects as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    written = getattr(value, "model_dump_json", None)
    if callable(written):  # a pydantic model
        return str(written())
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    kind = type(value)
    if kind.__module__.partition(".")[0] in ("numpy", "decimal", "fractions", "enum"):
        return str(value)
    raise TypeError(
        f"{name} returned {kind.__module__}.{kind.__qualname__}; expected a text, a number, or a"
        " mapping with 'output'"
    )


def _listed(steps: Any) -> Sequence[Any]:
    if steps is None:
        return ()
    if not isinstance(steps, list | tuple):
        raise TypeError("the steps are a list of texts or mappings")
    return steps


def _posts(step: Any) -> list[Post]:
    """Return the posts of a step: a text, or a tool with what it was told and what came back."""
    if isinstance(step, str):
        return [Post(message=step, send_from=AGENT, send_to=AGENT)]
    if not isinstance(step, Mapping):
        raise TypeError(f"a step is a text or a mapping, not {type(step).__name__}")
    tool = step.get("tool")
    if tool is None:
        message = text_of(step.get("message", step.get("content", dict(step)))) or ""
        to = str(step.get("to") or AGENT)
        return [Post(message=message, send_from=str(step.get("from") or AGENT), send_to=to)]
    told = step.get("input", step.get("arguments", ""))
    call = Post(message=text_of(told) or "", send_from=AGENT, send_to=str(tool))
    if "output" not in step:
        return [call]
    back = Post(message=text_of(step["output"]) or "", send_from=str(tool), send_to=AGENT)
    return [call, back]


def _usage(told: Any) -> Usage:
    """Read what a function says it used: a mapping, or an object with such fields."""
    if told is None:
        return Usage()
    fields_told = told if isinstance(told, Mapping) else dict(getattr(told, "__dict__", {}))
    tokens_in = _count(fields_told, "prompt_tokens", "input_tokens")
    tokens_out = _count(fields_told, "completion_tokens", "output_tokens")
    cost = fields_told.get("cost")
    return Usage(
        calls=_count(fields_told, "calls") or (1 if tokens_in or tokens_out else 0),
        prompt_tokens=tokens_in,
        completion_tokens=tokens_out,
        cost=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
    )


def _count(told: Mapping[Any, Any], *names: str) -> int:
    return next((max(0, int(told[n])) for n in names if isinstance(told.get(n), int)), 0)


def _trace(error: BaseException) -> str:
    """Write a traceback without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace, limit=-LEVELS))[-LONGEST:]
