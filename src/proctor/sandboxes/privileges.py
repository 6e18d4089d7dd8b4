"""How the superuser becomes nobody before anything of a stranger's is started.

A program that runs as the host's superuser, even without a single capability, may write to
/proc/sys, because those files ask for the user's number and nothing else.
"""

import ctypes
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from proctor.io.child_processes import probe

NOBODY = 65534
_NEW_MOUNTS, _PRIVATE, _BIND = 0x20000, 0x40000 | 0x4000, 0x1000 | 0x4000
Covers = dict[str, list[str]]
"""Folders that are closed to others, and what must be reachable below each."""


def covers(paths: Iterable[str]) -> Covers | None:
    """Return which folders hide these paths from others; none where others could not read them."""
    covered: Covers = {}
    for path in paths:
        real = os.path.realpath(path)
        if not _readable(real):
            return None
        closed = _closed(real)
        if closed is None:
            continue
        if real != os.path.abspath(path):
            return None
        covered.setdefault(closed, []).append(real)
    return covered


def become_nobody(hidden: Covers) -> Callable[[], None]:
    """Return what a child of the superuser does before it starts anything."""
    libc = ctypes.CDLL(None, use_errno=True)
    unshare, mount = libc.unshare, libc.mount

    def check(status: int) -> None:
        if status != 0:
            raise OSError(ctypes.get_errno(), "cannot make a view for nobody")

    def uncover() -> None:
        check(unshare(_NEW_MOUNTS))
        check(mount(b"none", b"/", None, _PRIVATE, None))
        for folder, paths in hidden.items():
            opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in sorted(paths)}
            check(mount(b"none", folder.encode(), b"tmpfs", 0, b"mode=0755,size=64k"))
            for path, fd in opened.items():
                _make_place(path, is_folder=stat.S_ISDIR(os.fstat(fd).st_mode))
                check(mount(b"/proc/self/fd/%d" % fd, path.encode(), None, _BIND, None))
                os.close(fd)

    def drop() -> None:
        os.umask(0o022)
        if hidden:
            uncover()
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)

    return drop


@cache
def can_drop() -> bool:
    """Tell whether the superuser may become nobody here, with a view of its own."""
    argv = ["/bin/sh", "-c", "test -r /proc"]
    drop = become_nobody({"/root": []} if os.path.isdir("/root") else {})
    return probe(argv, seconds=20, prepare=drop).code == 0


def hiding(paths: Sequence[str]) -> Covers | None:
    """Return what must be uncovered for nobody to see these paths; none to stay who we are."""
    if os.geteuid() != 0 or not can_drop():
        return None
    return covers(paths)


def _make_place(path: str, *, is_folder: bool) -> None:
    if os.path.lexists(path):
        return
    if is_folder:
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o755))


@cache
def _closed(path: str) -> str | None:
    """Return the outermost folder above a path that others may not enter."""
    parts = path.split("/")[1:-1]
    for depth in range(len(parts)):
        folder = "/" + "/".join(parts[: depth + 1])
        if os.stat(folder).st_mode & 0o001 == 0:
            return folder
    return None


@cache
def _readable(path: str) -> bool:
    """Tell whether others may read a file, or a folder with what lies right in it."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISDIR(mode):
            return bool(mode & 0o004)
        if mode & 0o005 != 0o005:
            return False
        with os.scandir(path) as entries:
            modes = [entry.stat().st_mode for entry in entries if not entry.is_symlink()]
    except OSError:
        return False
    return all(mode & (0o005 if stat.S_ISDIR(mode) else 0o004) for mode in modes)
