"""Agents under evaluation: own folder and session per attempt, and storage of their files."""

import asyncio
import os
import shutil
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from proctor.contracts.agent import Agent, Session, Workspace
from proctor.contracts.dialogue import Candidate, DialogueContext
from proctor.contracts.environment import Environment
from proctor.contracts.redacted import redact_reply
from proctor.contracts.sandbox import Sandbox
from proctor.core.cause import Cause
from proctor.core.environment import CHANGES, EnvironmentNeeds
from proctor.core.exchange import Reply, Usage
from proctor.core.fingerprint import digest_bytes
from proctor.core.rounds import LAID, Round, RoundState
from proctor.core.suite import Case, Json, Message
from proctor.engine.agents.setup import set_up
from proctor.engine.models.budget import Budget
from proctor.engine.models.proxy import ModelProxy
from proctor.engine.models.proxy_call import ProxyCall
from proctor.errors import AgentError, BudgetError, ModelError, Problem, ProctorError, SuiteError
from proctor.io.redaction import redact, redact_bytes, redact_error

if TYPE_CHECKING:
    from proctor.engine.run.settings import AgentVariant

MOST_FILES = 1000
MOST_BYTES = 32 * 1024 * 1024
"""How many bytes of an agent's files are stored after each turn; the rest are only listed."""


def placed_cases(agent: Agent, cases: Sequence[Case]) -> tuple[Sequence[Case], dict[str, Problem]]:
    """Return cases with their files resolved, and by id what is missing in the others."""
    placed: list[Case] = []
    lacking: dict[str, Problem] = {}
    for case in cases:
        try:
            placed.append(agent.placed(case))
        except SuiteError as error:
            lacking[case.id] = error.problems[0]
    moved = len(placed) < len(cases) or any(
        there is not here for there, here in zip(placed, cases, strict=True)
    )
    return (tuple(placed) if moved else cases), lacking


@dataclass
class AgentCandidate(Candidate):
    """An agent as candidate, in one session for one attempt."""

    agent: Agent
    workspace: Workspace
    keep: Callable[[Mapping[str, bytes]], None]
    """Callback that stores the contents of files by key."""
    calls: Callable[[], Sequence[ProxyCall]] = tuple
    """Callback that returns the model calls through the proxy since the last time."""
    provider_fault: Callable[[], str] = str
    """Callback that says why the agent's last model call failed, if that was the provider's."""
    proxy: ModelProxy | None = None
    on_cost: Callable[[float | None], None] = lambda _: None
    """Callback for the cost that the agent reports, where its calls are not seen."""
    _session: Session | None = None

    async def reply(self, ctx: DialogueContext, messages: Sequence[Message]) -> Reply:
        """Send the user's last message; the agent remembers the earlier ones."""
        first = self._session is None
        text = _opening(messages) if first else messages[-1].content
        started = time.monotonic()
        try:
            if self._session is None:
                self._session = await self.agent.open(self.workspace)
            agent_round = await self._session.send(text)
            self.on_cost(agent_round.usage.cost)
            agent_round = _with_calls(agent_round, self.calls())
        except ProctorError as error:
            redact_error(error)
            if self.agent.in_folder:
                _blame_surroundings(error)
            raise
        fault, cause = "", ""
        if agent_round.state is RoundState.FAILED:
            if fault := self.provider_fault():
                cause = Cause.PROVIDER.value
            elif fault := await self._proxy_lost():
                cause = Cause.ENVIRONMENT.value
        try:
            reply = await self._reply(agent_round, time.monotonic() - started)
        except ModelError as error:
            _blame_surroundings(error)
            raise
        if agent_round.broken or fault:
            why = f"{fault}; " if fault else ""
            failure = AgentError(
                f"{why}the agent failed: {redact(agent_round.error)}",
                traceback=redact(agent_round.traceback),
                reply=reply,
            )
            failure.cause = cause
            raise failure
        return reply

    async def _proxy_lost(self) -> str:
        """Return that the proxy is gone, if it should be there and nobody listens."""
        if self.proxy is None:
            return ""
        try:
            _, writer = await asyncio.open_connection(
                "127.0.0.1", urlsplit(self.proxy.address).port
            )
        except OSError:
            return "the proxy for the agent's calls was lost"
        writer.close()
        return ""

    async def _reply(self, agent_round: Round, seconds: float) -> Reply:
        """Store the files that a round left, and return the round as a reply."""
        files: dict[str, str] = {}
        if self.agent.in_folder:
            contents, files = await asyncio.to_thread(left_in, self.workspace.folder)
            if self.workspace.environment is not None:
                archive = await self.workspace.environment.changes()
                kept = len(archive) <= MOST_BYTES
                files[CHANGES] = digest_bytes(archive) if kept else ""
                contents |= {files[CHANGES]: archive} if kept else {}
            self.keep(contents)
        told = agent_round.to_json() if self.agent.in_folder or _did_more(agent_round) else None
        if told is not None and self._session is not None and self._session.laid:
            told[LAID] = dict(self._session.laid)
        reply = Reply(
            text=agent_round.reply,
            finish="stop" if agent_round.state is RoundState.FINISHED else "failed",
            usage=agent_round.usage,
            seconds=seconds if agent_round.seconds is None else agent_round.seconds,
            round=told,
            files={redact(name): key for name, key in files.items()},
        )
        return redact_reply(reply)

    async def close(self) -> None:
        """End the session."""
        if self._session is not None:
            await self._session.close()


def _blame_surroundings(error: ProctorError) -> None:
    """Note that the environment of an agent is to blame for an error, if nothing is noted."""
    if isinstance(error, ModelError) and not isinstance(error, AgentError | BudgetError):
        error.cause = error.cause or Cause.ENVIRONMENT.value


@dataclass(kw_only=True)
class AgentWorkspaces:
    """Working folders of an agent, one for each attempt, removed afterwards."""

    agent: Agent
    keep: Callable[[Mapping[str, bytes]], None]
    budget: Budget = field(default_factory=Budget)
    proxy: ModelProxy | None = None
    """The proxy for the agent's own calls, while it listens."""
    variant: "AgentVariant | None" = None

    @property
    def identity(self) -> Json:
        """Return what tells the agent apart from others, and its variant from the plain one."""
        if self.variant is None or not self.variant.key:
            return self.agent.identity
        return {"agent": self.agent.identity, "variant": self.variant.key}

    @asynccontextmanager
    async def seated(
        self, case: Case, index: int, sandbox: Sandbox | None
    ) -> AsyncIterator[AgentCandidate]:
        """Set up a folder for a case, yield the candidate, and clean up at the end."""
        if not self.agent.in_folder:
            async with self._candidate(case, index, Path()) as candidate:
                yield candidate
            return
        if (needs := EnvironmentNeeds.of(case)) is not None:
            async with self._in_environment(case, index, sandbox, needs) as candidate:
                yield candidate
            return
        folder = Path(mkdtemp(prefix="proctor-agent-"))
        try:
            try:
                await asyncio.to_thread(lay, case, folder)
                await set_up(case, folder, sandbox)
            except ModelError as error:
                _blame_surroundings(error)
                raise
            async with self._candidate(case, index, folder) as candidate:
                yield candidate
        finally:
            await asyncio.to_thread(_clear, folder)

    @asynccontextmanager
    async def _in_environment(
        self, case: Case, index: int, sandbox: Sandbox | None, needs: EnvironmentNeeds
    ) -> AsyncIterator[AgentCandidate]:
        """Start the environment of a task, and end it with the attempt."""
        if sandbox is None:
            raise ModelError(
                f"the case {case.id!r} brings an environment, which needs a sandbox",
                cause=Cause.ENVIRONMENT.value,
            )
        environment = sandbox.environment(needs)
        if not environment.shares_programs and not self.agent.works_inside:
            raise ModelError(
                f"{self.agent.label} works on this machine, and not inside of a container (fix:"
                " --sandbox bubblewrap, or a command, exec:…, that is in the image)",
                cause=Cause.ENVIRONMENT.value,
            )
        try:
            try:
                environment.mounts = self.agent.mounts()
                await environment.start()
                await asyncio.to_thread(lay, case, environment.folder)
            except ModelError as error:
                _blame_surroundings(error)
                raise
            async with self._candidate(case, index, environment.folder, environment) as candidate:
                yield candidate
        finally:
            await environment.close()

    @asynccontextmanager
    async def _candidate(
        self, case: Case, index: int, folder: Path, environment: Environment | None = None
    ) -> AsyncIterator[AgentCandidate]:
        with self._passing(case, index) as (env, calls, fault):
            candidate = AgentCandidate(
                agent=self.agent,
                workspace=Workspace(
                    case=case, index=index, folder=folder, env=env, environment=environment
                ),
                keep=self.keep,
                calls=calls,
                provider_fault=fault,
                proxy=self.proxy,
                on_cost=self._add_cost,
            )
            try:
                yield candidate
            finally:
                await candidate.close()

    def _add_cost(self, cost: float | None) -> None:
        if self.proxy is None:
            self.budget.seen(cost)

    @contextmanager
    def _passing(
        self, case: Case, index: int
    ) -> Iterator[tuple[Mapping[str, str], Callable[[], Sequence[ProxyCall]], Callable[[], str]]]:
        """Open a session of the proxy, if there is one."""
        self.budget.check()
        if self.proxy is None:
            yield {}, tuple, str
            return
        proxy, session = self.proxy, self.proxy.open(case=case.id, index=index)

        def calls() -> Sequence[ProxyCall]:
            proxy.check(session)
            return proxy.taken(session)

        try:
            yield proxy.env(session), calls, partial(proxy.provider_fault, session)
        finally:
            proxy.end(session)


def lay(case: Case, folder: Path) -> None:
    """Copy the files of a case into a folder, or raise a ModelError."""
    for file in case.files:
        place = folder / file.name
        if not place.resolve().is_relative_to(folder.resolve()):
            raise ModelError(f"the file {file.name!r} would lie outside of the working folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            content = Path(file.path).read_bytes()
        except OSError as error:
            raise ModelError(f"the file {file.path} cannot be read: {error.strerror}") from None
        if digest_bytes(content) != file.digest:
            raise ModelError(
                f"the file {file.path} has changed since the suite was read (fix: start again)"
            )
        place.write_bytes(content)


def left_in(folder: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files of a folder: contents by key, and the key of each name.

    What is too large to store has an empty key. Links and special files are skipped.
    """
    contents: dict[str, bytes] = {}
    names: dict[str, str] = {}
    size = 0
    for path in _regular(folder):
        name = path.relative_to(folder).as_posix()
        if len(names) >= MOST_FILES:
            break
        names[name] = ""
        try:
            if size + path.stat().st_size > MOST_BYTES:
                continue
            content = redact_bytes(path.read_bytes())
        except OSError:
            continue
        size += len(content)
        names[name] = digest_bytes(content)
        contents[names[name]] = content
    return contents, names


def _regular(folder: Path) -> list[Path]:
    files: list[Path] = []
    if folder.is_symlink():  # its target is not the agent's
        return files
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            try:
                if stat.S_ISREG(path.lstat().st_mode):
                    files.append(path)
            except OSError:
                continue
            if len(files) > MOST_FILES:
                return files
    return files


def _with_calls(agent_round: Round, calls: Sequence[ProxyCall]) -> Round:
    """Insert the agent's model calls into its round, between the question and its steps.

    The observed usage counts, not what the agent reports.
    """
    if not calls:
        return agent_round
    posts = (*agent_round.posts[:1], *(call.post for call in calls), *agent_round.posts[1:])
    return replace(agent_round, posts=posts, usage=sum((call.usage for call in calls), Usage()))


def _did_more(agent_round: Round) -> bool:
    """Tell whether an agent did something besides answering a question."""
    return len(agent_round.posts) != 2 or agent_round.state is RoundState.FAILED


def _opening(messages: Sequence[Message]) -> str:
    """Return the messages that a session begins with; most cases have one."""
    return "\n\n".join(message.content for message in messages)


def _clear(folder: Path) -> None:
    """Remove a folder, even if parts of it are unreadable."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    with suppress(OSError):
        folder.chmod(0o700)
    for root, folders, _ in os.walk(folder):
        for inner in (Path(root, name) for name in folders):
            with suppress(OSError):
                if not inner.is_symlink():
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
