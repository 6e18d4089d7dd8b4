"""Folders of npm packages that JavaScript programs may see: real ones, that somebody installed."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from proctor.io import json_bytes
from proctor.io.child_processes import find_program, probe

MOST_ENTRIES = 300_000
"""How many files and folders a working directory's own packages may have to be looked through."""
MOST_BYTES = 1024 * 1024
NAME = "node_modules"
_SHARED = ("/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs")
_VERSION = re.compile(r"\d[\w.+-]{0,60}")


def npm_folders(node: str, *, path: str, node_path: str, cwd: str) -> list[str]:
    """Return the real folders that may hold npm packages, the nearest first.

    The working directory may have come with a suite. Its own packages are shown only where they
    are real files in it: a link would show what it leads to.
    """
    folders = [entry for entry in node_path.split(os.pathsep) if os.path.isabs(entry)]
    if not why_left_out(cwd):
        folders.append(f"{cwd}/{NAME}")
    folders += _beside_compiler(path)
    folders += [str(Path(os.path.realpath(node)).parent.parent / "lib" / NAME), *_SHARED]
    real_folders = _real(folders)
    if not any(has_typescript(folder) for folder in real_folders):
        real_folders = _real([*real_folders, *_global(path)])
    return real_folders


def left_out_words(cwd: str) -> str:
    """Say, in brackets, that a working directory has packages which are not shown to programs."""
    if not os.path.lexists(f"{cwd}/{NAME}") or not (why := why_left_out(cwd)):
        return ""
    return f" ({NAME} of the working directory is not used: {why})"


def why_left_out(cwd: str) -> str:
    """Say why the packages of a working directory are not shown to programs; empty if they are."""
    folder = f"{cwd}/{NAME}"
    if os.path.islink(folder) or not os.path.isdir(folder):
        return "it is a link, or no folder"
    try:
        for number, link in enumerate(_links(folder)):
            if number > MOST_ENTRIES:
                return f"it has more than {MOST_ENTRIES:,} entries"
            if link and not _within(os.path.realpath(link), os.path.realpath(folder)):
                return f"{os.path.relpath(link, cwd)} is a link that leads out of it"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return ""


def has_typescript(folder: str) -> bool:
    """Tell whether a folder holds the compiler of TypeScript."""
    return os.path.isfile(f"{folder}/typescript/package.json")


def package_version(package: str) -> str:
    """Return the version that a package names; empty where it names none that looks like one."""
    try:
        with open(f"{package}/package.json", "rb") as file:
            manifest = json_bytes.loads(file.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    version = manifest.get("version") if isinstance(manifest, dict) else None
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else ""


def _beside_compiler(path: str) -> list[str]:
    """Return the folder that a compiler of TypeScript on the path was installed in."""
    if not (compiler := find_program("tsc", path=path)):
        return []
    parents = Path(os.path.realpath(compiler)).parents
    return [str(parents[2])] if len(parents) > 2 and parents[2].name == NAME else []


def _global(path: str) -> list[str]:
    """Return where npm installs for everybody."""
    if not (npm := find_program("npm", path=path)):
        return []
    root = probe([npm, "root", "-g"]).stdout.strip()
    return [root] if os.path.isabs(root) and os.path.basename(root) == NAME else []


def _real(folders: list[str]) -> list[str]:
    real = (os.path.realpath(folder) for folder in folders if os.path.isdir(folder))
    return list(dict.fromkeys(real))


def _links(folder: str) -> Iterator[str]:
    """Yield something for every entry below a folder: its path if it is a link, else nothing."""
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                yield entry.path if entry.is_symlink() else ""


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
