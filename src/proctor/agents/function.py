"""Agents that are Python code: a function, or something that gives sessions."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Thread

from proctor.agents.launchers.proctor_calling import Caller, NotThere, broke, load, own_traceback
from proctor.agents.process import Broken, restore
from proctor.agents.python_process import Driven
from proctor.agents.sessions import TimedSession, resolved
from proctor.agents.source_hash import module_file, source_key
from proctor.agents.steps import round_of
from proctor.contracts.agent import Session, Workspace
from proctor.core.rounds import Round
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io.search_paths import importing_from


@dataclass(kw_only=True)
class PythonFunction(Driven):
    """Python code: a function of the message, or a class or function that gives sessions.

    It runs in a process of its own, in its working folder; a crash costs one round. The module is
    looked for in the folder where Proctor was started.
    """

    target: str
    """``module:attr``, or ``path/file.py:attr``."""
    in_process: bool = False
    """Whether it runs in Proctor's own process, where nothing can stop or contain it."""

    def __post_init__(self) -> None:
        self._turn = asyncio.Lock()

    @property
    def identity(self) -> Json:
        return {
            "kind": "python",
            "target": self.target,
            "source": source_key(self._module),
            "interpreter": self.interpreter,
            "env": sorted(self.env),
            "version": self.version,
        }

    @property
    def label(self) -> str:
        return f"python:{self.target}"

    @property
    def _module(self) -> str:
        return self.target.rpartition(":")[0]

    def problems(self) -> list[str]:
        problems = super().problems()
        module, _, attribute = self.target.rpartition(":")
        if not module or not attribute:
            problems.append(f"{self.target!r} is no agent (fix: write python:module:attr)")
        elif module.endswith(".py") and module_file(module) is None:
            problems.append(f"there is no file {module!r}")
        if self.in_process and self.interpreter:
            problems.append("in_process and interpreter are mutually exclusive")
        return problems

    def begin(self, workspace: Workspace) -> dict[str, Json]:
        return {"kind": "python", "target": self._absolute}

    @property
    def _absolute(self) -> str:
        module, _, attribute = self.target.rpartition(":")
        return f"{os.path.abspath(module) if module.endswith('.py') else module}:{attribute}"

    async def open(self, workspace: Workspace) -> Session:
        if not self.in_process:
            return await super().open(workspace)
        session = InProcess(workspace=workspace, timeout=self.timeout, env=resolved(self.env))
        session.caller = self._caller(session)
        session.lock = self._turn
        return session

    async def check(self) -> None:
        if not self.in_process:
            return await super().check()
        self._loaded()
        return None

    def _loaded(self) -> object:
        with importing_from(os.getcwd()):
            try:
                return load(self._absolute)
            except NotThere as error:
                raise ModelError(f"{self.label}: {error}") from None

    def _caller(self, session: "InProcess") -> Caller:
        arguments = {
            "case": session.workspace.case.id,
            "folder": str(session.workspace.folder),
            "session": session.name,
        }
        return Caller(self._loaded(), arguments)


@dataclass
class InProcess(TimedSession):
    """A session with code in this very process: nothing but time limits it."""

    caller: Caller | None = None
    lock: asyncio.Lock | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    _worker: "FunctionWorker | None" = None

    async def answered(self, message: str) -> Round:
        """Call the agent in the session's own thread, so that its code may block."""
        assert self.lock is not None
        restore(self.workspace.folder)
        fields = self.request_fields(message)
        env = {**self.env, **self.workspace.env}
        if not env:
            return round_of(message, await self._called(fields))
        # The environment belongs to the whole process, so one turn at a time may change it.
        async with self.lock:
            with _changed(env):
                return round_of(message, await self._called(fields))

    async def drop(self) -> None:
        """Leave a thread that is stuck to itself; the next turn has a new one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.jobs.put(None)
        if self.caller is not None:
            self.caller = Caller(self.caller.target, self.caller.settings)

    async def close(self) -> None:
        if self._worker is not None and self.caller is not None:
            with suppress(Exception):
                async with asyncio.timeout(self.timeout):
                    await self._worker.do(self.caller.close)
        await self.drop()

    async def _called(self, fields: dict[str, Json]) -> Json:
        assert self.caller is not None
        if self._worker is None:
            self._worker = FunctionWorker()
        message = str(fields.pop("message"))
        return await self._worker.do(partial(self.caller.send, message, fields))


class FunctionWorker:
    """A thread that runs calls one after the other, and that nobody waits for in the end."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[tuple[Callable[[], Json], Future[Json]] | None] = SimpleQueue()
        Thread(target=self._live, daemon=True).start()

    async def do(self, job: Callable[[], Json]) -> Json:
        """Return what a job makes, or raise Broken."""
        future: Future[Json] = Future()
        self.jobs.put((job, future))
        return await asyncio.wrap_future(future)

    def _live(self) -> None:
        while (item := self.jobs.get()) is not None:
            job, future = item
            try:
                result = job()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - an agent may raise anything
                with suppress(InvalidStateError):
                    future.set_exception(Broken(broke(error), traceback=own_traceback(error)))
            else:
                with suppress(InvalidStateError):
                    future.set_result(result)


@contextmanager
def _changed(env: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
