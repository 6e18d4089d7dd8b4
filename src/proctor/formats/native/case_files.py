"""Files of a case and what an agent's working place needs, as a native suite names them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from proctor.core.fingerprint import digest_bytes
from proctor.core.suite import CaseFile, Json
from proctor.errors import SuiteError
from proctor.formats.native.spot import Spot, neighbours
from proctor.io.validation import Strict

FOLDER = "files"
LARGEST = 64 * 2**20
MOST = 1000


class FileKeys(Strict):
    """A file of a case: its path, and its name in the working folder."""

    file: str = Field(min_length=1, description="Where it lies.")
    name: str | None = Field(
        default=None, min_length=1, description="Its name in the working folder."
    )


def read_files(spot: Spot, written: Sequence[FileKeys]) -> tuple[CaseFile, ...]:
    """Read the files of a case, those of a folder one by one, noting every problem."""
    files: dict[str, CaseFile] = {}
    for keys, at in zip(written, spot.at("files").items() if written else (), strict=True):
        place = at.at("file") if isinstance(at.value, dict) else at
        path = place.path()
        if path is None:
            continue
        if not path.exists():
            place.error(f"there is no file {keys.file!r}", hint=neighbours(path))
            continue
        name = keys.name or path.resolve().name
        if not _stays(name):
            at.error(f"{name!r} is no name inside of the working folder", key="name")
            continue
        for one, inner in _regular(path, place):
            whole = f"{name}/{inner}" if inner else name
            if whole in files:
                at.error(f"two files have the name {whole!r} in the working folder")
            files[whole] = _file(whole, one, place)
    return tuple(files.values())


def solutions(scripts: Sequence[str]) -> dict[str, Json]:
    """Return what solves a case, as hidden facts keep it: a script for each turn."""
    if not scripts:
        return {}
    from proctor.core.environment import SOLUTIONS

    return {SOLUTIONS: [{"solve.sh": script} for script in scripts]}


def read_setup(spot: Spot, setup: Mapping[str, Any]) -> dict[str, Json]:
    """Check what an agent's place needs; the folder of its project is one from the suite's file."""
    if not setup:
        return {}
    try:
        json.dumps(setup, allow_nan=False)
    except (TypeError, ValueError):
        message = "what an agent needs is written as texts, finite numbers, lists and mappings"
        spot.error(message, key="setup")
        return {}
    settings = dict(setup)
    if isinstance(settings.get("app_dir"), str):
        settings["app_dir"] = str((spot.document.path.parent / settings["app_dir"]).resolve())
    return settings


def file_rows(files: Sequence[CaseFile]) -> list[Json]:
    """Return the files of a case as a native suite names them."""
    rows: list[Json] = []
    for file in files:
        place = _place(file)
        short = PurePosixPath(file.name).name == file.name
        rows.append(place if short else {"file": place, "name": file.name})
    return rows


def copy_files(files: Sequence[CaseFile], folder: Path) -> None:
    """Copy the files of a case to where a native suite looks for them."""
    for file in files:
        target = folder / _place(file)
        try:
            content = Path(file.path).read_bytes()
        except OSError as error:
            words = f"the file {file.path} cannot be read: {error.strerror}"
            raise SuiteError(words) from None
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _place(file: CaseFile) -> str:
    return f"{FOLDER}/{file.digest[:16]}/{PurePosixPath(file.name).name}"


def _stays(name: str) -> bool:
    parts = name.split("/")
    return "\0" not in name and "\\" not in name and not set(parts) & {"", ".", ".."}


def _regular(path: Path, spot: Spot) -> list[tuple[Path, str]]:
    """Return the files of a path with their names below it; links that lead away are left out."""
    if path.is_file():
        return [(path, "")]
    if not path.is_dir():
        spot.error(f"{path.name!r} is a pipe or a device, not a file")
        return []
    top = spot.root.resolve()
    files = [
        (one, one.relative_to(path).as_posix())
        for one in sorted(path.rglob("*"))
        if one.is_file() and one.resolve().is_relative_to(top)
    ]
    if len(files) > MOST:
        spot.error(f"the folder has more than {MOST} files")
        return []
    return files


def _file(name: str, path: Path, spot: Spot) -> CaseFile:
    if path.stat().st_size > LARGEST:
        spot.error(f"the file {path.name!r} is larger than {LARGEST >> 20} MiB")
        return CaseFile(name=name, digest="", path=str(path))
    return CaseFile(name=name, digest=digest_bytes(path.read_bytes()), path=str(path.resolve()))
