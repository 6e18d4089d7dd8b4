"""Coding agents inside the environment of a task: their program is mounted there, read-only.

A program from npm comes with its whole folder, and a script of Node with this machine's Node, its
loader and its libraries, so that an image need have none of them.
"""

import os
import re
import shlex
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from proctor.agents.coding_turn import AgentTurn, events_of
from proctor.agents.in_environment import check_place, doors_in
from proctor.agents.process import Broken, NoAnswer, exit_text, last_words, with_words
from proctor.agents.sessions import TimedSession
from proctor.agents.steps import posts_of, round_of
from proctor.contracts.environment import Environment, EnvironmentCommand
from proctor.core.cause import Cause
from proctor.core.program import Ran
from proctor.core.rounds import Round
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io.child_processes import find_program, probe

PLACE = "/proctor/agent"
"""Where an agent's program lies inside; what is there is no change of the environment."""
HOME = "/proctor/home"
"""Where an agent keeps what is its own, as far as its program lets itself be told."""
_MODULES = "node_modules"
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib")
_LIBRARY = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x")
_ELF, _INTERPRETER = b"\x7fELF", 3
_LOOK = r"""
program=$1 loader=$2
shift 2
printf '%s\n' "$HOME"
for name in "$@"; do
  [ -x "$name" ] || command -v "$name" >/dev/null 2>&1 || printf '%s\n' "$name"
done
[ -n "$loader" ] && [ -x "$loader" ] || exit 0
"$loader" --list "$program" 2>&1 | while read -r line; do
  case $line in
    *"loading shared libraries: "*) line=${line#*libraries: }; printf '%s\n' "${line%%:*}" ;;
    *"version \`"*"' not found"*) line=${line#*\`}; printf '%s\n' "${line%%\'*}" ;;
  esac
done
"""
"""Tells the home of whoever runs it, and then what is missing: programs, libraries, versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledProgram:
    """A program of this machine, as it is run inside of an environment."""

    argv: tuple[str, ...]
    mounts: Mapping[str, str] = field(default_factory=dict)
    """What must lie inside: the path there, and the one on this machine."""
    requires: tuple[str, ...] = ()
    """What the environment itself must have for it to run."""
    loader: str = ""
    """What loads it inside, together with the environment's own libraries; empty for a script."""


@cache
def installed(program: str, *, from_system: bool = False) -> InstalledProgram:
    """Return how a program is run inside, or raise a ModelError.

    With ``from_system``, a program of this machine's system stands for the one of that name inside.
    """
    real = Path(os.path.realpath(program))
    parts = real.parts
    if _MODULES in parts:
        top = parts.index(_MODULES) + 1
        where = f"{PLACE}/{_MODULES}/{'/'.join(parts[top:])}"
        mounts = {f"{PLACE}/{_MODULES}": str(Path(*parts[:top]))}
    elif from_system and program.startswith(_SYSTEM):
        name = os.path.basename(program)
        return InstalledProgram(argv=(name,), requires=(name,))
    else:
        where = f"{PLACE}/program/{os.path.basename(program)}"
        mounts = {where: str(real)}
    try:
        head = _head(real)
    except OSError as error:
        raise ModelError(f"{program} cannot be read: {error.strerror}") from None
    if head.startswith(b"#!") and b"node" in head.split(b"\n")[0]:
        node = _portable_node()
        return InstalledProgram(argv=(*node.argv, where), mounts={**mounts, **node.mounts})
    requires = _interpreter(head)
    loader = "" if head.startswith(b"#!") else next(iter(requires), "")
    return InstalledProgram(argv=(where,), mounts=mounts, requires=requires, loader=loader)


@cache
def _portable_node() -> InstalledProgram:
    """Return this machine's Node with its own loader and libraries, for any image."""
    node = os.path.realpath(find_program("node") or "")
    loader = _interpreter(_head(Path(node))) if os.path.isfile(node) else ()
    if not loader:
        raise ModelError("there is no node on this machine (fix: install Node 20 or newer)")
    listed = probe([loader[0], "--list", node])
    if listed.code != 0:
        raise ModelError(f"the libraries of {node} cannot be listed: {listed.stderr.strip()}")
    libraries = f"{PLACE}/lib"
    mounts = {f"{PLACE}/node": node, f"{libraries}/loader": os.path.realpath(loader[0])}
    for line in listed.stdout.splitlines():
        if match := _LIBRARY.match(line):
            name, path = match[1] or os.path.basename(match[2]), match[2]
            mounts[f"{libraries}/{os.path.basename(name)}"] = os.path.realpath(path)
    argv = (f"{libraries}/loader", "--library-path", libraries, f"{PLACE}/node")
    return InstalledProgram(argv=argv, mounts=mounts)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(65_536)


def _interpreter(head: bytes) -> tuple[str, ...]:
    """Return what runs a program: a script's interpreter, a program's loader; none for others."""
    if head.startswith(b"#!"):
        words = head[2:].split(b"\n")[0].decode("utf-8", "replace").split()
        is_found = words[:1] == ["/usr/bin/env"] and len(words) > 1
        return tuple(words[1:2] if is_found else words[:1])
    if not head.startswith(_ELF) or head[4:6] != b"\x02\x01":
        return ()
    offset, size, count = (
        struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    )  # fmt: skip
    for number in range(count):
        start = offset + number * size
        if start + 40 > len(head):
            break
        kind, _, place, _, _, length = struct.unpack_from("<IIQQQQ", head, start)
        if kind == _INTERPRETER:
            return (head[place : place + length].rstrip(b"\0").decode("utf-8", "replace"),)
    return ()


async def look_around(environment: Environment, label: str, program: InstalledProgram) -> str:
    """Return the home of whoever works inside, or raise a ModelError for what is missing there."""
    needs = (environment.python, *program.requires)
    argv = ("/bin/sh", "-c", _LOOK, "sh", program.argv[-1], program.loader, *needs)
    ran = await environment.run(EnvironmentCommand(argv=argv, wall=60.0))
    check_place(ran)
    home, *missing = ran.stdout.splitlines() or [""]
    if ran.code == 0 and not missing:
        return home or "/root"
    why = f"there is no {', no '.join(missing)} in it" if missing else f"sh fails: {ran.stderr}"
    error = ModelError(
        f"{label} cannot work in this environment: {why} (fix: add it to the image, or"
        " --sandbox bubblewrap)"
    )
    error.cause = Cause.ENVIRONMENT.value
    raise error


async def hand_over(environment: Environment, user: str, places: Sequence[str]) -> None:
    """Make places belong to the user who works inside, where that is not root."""
    if user in ("", "root", "0"):
        return
    listed = " ".join(map(shlex.quote, places))
    script = f"chown -R {shlex.quote(user)} {listed} 2>/dev/null || :"
    argv = ("/bin/sh", "-c", script)
    await environment.run(EnvironmentCommand(argv=argv, wall=60.0, user="root"))


@dataclass
class InsideSession(TimedSession):
    """A coding agent that is started inside for each turn, and told to go on with its session.

    One that passes a limit has done what it has done: that is what the tests look at.
    """

    command: Callable[[str, str], tuple[Sequence[str], bytes]] | None = None
    """Returns the words of a turn and its input, of the program's own session and the message."""
    read: Callable[[Sequence[Mapping[str, Json]]], AgentTurn] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    proxy: str = ""
    needs: Sequence[str] = ()
    output: int = 1024 * 1024
    wall: float = 600.0
    _session_id: str = ""

    async def answered(self, message: str) -> Round:
        environment = self.workspace.environment
        assert environment is not None
        assert self.command is not None
        assert self.read is not None
        argv, stdin = self.command(self._session_id, message)
        ran = await environment.run(
            EnvironmentCommand(
                argv=tuple(argv),
                wall=self.wall,
                env=self.env,
                stdin=stdin,
                output=self.output,
                needs=tuple(self.needs),
                doors=doors_in({"proxy": self.proxy}),
            )
        )
        check_place(ran)
        told = self.read(events_of(ran.stdout.encode()))
        self._session_id = told.session or self._session_id
        return _round(message, ran, told)


def _round(message: str, ran: Ran, told: AgentTurn) -> Round:
    if ran.stopped is not None:
        ended = f"(it was ended: it passed the limit on {ran.stopped})"
        return Round.of(message, ended, posts_of(told.steps))
    if not told.reply and not told.error:
        if ran.code:
            err = ran.stderr.encode()
            raise Broken(with_words(exit_text(ran.code), err), traceback=last_words(err))
        raise NoAnswer("it ended without a reply")
    return round_of(message, told.to_json())
