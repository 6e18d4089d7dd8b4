"""Control groups: limits that bind whoever the program runs as, where groups may be made."""

import os
import re
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path

from proctor.core.program import Ran, Stopped

ROOT = Path("/sys/fs/cgroup")
PATIENCE = 5.0
"""Seconds that the last processes of a group have to be gone."""
_numbers = count()
_LIMITS = (
    ("pids.max", "processes"), ("memory.max", "memory"), ("memory.swap.max", "swap"),
    ("memory.limit_in_bytes", "memory"), ("memory.memsw.limit_in_bytes", "memory"),
)  # fmt: skip
_MEMORY_REPORTS = ("memory.events", "memory.oom_control")


@dataclass(frozen=True)
class Group:
    """Hold one control group of our own; in the first layout it is a folder per controller."""

    folders: tuple[Path, ...]

    def join(self) -> None:
        """Put the calling process into the group; called between fork and exec."""
        for folder in self.folders:
            fd = os.open(folder / "cgroup.procs", os.O_WRONLY)
            os.write(fd, b"0")
            os.close(fd)

    def explain(self, ran: Ran) -> Ran:
        """Name the limit that the kernel enforced, where the supervisor could not see it."""
        if ran.finished or ran.stopped not in (None, Stopped.TIME):
            return ran
        if self._count("oom_kill", _MEMORY_REPORTS):
            return replace(ran, code=None, stopped=Stopped.MEMORY)
        if self._count("max", ("pids.events",)):
            return replace(ran, code=None, stopped=Stopped.PROCESSES)
        return ran

    def remove(self) -> None:
        """Kill what is left in the group, and remove it."""
        end = time.monotonic() + PATIENCE
        for folder in self.folders:
            while not _removed(folder) and time.monotonic() < end:
                _kill_members(folder)
                time.sleep(0.002)

    def _count(self, key: str, names: Iterable[str]) -> int:
        for folder in self.folders:
            for name in names:
                with suppress(OSError):
                    found = re.search(rf"^{key} (\d+)$", (folder / name).read_text(), re.MULTILINE)
                    if found:
                        return int(found[1])
        return 0


def make_group(processes: int, memory: int | None = None) -> Group | None:
    """Make a group with limits on processes and memory; none where this machine does not let us."""
    values = {"processes": str(processes), "swap": "0"}
    if memory is not None:
        values["memory"] = str(memory)
    made: list[Path] = []
    name = f"proctor-{os.getpid()}-{next(_numbers)}"
    for base in _bases():
        folder = base / name
        try:
            folder.mkdir()
            made.append(folder)
            _set_limits(folder, values)
        except OSError:
            Group(tuple(made)).remove()
            return None
    return Group(tuple(made)) if made else None


def _set_limits(folder: Path, values: dict[str, str]) -> None:
    for file, kind in _LIMITS:
        # Swap accounting is off on many machines; there the file is missing or cannot be written.
        optional = "sw" in file
        if kind not in values or (kind == "swap" and "memory" not in values):
            continue
        if not (folder / file).exists():
            continue
        try:
            (folder / file).write_text(values[kind])
        except OSError:
            if not optional:
                raise


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _kill_members(folder: Path) -> None:
    with suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


@cache
def _bases() -> tuple[Path, ...]:
    """Find where groups can be made: the first layout's folders, or one of the second."""
    first = [base for base in (ROOT / "pids", ROOT / "memory") if _usable(base)]
    second = _unified()
    found = first or ([second] if second is not None and _usable(second) else [])
    for base in found:
        _sweep(base)
    return tuple(found)


def _usable(base: Path) -> bool:
    if not os.access(base, os.W_OK):
        return False
    probe = base / f"proctor-probe-{os.getpid()}"
    try:
        probe.mkdir()
        usable = any((probe / file).exists() for file, _ in _LIMITS)
        probe.rmdir()
    except OSError:
        return False
    return usable


def _sweep(base: Path) -> None:
    """Remove the groups of graders that were killed."""
    for folder in base.glob("proctor-*-*"):
        owner = folder.name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists():
            _removed(folder)


def _unified() -> Path | None:
    """Return our own group's parent in the unified layout, whose children may have controllers."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    own = next((line[3:] for line in lines if line.startswith("0::")), None)
    if own is None or not (ROOT / "cgroup.controllers").exists():
        return None
    folder = ROOT / own.lstrip("/")
    return folder if folder == ROOT else folder.parent
