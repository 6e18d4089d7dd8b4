"""What a supervisor keeps, watches over and reports; this file runs inside the sandbox."""

from __future__ import annotations

import binascii
import os
import resource
import time

TYPE_CHECKING = False  # the library's own takes milliseconds to import
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence
    from typing import Any
else:
    import _signal as signal

MOST_CAPTURED = 65536
THREADS = 4
MAX_NODES = 100000
SOCKETS = ("udp", "udp6", "tcp", "tcp6")
TABLES = 1024 * 1024
"""Bytes of page tables below which a process's are not counted."""
PLACES = ("/sandbox", "/tmp", "/dev/shm")  # nosec B108  # a place inside the sandbox
SHORT = 0.1
"""What part of its time a program must have waited for a core to have been short of them."""
IDLE = 0.1
"""What part of the time a program uses a core, or waits for one, that does next to nothing."""


class Quietly:
    """Pass over an OSError; the library's own way takes milliseconds to import."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        """Say whether what was raised is to be passed over."""
        return kind is not None and issubclass(kind, OSError)


class CapturedOutput:
    """The beginning and the end of an output, and the size of all of it."""

    def __init__(self) -> None:
        self.head, self.tail, self.size = b"", b"", 0

    def read(self, fd: int) -> int | None:
        """Take in what a pipe has; return how much that was, 0 at its end, None for nothing yet."""
        data = read_some(fd)
        if data:
            self.add(data)
        return None if data is None else len(data)

    def add(self, data: bytes) -> None:
        """Take in more of the output."""
        self.size += len(data)
        room = MOST_CAPTURED // 2 - len(self.head)
        if room > 0:
            self.head, data = self.head + data[:room], data[room:]
        self.tail = (self.tail + data)[-MOST_CAPTURED // 2 :]

    def text(self) -> str:
        """Return the output, cut in the middle where it is long."""
        left = self.size - len(self.head) - len(self.tail)
        middle = b"\n[... %d bytes left out ...]\n" % left if left > 0 else b""
        return (self.head + middle + self.tail).decode("utf-8", "replace")


class Police:
    """Watch over what all processes of this namespace use together."""

    PERIOD = 0.02

    def __init__(
        self,
        memory: float,
        processes: float,
        cpu: float,
        reaper: int | None = None,
        places: Sequence[str | int] = PLACES,
        before: float | None = None,
    ) -> None:
        self.memory, self.processes, self.cpu = memory, processes, cpu
        self.reaper, self.places = reaper, places
        self.next = time.monotonic() + self.PERIOD
        self.page = resource.getpagesize()
        self.tick = os.sysconf("SC_CLK_TCK")
        self.own = {"1", str(os.getpid()), str(reaper)}
        self.before = self.reaped() if before is None else before

    def offence(self) -> str | None:
        """Return the limit that is passed, if it is time to look."""
        now = time.monotonic()
        if now < self.next:
            return None
        self.next = now + self.PERIOD
        pids = self.pids()
        if len(pids) > self.processes:
            return "processes"
        stats = {name: stat for name in pids if (stat := self.stat(name)) is not None}
        if sum(int(stat[17]) for stat in stats.values()) > THREADS * self.processes:
            return "processes"
        if self.reaped() - self.before + sum(map(self.seconds, stats.values())) > self.cpu:
            return "cpu"
        # A page of tables holds 512 others: what a process could have of them is soon known.
        used = sum(int(stat[21]) * self.page + int(stat[20]) // 512 for stat in stats.values())
        waiting = self.waiting(pids)
        if used + waiting > self.memory and self.proportional(stats) + waiting > self.memory:
            return "memory"
        return "disk" if self.full() else None

    def pids(self) -> list[str]:
        """Return the numbers of all processes of the program."""
        return [name for name in os.listdir("/proc") if name.isdigit() and name not in self.own]

    def verdict(self, code: int | None) -> str | None:
        """Return the limit that made a program fail by itself before anyone looked."""
        if code == 0:
            return None
        used = self.reaped() - self.before
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and used > 0.98 * self.cpu):
            return "cpu"
        if code == -signal.SIGKILL and killed_for_memory():
            return "memory"
        return "disk" if code == -signal.SIGXFSZ or self.full() else None

    def reaped(self) -> float:
        """Return the processor time of all that were waited for, by this process or its reaper."""
        if self.reaper is not None:
            stat = self.stat(str(self.reaper))
            return sum(map(int, stat[13:15])) / self.tick if stat is not None else 0.0
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def seconds(self, stat: list[bytes]) -> float:
        """Return the processor time of a process and of those it has waited for."""
        return sum(int(part) for part in stat[11:15]) / self.tick

    def full(self) -> bool:
        """Tell whether no room is left where programs may write, or too many files are there."""
        for place in self.places:
            try:
                status = os.statvfs(place)
            except OSError:
                continue
            if not status.f_bavail or status.f_files - status.f_ffree > MAX_NODES:
                return True
            if status.f_files and not status.f_ffree:
                return True
        return False

    def stat(self, name: str) -> list[bytes] | None:
        """Return the fields of a process after its name."""
        return fields_of(f"/proc/{name}/stat")

    def proportional(self, stats: dict[str, list[bytes]]) -> int:
        """Return the memory in use, pages that processes share counted once.

        A process that has closed itself to others is counted with all that it holds.
        """
        total = 0
        for name, fields in stats.items():
            shown = 0
            with Quietly(), open(f"/proc/{name}/smaps_rollup", "rb") as file:
                rows = (row.split() for row in file)
                shown = next((int(row[1]) for row in rows if row[0] == b"Pss:"), 0)
            total += shown * 1024 or int(fields[21]) * self.page
            if int(fields[20]) // 512 > TABLES:
                total += self.tables(name)
        return total

    def tables(self, name: str) -> int:
        """Return the bytes of a process's page tables."""
        with Quietly(), open(f"/proc/{name}/status", "rb") as file:
            rows = (row.split() for row in file)
            return next((int(row[1]) * 1024 for row in rows if row[0] == b"VmPTE:"), 0)
        return 0

    def in_use(self, pids: Sequence[str]) -> list[str]:
        """Return the kinds of sockets of which the program's network has some.

        To list those of TCP the kernel goes through a table of the whole machine, which takes it
        milliseconds; to count them takes it nothing.
        """
        for pid in pids:
            counted = b""
            for name in ("sockstat", "sockstat6"):
                with Quietly(), open(f"/proc/{pid}/net/{name}", "rb") as file:
                    counted += file.read()
            if counted:
                rows = [row.split() for row in counted.splitlines()]
                some = {row[0] for row in rows if row[1:3] != [b"inuse", b"0"]}
                return [name for name in SOCKETS if name.upper().encode() + b":" in some]
        return list(SOCKETS)

    def waiting(self, pids: Sequence[str]) -> int:
        """Return the bytes that wait in sockets of the program's network."""
        total = 0
        for name in self.in_use(pids):
            # Any process that is not a dead one will do: all have the same network.
            for pid in pids:
                with Quietly(), open(f"/proc/{pid}/net/{name}", "rb") as file:
                    next(file, b"")
                    queues = (row.split(None, 5)[4].split(b":") for row in file)
                    total += sum(int(part, 16) for pair in queues for part in pair)
                    break
        return total


class ProcessorTime:
    """What a program's processes have used of the cores, and how long they waited for one.

    The kernel counts both for each thread, and forgets them with it: so they are looked at now and
    then, and what was used by processes that nobody saw is taken to have waited like the others.
    """

    PERIOD = 0.05
    """Seconds between two looks: a program that only waits keeps a place for two of them."""
    IDLE_PERIOD = 0.25
    """The same, once it only waits."""

    def __init__(
        self,
        pids: Callable[[], Sequence[str]],
        reaped: Callable[[], float] = lambda: 0.0,
        tell: Callable[[bool], None] = lambda idle: None,
    ) -> None:
        self.pids, self.reaped, self.tell = pids, reaped, tell
        self.tick = os.sysconf("SC_CLK_TCK")
        self.begun = self.looked = time.monotonic()
        self.before = reaped()
        self.threads: dict[str, tuple[float, float]] = {}
        self.gone = (0.0, 0.0)
        self.has_threads = False
        self.used = self.active = self.waited_before = 0.0
        self.quiet = 0
        self.quiet_since = self.begun
        self.idle = False

    def next_step(self) -> None:
        """Note that another command of the program begins."""
        self.waited_before = self.waited()

    def watch(self) -> None:
        """Look, if it is time to, and tell whether the program began or ceased to do nothing."""
        now = time.monotonic()
        passed = now - self.looked
        if passed < (self.IDLE_PERIOD if self.idle else self.PERIOD):
            return
        active = self.active
        self.look()
        self.looked = now
        self.quiet = self.quiet + 1 if self.active - active < IDLE * passed else 0
        self.quiet_since = self.quiet_since if self.quiet else now
        idle = self.has_threads and self.quiet > 1
        if idle != self.idle:
            self.idle = idle
            self.tell(idle)

    def look(self) -> None:
        """Read what the kernel has counted so far."""
        threads = {}
        used = self.reaped() - self.before
        for pid in self.pids():
            stat = fields_of(f"/proc/{pid}/stat")
            if stat is not None:
                used += sum(int(part) for part in stat[11:15]) / self.tick
            for name in listed(f"/proc/{pid}/task"):
                counted = fields_of(f"/proc/{pid}/task/{name}/schedstat")
                if counted is not None and len(counted) > 1:
                    threads[name] = (int(counted[0]) / 1e9, int(counted[1]) / 1e9)
        for name, last in self.threads.items():
            if name not in threads or threads[name] < last:
                self.gone = (self.gone[0] + last[0], self.gone[1] + last[1])
        self.has_threads = self.has_threads or bool(threads)
        self.threads = threads
        self.used = max(self.used, used, self.seen(0))
        self.active = max(self.active, self.used + self.seen(1))

    def seen(self, which: int) -> float:
        """Return what threads that were seen have used (0), or waited (1)."""
        return self.gone[which] + sum(both[which] for both in self.threads.values())

    def waited(self) -> float:
        """Return how long all threads have waited for a core."""
        seen = self.seen(0)
        return self.seen(1) * (max(1.0, self.used / seen) if seen else 1.0)

    def was_short(self, wall: float, whole: float) -> bool | None:
        """Tell whether others had the cores for a good part of a step's time, or of the whole.

        None where the kernel does not say. What its own threads took from each other does not
        count: the others had no more than what it left of the machine. Nor was one short that has
        done nothing for longer, in the end, than it ever waited.
        """
        if not self.has_threads:
            return None
        now = time.monotonic()
        waited = min(self.waited(), cores() * (now - self.begun) - self.used)
        if self.idle and now - self.quiet_since >= waited:
            return False
        return waited - self.waited_before >= SHORT * wall or waited >= SHORT * whole


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def of_session(leader: int) -> list[str]:
    """Return the numbers of the processes in a session."""
    own = str(leader).encode()
    pids = [name for name in listed("/proc") if name.isdigit()]
    stats = ((name, fields_of(f"/proc/{name}/stat")) for name in pids)
    return [name for name, stat in stats if stat is not None and stat[3] == own]


def listed(folder: str) -> list[str]:
    """Return what lies in a folder; nothing where it is gone."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def fields_of(path: str) -> list[bytes] | None:
    """Return the fields of a file in /proc, those after a process's name; None if it is gone."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(fd, 4096).rpartition(b") ")[2].split()
    except OSError:
        return None
    finally:
        os.close(fd)


def killed_for_memory() -> bool:
    """Tell whether the kernel has killed for memory in our group, where a container shows that."""
    for name in ("memory.events", "memory/memory.oom_control"):
        with Quietly(), open(f"/sys/fs/cgroup/{name}", "rb") as file:
            if any(row.split()[0] == b"oom_kill" and row.split()[1] != b"0" for row in file):
                return True
    return False


def read_some(fd: int) -> bytes | None:
    """Read what is there; None for nothing yet, empty for the end."""
    try:
        return os.read(fd, 65536)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def feed(fd: int, data: bytes) -> tuple[bytes, int | None]:
    """Write some of the input; return what is left, and the pipe while it is open."""
    try:
        data = data[os.write(fd, data[:65536]) :] if data else data
    except BlockingIOError:
        return data, fd
    except OSError:
        data = b""
    if not data:
        os.close(fd)
        return b"", None
    return data, fd


def b64(data: bytes) -> str:
    """Write bytes as a text that needs no escaping."""
    return binascii.b2a_base64(data, newline=False).decode()


def written(report: dict[str, Any]) -> str:
    """Write the report as JSON, texts in base64; importing json would take longer than all this."""
    words = {True: "true", False: "false", None: "null"}
    code, stopped = report["code"], report["stopped"]
    files = ", ".join(f'"{b64(n.encode())}": "{data}"' for n, data in report["files"].items())
    parts = {
        "code": "null" if code is None else str(code),
        "step": str(report["step"]),
        "finished": words[report["finished"]],
        "seconds": f"{report['seconds']:.6f}",
        "stopped": "null" if stopped is None else f'"{stopped}"',
        "short": words[report["short"]],
        "out": f'"{b64(report["out"].encode(errors="replace"))}"',
        "err": f'"{b64(report["err"].encode(errors="replace"))}"',
        "not_started": f'"{b64(report["not_started"].encode(errors="replace"))}"',
        "files": f"{{{files}}}",
    }
    return "{" + ", ".join(f'"{name}": {text}' for name, text in parts.items()) + "}"


def send(channel: int, data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(channel, data) :]
