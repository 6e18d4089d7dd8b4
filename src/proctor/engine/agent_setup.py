"""What a case wants done before an agent begins: packages looked for, commands run."""

import asyncio
import re
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from proctor import search_paths
from proctor.core.program import Limits, Program, Ran, Sandbox, Step
from proctor.core.suite import Case, Json
from proctor.errors import ModelError
from proctor.packed import ARCHIVE, MOST_BYTES, TooMuch, contents, packing, unpack

_WANTED = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^\]]*\])?\s*(.*?)\s*(;.*)?$")
_BOUND = re.compile(r"\s*(===|==|!=|~=|>=|<=|>|<)\s*([0-9][A-Za-z0-9.+!-]*?)(\.\*)?\s*$")
_RELEASE = re.compile(r"v?(?:\d+!)?(\d+(?:\.\d+)*)(.*)$")
WALL = 120.0
_WITH_PYTHON = """\
PATH="$2:$PATH"
if ! command -v python >/dev/null 2>&1 && command -v python3 >/dev/null 2>&1; then
  mkdir -p .proctor-bin && ln -sf "$(command -v python3)" .proctor-bin/python
  PATH="$PATH:$PWD/.proctor-bin"
fi
export PATH
exec /bin/sh -c "$1"
"""
"""Runs a command where ``python`` is Proctor's own, or else the system's by whichever name.

The link stays behind: only regular files are brought back.
"""
SHOWN = 600


async def set_up(case: Case, folder: Path, sandbox: Sandbox | None) -> None:
    """Look for the packages of a case and run its commands, or raise a ModelError."""
    if lacking := missing(_texts(case, "dependencies")):
        names = " ".join(f"'{wanted}'" for wanted, _ in lacking)
        raise ModelError(
            f"the case {case.id!r} wants {', '.join(why for _, why in lacking)}"
            f" (fix: pip install {names})"
        )
    if commands := _texts(case, "pre_command"):
        if sandbox is None:
            raise ModelError(f"the case {case.id!r} has a pre_command, and there is no sandbox")
        await run_commands(case.id, commands, folder, sandbox)


def _texts(case: Case, name: str) -> list[str]:
    given: Json = case.setup.get(name) or []
    return [given] if isinstance(given, str) else [str(item) for item in given]


async def run_commands(
    case_id: str, commands: Sequence[str], folder: Path, sandbox: Sandbox
) -> None:
    """Run a suite's commands in the sandbox on a copy of the folder, and take the copy back."""
    try:
        files = await asyncio.to_thread(contents, folder)
    except TooMuch as error:
        raise ModelError(f"the files of the case {case_id!r} are {error}") from None
    steps = [
        Step(argv=("/bin/sh", "-c", _WITH_PYTHON, "sh", command, f"{sys.prefix}/bin"))
        for command in commands
    ]
    ran = await sandbox.run(
        Program(
            steps=(*steps, packing()),
            files=files,
            needs=(sys.prefix,),
            limits=Limits(wall=WALL, disk=4 * MOST_BYTES, file_size=2 * MOST_BYTES),
            keep=(ARCHIVE,),
        )
    )
    if ran.not_started:
        raise ModelError(f"the case {case_id!r} cannot begin: {ran.not_started}")
    if ran.step < len(steps):
        raise ModelError(
            f"the case {case_id!r} cannot begin: its command {commands[ran.step]!r} {_how(ran)}"
        )
    try:
        archive = ran.files.get(ARCHIVE, b"")
        await asyncio.to_thread(unpack, archive, folder)
    except (TooMuch, tarfile.TarError, OSError) as error:
        raise ModelError(
            f"the case {case_id!r} cannot begin: what its commands left cannot be read: {error}"
        ) from None


def _how(ran: Ran) -> str:
    said = " ".join(f"{ran.stdout}\n{ran.stderr}".split())[-SHOWN:]
    ended = f"passed the limit on {ran.stopped}" if ran.stopped else f"ended with {ran.code}"
    return f"{ended}: {said}" if said else ended


def missing(wanted: Sequence[str]) -> list[tuple[str, str]]:
    """Return which packages are not there in the version wanted, each with why."""
    found = []
    for text in wanted:
        parsed = _WANTED.match(text)
        if parsed is None:
            raise ModelError(f"{text!r} is no package (fix: write a name, or name>=1.2)")
        name, bounds = parsed[1], parsed[3]
        version = _installed(name)
        if version is None:
            found.append((text, f"the package {name}, which is not installed"))
        elif bounds and not fits(version, bounds):
            found.append((text, f"{text}, and {name} {version or '?'} is installed"))
    return found


def _installed(name: str) -> str | None:
    """Return the version of a package; empty where only its module is there.

    The name is a suite's, so nothing is imported to find out, and no folder of a suite is searched.
    """
    version = search_paths.installed_version(name)
    if version is not None:
        return version
    return "" if search_paths.find_installed(name.replace("-", "_")) is not None else None


def fits(version: str, bounds: str) -> bool:
    """Tell whether a version is within bounds such as ``>=1.2,<2``."""
    for bound in bounds.strip("()").split(","):
        parsed = _BOUND.match(bound)
        if parsed is None:
            raise ModelError(f"{bound!r} is no version (fix: write >=1.2, or ==1.2.*)")
        if not _within(version, parsed[1], parsed[2], starred=bool(parsed[3])):
            return False
    return True


def _within(version: str, sign: str, wanted: str, *, starred: bool) -> bool:
    have, want = order(version), order(wanted)
    length = len(_numbers(wanted))
    same = _numbers(version, length)[:length] == _numbers(wanted)
    if starred or sign == "~=":
        same = same if starred else _numbers(version, length)[: length - 1] == _numbers(wanted)[:-1]
        return {"==": same, "!=": not same, "~=": same and have >= want}.get(sign, False)
    return {
        "===": version == wanted,
        "==": have == want,
        "!=": have != want,
        ">=": have >= want,
        "<=": have <= want,
        ">": have > want,
        "<": have < want,
    }[sign]


def order(version: str) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Return what versions are sorted by: releases come after what was tried before them."""
    found = _RELEASE.match(version.strip().lower())
    if found is None:
        return ((), -5, ())
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    rest = found[2].partition("+")[0]
    stage = 0
    for place, words in enumerate((("dev",), ("a",), ("b",), ("rc", "c"))):
        if any(rest.lstrip("._-").startswith(word) for word in words):
            stage = place - 4
            break
    if rest.lstrip("._-").startswith(("post", "r")) and not stage:
        stage = 1
    return tuple(numbers), stage, tuple(int(part) for part in re.findall(r"\d+", rest))


def _numbers(version: str, length: int = 0) -> list[int]:
    found = _RELEASE.match(version.strip().lower())
    numbers = [int(part) for part in found[1].split(".")] if found else []
    return numbers + [0] * (length - len(numbers))
