"""Setup of a case before an agent begins: required packages, commands."""

import asyncio
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import Limits, Program, Ran, Step
from proctor.core.suite import Case, Json
from proctor.errors import ModelError
from proctor.io import search_paths
from proctor.io.folder_archive import ARCHIVE, MOST_BYTES, TooMuch, contents, packing, unpack

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

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
    """Check the packages of a case and run its commands, or raise a ModelError."""
    if lacking := missing(_texts(case, "dependencies")):
        names = " ".join(f"'{requirement}'" for requirement, _ in lacking)
        raise ModelError(
            f"the case {case.id!r} needs {', '.join(why for _, why in lacking)}"
            f" (fix: pip install {names})"
        )
    if commands := _texts(case, "pre_command"):
        if sandbox is None:
            raise ModelError(f"the case {case.id!r} has a pre_command, which needs a sandbox")
        await run_commands(case.id, commands, folder, sandbox)


def _texts(case: Case, name: str) -> list[str]:
    value: Json = case.setup.get(name) or []
    return [value] if isinstance(value, str) else [str(item) for item in value]


async def run_commands(
    case_id: str, commands: Sequence[str], folder: Path, sandbox: Sandbox
) -> None:
    """Run a suite's commands in the sandbox on a copy of the folder, and copy the result back."""
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
            steps=(*steps, Step(argv=packing())),
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
    output = " ".join(f"{ran.stdout}\n{ran.stderr}".split())[-SHOWN:]
    ended = f"passed the limit on {ran.stopped}" if ran.stopped else f"ended with {ran.code}"
    return f"{ended}: {output}" if output else ended


def missing(requirements: Sequence[str]) -> list[tuple[str, str]]:
    """Return the packages that are missing or have the wrong version, each with the reason."""
    lacking = []
    for text in requirements:
        requirement = _requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        name = requirement.name
        version = _installed(name)
        if version is None:
            lacking.append((text, f"the package {name}, which is not installed"))
        elif not fits(version, requirement.specifier):
            lacking.append((text, f"{text}, and {name} {version or '?'} is installed"))
    return lacking


def _requirement(text: str) -> "Requirement":
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement:
        raise ModelError(
            f"{text!r} is not a package (fix: write name, name>=1.2, or name==1.2.*)"
        ) from None


def _installed(name: str) -> str | None:
    """Return the version of a package; empty if only its module exists.

    The name comes from a suite, so nothing is imported, and no folder of a suite is searched.
    """
    version = search_paths.installed_version(name)
    if version is not None:
        return version
    return "" if search_paths.find_installed(name.replace("-", "_")) is not None else None


def fits(version: str, bounds: "SpecifierSet") -> bool:
    """Tell whether an installed version, which may be a pre-release, is within bounds."""
    from packaging.version import InvalidVersion, Version

    try:
        return not bounds or bounds.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return all(bound.operator == "===" and bound.version == version for bound in bounds)
