"""Control groups: limits that bind whoever the program runs as, where groups may be made."""

import math
import os
import signal
import time
from collections.abc import Callable, Iterable
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
_TURNS = count()
_LIMITS = (
    ("pids.max", "processes"), ("memory.max", "memory"), ("memory.swap.max", "swap"),
    ("memory.limit_in_bytes", "memory"), ("memory.memsw.limit_in_bytes", "memory"),
    # In the first layout what TCP holds is counted apart, and only under a limit.
    ("memory.kmem.tcp.limit_in_bytes", "memory"),
)  # fmt: skip
_OPTIONAL = ("memory.swap.max", "memory.memsw.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes")
"""Swap accounting is off on many machines; there the file is missing or cannot be written."""
_QUOTAS = ("cpu.max", "cpu.cfs_quota_us")
PERIOD = 100_000
"""Microseconds over which the processor time of a group is counted."""
_MEMORY_REPORTS = (("memory.oom_control", b"oom_kill "), ("memory.events", b"oom_kill "))
_TASK_REPORTS = (("pids.events", b"max "),)


@dataclass(frozen=True)
class ControlGroup:
    """One control group of our own; in the first layout it is a folder per controller."""

    folders: tuple[Path, ...]

    def join(self) -> None:
        """Put the calling process into the group; called between fork and exec."""
        for folder in self.folders:
            fd = os.open(folder / "cgroup.procs", os.O_WRONLY)
            os.write(fd, b"0")
            os.close(fd)

    def doors(self) -> list[int]:
        """Open what a process writes to so as to join; whoever has these files open may."""
        return [os.open(folder / "cgroup.procs", os.O_WRONLY) for folder in self.folders]

    def limit(self, processes: int, memory: int | None) -> None:
        """Set the limits anew, for the next program."""
        for folder in self.folders:
            _set_limits(folder, _values(processes, memory))

    def events(self) -> tuple[int, int]:
        """Return how often the kernel has killed for memory, and refused a process, so far."""
        return self._count(_MEMORY_REPORTS), self._count(_TASK_REPORTS)

    def explain(
        self, ran: Ran, before: tuple[int, int] = (0, 0), after: tuple[int, int] | None = None
    ) -> Ran:
        """Name the limit that the kernel enforced, where the supervisor could not see it."""
        if ran.finished or ran.stopped not in (None, Stopped.TIME):
            return ran
        killed, refused = after or self.events()
        if killed > before[0]:
            return replace(ran, code=None, stopped=Stopped.MEMORY)
        if refused > before[1]:
            return replace(ran, code=None, stopped=Stopped.PROCESSES)
        return ran

    def remove(self) -> None:
        """Kill what is left in the group, and remove it."""
        end = time.monotonic() + PATIENCE
        for folder in self.folders:
            while not _removed(folder) and time.monotonic() < end:
                _kill_members(folder)
                time.sleep(0.002)

    def _count(self, reports: Iterable[tuple[str, bytes]]) -> int:
        for folder in self.folders:
            for name, key in reports:
                # In the first layout a folder has the files of its own controller alone.
                if len(self.folders) > 1 and not name.startswith(folder.parent.name):
                    continue
                try:
                    fd = os.open(f"{folder}/{name}", os.O_RDONLY)
                except OSError:
                    continue
                rows = os.read(fd, 4096).split(b"\n")
                os.close(fd)
                return next((int(row.split()[1]) for row in rows if row.startswith(key)), 0)
        return 0


def lacking() -> str:
    """Say why no group limits programs here, or that only some limits are kept by one."""
    if os.geteuid() != 0:
        return "only the superuser makes control groups here"
    if not _bases():
        return "no control group can be made here"
    limited = {kind for base in _bases() for file, kind in _LIMITS if _has(base, file)}
    missing = [kind for kind in ("memory", "processes") if kind not in limited]
    return f"control groups do not limit {' and '.join(missing)} here" if missing else ""


def _has(base: Path, file: str) -> bool:
    probe = base / f"proctor-probe-{os.getpid()}"
    try:
        probe.mkdir()
        present = (probe / file).exists()
        probe.rmdir()
    except OSError:
        return False
    return present


def make_group(
    processes: int, memory: int | None = None, cpus: float | None = None
) -> ControlGroup | None:
    """Make a group with limits on processes and memory; none where this machine does not let us.

    Processor time is limited as well where that is wanted and can be.
    """
    values = _values(processes, memory)
    folders: list[Path] = []
    name = f"proctor-{os.getpid()}-{next(_numbers)}"
    if cpus is not None and (folder := _limited_processors(name, cpus)) is not None:
        folders.append(folder)
    for base in _bases():
        if base / name in folders:
            _set_limits(base / name, values)
            continue
        folder = base / name
        try:
            folder.mkdir()
            folders.append(folder)
            _set_limits(folder, values)
        except OSError:
            ControlGroup(tuple(folders)).remove()
            return None
    return ControlGroup(tuple(folders)) if folders else None


def limits_processors() -> bool:
    """Tell whether a group can limit processor time here."""
    return os.geteuid() == 0 and _processors() is not None


@cache
def _processors() -> Path | None:
    """Return where groups can be made that limit processor time; none where nowhere."""
    for base in (ROOT / "cpu", ROOT / "cpu,cpuacct", *_bases()):
        if os.access(base, os.W_OK) and any(_has(base, file) for file in _QUOTAS):
            _sweep(base)
            return base
    return None


def _limited_processors(name: str, cpus: float) -> Path | None:
    base = _processors()
    if base is None:
        return None
    folder = base / name
    quota = max(1000, round(cpus * PERIOD))
    try:
        folder.mkdir()
        if (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text(f"{quota} {PERIOD}")
        else:
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (folder / "cpu.cfs_quota_us").write_text(str(quota))
    except OSError:
        _removed(folder)
        return None
    return folder


def on_processors(cpus: float, prepare: Callable[[], None]) -> Callable[[], None]:
    """Return what a child does before it begins: it takes some of our processors, and no others.

    A task sees so many; that it cannot use more of their time is up to the control group. Tasks
    that run at the same time get different ones in turn.
    """
    ours = sorted(os.sched_getaffinity(0))
    count = min(len(ours), max(1, math.ceil(cpus)))
    first = next(_TURNS) * count % len(ours)
    own = {ours[(first + number) % len(ours)] for number in range(count)}

    def begin() -> None:
        prepare()
        with suppress(OSError):
            os.sched_setaffinity(0, own)

    return begin


def _values(processes: int, memory: int | None) -> dict[str, str]:
    values = {"processes": str(processes)}
    return values if memory is None else {**values, "memory": str(memory), "swap": "0"}


def _set_limits(folder: Path, values: dict[str, str]) -> None:
    present = [(file, values[kind]) for file, kind in _LIMITS if kind in values]
    present = [(file, value) for file, value in present if (folder / file).exists()]
    # The limit on memory cannot pass the one on memory and swap together: when both grow, the last
    # must be set first, and when both shrink, the other way round.
    for file, value in reversed(present):
        with suppress(OSError):
            (folder / file).write_text(value)
    for file, value in present:
        try:
            (folder / file).write_text(value)
        except OSError:
            if file not in _OPTIONAL:
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
    bases = first or ([second] if second is not None and _usable(second) else [])
    for base in bases:
        _sweep(base)
    return tuple(bases)


def _usable(base: Path) -> bool:
    if not os.access(base, os.W_OK):
        return False
    return any(_has(base, file) for file, _ in _LIMITS)


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
