"""Environments by bubblewrap: this machine's programs, with a writable root of their own on top."""

import asyncio
import errno
import io
import os
import shutil
import stat
import tarfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from proctor.contracts.environment import Environment, EnvironmentCommand
from proctor.core.cause import Cause
from proctor.core.dockerfile import IGNORED, filled, instructions, unfollowed
from proctor.core.environment import LOGS, MIB, REWARDS, EnvironmentNeeds, unpacked_file
from proctor.core.fingerprint import digest
from proctor.core.program import Limits, Program, Ran, Step
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.io.child_processes import probe
from proctor.sandboxes import bubblewrap
from proctor.sandboxes.control_groups import make_group, on_processors
from proctor.sandboxes.doors import doors_opened
from proctor.sandboxes.seccomp import filter_code
from proctor.sandboxes.supervisor_job import (
    LIMITS_WATCH,
    SUPERVISOR,
    compiled,
    group_bounds,
    job_of,
    police_of,
    rlimits,
    supervised,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DOOR = Path(__file__).with_name("door.py")
LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "debian_version",
       "bash.bashrc", "profile", "os-release", "nsswitch.conf", "mime.types", "services",
       "protocols", "python3", "python3.11", "perl", "locale.alias")  # fmt: skip
"""What of /etc programs of the system need, and nobody minds being read."""
FOLDERS = ("app", "etc", "home", "logs", "opt", "root", "run", "srv", "tmp", "usr", "var/log",
           "var/tmp", "var/lib", "var/cache", "proc", "dev", "proctor")  # fmt: skip
NOT_OURS = {"proc", "dev", "sys", "proctor", "usr"}
"""Top folders of the root that are mounted over."""
ACCOUNTS = "root:x:0:0:root:/root:/bin/bash\n{user}:x:1000:1000::/home/{user}:/bin/bash\n"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROCESSES, OPEN_FILES = 256, 1024
MOST_CHANGED = 512 * MIB
"""Bytes of an archive of changes, before it is packed."""
MOST_ENTRIES = 100_000
LEAST_ROOM = 16 * MIB
"""Bytes that must be free on this machine's disk before anybody begins to work."""
DELETED = ".proctor-deleted.json"

Stamp = tuple[int, int, int]


@dataclass
class OwnRoot(Environment):
    """A root of folders of its own over this machine's /usr, without network."""

    needs: EnvironmentNeeds
    built: dict[str, bytes] = field(default_factory=dict)
    """Archives of what Dockerfiles made, by what they were made of; shared by many."""
    key: str = ""
    _home: Path = field(default_factory=Path)
    _before: dict[str, Stamp] = field(default_factory=dict)
    _env: dict[str, str] = field(default_factory=dict)

    @property
    def python(self) -> str:
        return bubblewrap.interpreter()

    @property
    def folder(self) -> Path:
        return self._inside(self.needs.workdir)

    @property
    def _root(self) -> Path:
        return self._home / "root"

    async def start(self) -> None:
        self._home = Path(mkdtemp(prefix="proctor-environment-"))
        self._check_room(LEAST_ROOM)
        await asyncio.to_thread(self._lay)
        if (archive := self.built.get(self.key)) is not None:
            await asyncio.to_thread(self._restore, archive)
            self._env |= _variables(self.needs.dockerfile)
        else:
            self._before = await asyncio.to_thread(self._stamps)
            await self._build()
            if self.key:
                self.built[self.key] = await self.changes()
        self._env |= self.needs.env
        self._before = await asyncio.to_thread(self._stamps)

    def _check_room(self, least: int) -> None:
        """Raise a ModelError where the disk is full: what is missing then is not the agent's."""
        if shutil.disk_usage(self._home).free < least:
            raise ModelError(
                f"{os.strerror(errno.ENOSPC)}: environments lie in {self._home.parent}, where less"
                f" than {least // MIB} MiB are free (fix: make room, or set TMPDIR)"
            )

    def _lay(self) -> None:
        for name in ("root", "usr", "work", "doors"):
            (self._home / name).mkdir()
        for name in FOLDERS:
            (self._root / name).mkdir(parents=True, exist_ok=True)
        for name in LINKS:
            if os.path.islink(f"/{name}"):
                (self._root / name).symlink_to(os.readlink(f"/{name}"))
        for name in ETC:
            source, target = Path("/etc", name), self._root / "etc" / name
            with suppress(OSError, shutil.Error):
                if source.is_dir():
                    shutil.copytree(source, target, symlinks=True)
                elif source.exists():
                    shutil.copy2(source, target, follow_symlinks=False)
        user = self.needs.user if self.needs.user not in ("", "root", "0") else "user"
        etc = self._root / "etc"
        (etc / "passwd").write_text(ACCOUNTS.format(user=user), encoding="utf-8")
        (etc / "group").write_text(f"root:x:0:\n{user}:x:1000:\n", encoding="utf-8")
        (etc / "hosts").write_text("127.0.0.1 localhost\n", encoding="utf-8")
        for folder in (f"/home/{user}", f"{LOGS}/agent", REWARDS, f"{LOGS}/artifacts"):
            self._inside(folder).mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    async def _build(self) -> None:
        """Follow the instructions of a Dockerfile, without its image."""
        if (first := next(unfollowed(self.needs.dockerfile), None)) is not None:
            line, what = first
            raise ModelError(
                f"the environment cannot be built: line {line} of the Dockerfile has {what}"
                " (fix: leave it out; images of other systems are not built here)"
            )
        folder = "/"
        for step in instructions(self.needs.dockerfile):
            text = filled(step.text, self._env) if step.name in ("WORKDIR", "COPY", "ADD") else ""
            if step.name in IGNORED or step.name in ("FROM", "USER", "SHELL"):
                continue
            if step.name in ("ENV", "ARG"):
                self._env |= _assigned(step.text, self._env, has_value=step.name == "ARG")
            elif step.name == "WORKDIR":
                folder = _joined(folder, text.strip("\"'"))
                self._inside(folder).mkdir(parents=True, exist_ok=True)
            elif step.name in ("COPY", "ADD"):
                await asyncio.to_thread(self._copy, text.split(), folder, step.line)
            elif step.name == "RUN":
                await self._run_step(step.text, folder, step.line)

    async def _run_step(self, text: str, folder: str, line: int) -> None:
        argv = ("/bin/sh", "-c", f"cd {json_bytes.dumps(folder).decode()} && {text}")
        ran = await self.run(
            EnvironmentCommand(argv=argv, wall=self.needs.build_timeout, user="root")
        )
        if not ran.finished:
            output = " ".join(f"{ran.stdout} {ran.stderr}".split())[-300:]
            how = f"passed the limit on {ran.stopped}" if ran.stopped else f"ended with {ran.code}"
            raise ModelError(
                f"the environment cannot be built: line {line} of the Dockerfile {how}: {output}"
                f"{ran.not_started} (there is no network here; fix: install what it needs on this"
                " machine, or leave the line out)"
            )

    def _copy(self, words: Sequence[str], folder: str, line: int) -> None:
        words = [word for word in words if not word.startswith("--")]
        *sources, target = words if len(words) > 1 else ("", "")
        place = _joined(folder, target)
        for source in sources:
            wanted = source.removeprefix("./").rstrip("/")
            many = target.endswith("/") or target in (".", "./") or len(sources) > 1
            has_source = False
            for name, entry in self.needs.files.items():
                if wanted in ("", "."):
                    inner = name
                elif name == wanted:
                    inner = PurePosixPath(name).name if many else ""
                elif name.startswith(f"{wanted}/"):
                    inner = name.removeprefix(f"{wanted}/")
                elif PurePosixPath(name).match(wanted) and "*" in wanted:
                    inner = PurePosixPath(name).name
                else:
                    continue
                has_source = True
                self._write(self._inside(f"{place}/{inner}" if inner else place), entry)
            if not has_source:
                raise ModelError(
                    f"the environment cannot be built: line {line} of the Dockerfile copies"
                    f" {source!r}, and environment/ holds no such file"
                )

    @staticmethod
    def _write(place: Path, entry: Json) -> None:
        content, executable = unpacked_file(entry)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or place.exists():
            place.unlink()
        place.write_bytes(content)
        place.chmod(0o755 if executable else 0o644)

    async def run(self, command: EnvironmentCommand) -> Ran:
        limits = Limits(
            wall=command.wall,
            cpu=command.wall * max(2.0, self.needs.cpus) + 1,
            memory=command.memory or self.needs.memory,
            processes=PROCESSES,
            disk=self.needs.disk,
            file_size=self.needs.disk,
            open_files=OPEN_FILES,
            output=command.output,
        )
        env = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": self._home_of(command), **self._env}
        async with self._doors(command.doors) as mounts:
            argv = command.argv
            if command.doors:
                pairs = [part for port in command.doors for part in (str(port), _door(port))]
                argv = (bubblewrap.interpreter(), "-I", bubblewrap.inside(DOOR),
                        *pairs, "--", *argv)  # fmt: skip
            program = Program(
                steps=(Step(argv=argv),), stdin=command.stdin, env={**env, **command.env},
                limits=limits,
            )  # fmt: skip
            return await self._supervised(program, command, mounts)

    async def _supervised(
        self, program: Program, command: EnvironmentCommand, mounts: Sequence[str]
    ) -> Ran:
        limits = program.limits
        _, memory = group_bounds(limits)
        group = None
        if os.geteuid() == 0:
            group = make_group(group_bounds(limits)[0], memory - limits.disk, self.needs.cpus)
        try:
            job = job_of(
                program, self.needs.workdir, rlimits(program, address_space=False, processes=True)
            )
            # The root lies on this machine's disk, which holds more than the task's own files.
            job["police"] = [*police_of(program), None, ["/dev/shm"]]  # nosec B108
            with bubblewrap.Sealed() as sealed:
                argv = [
                    *self._command(command, sealed),
                    *(part for pair in bubblewrap.proc_masks(None)
                      for part in ("--ro-bind", *pair)),
                    *bubblewrap.hidden_supervisor(None),
                    *bubblewrap.mounted(compiled(SUPERVISOR), compiled(LIMITS_WATCH), DOOR),
                    *mounts,
                    *("--as-pid-1", "--chdir", self.needs.workdir, "--"),
                    *(bubblewrap.interpreter(), "-I", "-S"),
                    bubblewrap.inside(compiled(SUPERVISOR)),
                ]  # fmt: skip
                ran = await supervised(
                    argv, job, wall=limits.wall,
                    prepare=on_processors(self.needs.cpus, bubblewrap.preparation(group, None)),
                    pass_fds=sealed.fds,
                )  # fmt: skip
            return group.explain(ran) if group is not None else ran
        finally:
            if group is not None:
                await asyncio.to_thread(group.remove)

    def _command(self, command: EnvironmentCommand, sealed: bubblewrap.Sealed) -> list[str]:
        number = "0" if self._is_root(command) else "1000"
        argv = [
            bubblewrap.find_bwrap() or "bwrap",
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
            *("--unshare-net", "--unshare-cgroup-try", "--hostname", "task"),
            *("--uid", number, "--gid", number, "--die-with-parent", "--new-session"),
            *("--cap-drop", "ALL", "--clearenv", "--bind", str(self._root), "/"),
        ]
        if overlays():
            argv += ["--overlay-src", "/usr", "--overlay"]
            argv += [str(self._home / "usr"), str(self._home / "work"), "/usr"]
        else:
            argv += ["--ro-bind", "/usr", "/usr"]
        if self.needs.workdir.startswith("/usr/"):
            argv += ["--bind", str(self.folder), self.needs.workdir]
        argv += ["--proc", "/proc", "--dev", "/dev"]
        for path in bubblewrap.visible(command.needs):
            argv += ["--ro-bind", path, path]
        for inside, path in self.mounts.items():
            argv += ["--ro-bind", path, inside]
        if (code := filter_code()) is not None:
            argv += ["--seccomp", str(sealed.add(code))]
        return argv

    def _is_root(self, command: EnvironmentCommand) -> bool:
        return (command.user or self.needs.user) in ("", "root", "0")

    def _home_of(self, command: EnvironmentCommand) -> str:
        user = command.user or self.needs.user
        return "/root" if self._is_root(command) else f"/home/{user}"

    @asynccontextmanager
    async def _doors(self, ports: Sequence[int]) -> "AsyncIterator[list[str]]":
        """Open doors to ports of this machine, and return how to mount them."""
        folder = self._home / "doors"
        async with doors_opened(folder, ports) as names:
            pairs = ((str(folder / name), _door(port)) for port, name in names.items())
            yield [part for pair in pairs for part in ("--bind", *pair)]

    async def place(self, files: Mapping[str, Json], where: str) -> None:
        def lay() -> None:
            folder = self._inside(where)
            _remove(folder)
            folder.mkdir(parents=True)
            for name, entry in files.items():
                self._write(folder / name, entry)

        await asyncio.to_thread(lay)

    async def add(self, files: Mapping[str, Json], where: str) -> None:
        def write() -> None:
            for name, entry in files.items():
                self._write(self._inside(f"{where}/{name}"), entry)

        await asyncio.to_thread(write)

    async def read(self, path: str) -> bytes | None:
        place = self._inside(path)
        try:
            number = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                return None
            return file.read(MIB)

    def _inside(self, path: str) -> Path:
        """Return where a path of the inside lies on this machine, without following its links."""
        place = self._root
        for part in PurePosixPath(os.path.normpath("/" + path)).parts[1:]:
            if place != self._root and place.is_symlink():
                raise ModelError(f"{path} leads through a link")
            place /= part
        return place

    async def changes(self) -> bytes:
        self._check_room(MIB)
        return await asyncio.to_thread(self._changes)

    def _changes(self) -> bytes:
        after = self._stamps()
        deleted = [name for name in self._before if name not in after]
        packed = io.BytesIO()
        size = 0
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
            listed = json_bytes.dumps(deleted)
            about = tarfile.TarInfo(DELETED)
            about.size = len(listed)
            archive.addfile(about, io.BytesIO(listed))
            for count, name in enumerate(after):
                if self._before.get(name) == after[name] or not self._real(name):
                    continue
                size += after[name][1]
                if size > MOST_CHANGED or count > MOST_ENTRIES:
                    raise ModelError(
                        f"more than {MOST_CHANGED // MIB} MiB were changed in the environment",
                        cause=Cause.LIMIT.value,
                    )
                with suppress(OSError, tarfile.TarError):
                    archive.add(self._place(name), arcname=name, recursive=False,
                                filter=without_times)  # fmt: skip
        return packed.getvalue()

    def _real(self, name: str) -> bool:
        mode = self._place(name).lstat().st_mode
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode) or stat.S_ISCHR(mode)

    def _place(self, name: str) -> Path:
        return self._home / name

    def _stamps(self) -> dict[str, Stamp]:
        """Return all that lies in the root and over /usr, each with what tells a change."""
        return dict(sorted(_stamps_below(self._home, "root", NOT_OURS))) | dict(
            sorted(_stamps_below(self._home, "usr", set()))
        )

    async def restore(
        self, archive: bytes, only: Sequence[str] = (), without: Collection[str] = ()
    ) -> None:
        await asyncio.to_thread(self._restore, archive, only, without)

    def _restore(
        self, archive: bytes, only: Sequence[str] = (), without: Collection[str] = ()
    ) -> None:
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
                for number, member in enumerate(packed):
                    if number > MOST_ENTRIES:
                        raise ModelError("the environment's archive has too many entries")
                    if member.name not in without:
                        self._put_back(packed, member, only)
        except (tarfile.TarError, OSError, ValueError) as error:
            raise ModelError(f"what was left in the environment cannot be read: {error}") from None

    def _put_back(
        self, packed: tarfile.TarFile, member: tarfile.TarInfo, only: Sequence[str]
    ) -> None:
        if member.name == DELETED:
            listed = packed.extractfile(member)
            names = json_bytes.loads(listed.read()) if listed is not None else []
            for name in names:
                if is_wanted(str(name), only):
                    _remove(self._safe(str(name)))
            return
        if not is_wanted(member.name, only):
            return
        place = self._safe(member.name)
        if member.isdir():
            if place.is_symlink() or place.is_file():
                place.unlink()
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(stat.S_IMODE(member.mode) | 0o700)
            return
        _remove(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        if member.issym():
            place.symlink_to(member.linkname)
        elif member.ischr() and not member.devmajor and not member.devminor:
            os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(0, 0))  # a file of /usr was removed
        elif member.isreg() and (source := packed.extractfile(member)) is not None:
            with place.open("wb") as file:
                shutil.copyfileobj(source, file)
            place.chmod(stat.S_IMODE(member.mode))

    def _safe(self, name: str) -> Path:
        """Return the place of an entry, if no link leads out of the environment."""
        parts = PurePosixPath(name).parts
        if not parts or parts[0] not in ("root", "usr") or ".." in parts:
            raise ValueError(f"an entry is called {name!r}")
        place = self._home
        for part in parts[:-1]:
            place /= part
            if place.is_symlink():
                raise ValueError(f"the entry {name!r} leads through a link")
        return place / parts[-1]

    async def close(self) -> None:
        if self._home != Path():
            await asyncio.to_thread(_remove, self._home)


@dataclass
class TaskBubblewrap(bubblewrap.Bubblewrap):
    """The sandbox of choice, which also has environments for tasks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._built: dict[str, bytes] = {}

    def environment(self, needs: EnvironmentNeeds) -> Environment:
        return OwnRoot(needs=needs, built=self._built, key=digest(needs))


@cache
def overlays() -> bool:
    """Tell whether ordinary users may lay a writable folder over another here."""
    home = Path(mkdtemp(prefix="proctor-overlay-"))
    try:
        for name in ("upper", "work"):
            (home / name).mkdir()
        argv = [
            bubblewrap.find_bwrap() or "bwrap", "--unshare-user", "--overlay-src", "/usr",
            "--overlay", str(home / "upper"), str(home / "work"), "/usr",
            *(part for name in LINKS if os.path.islink(f"/{name}")
              for part in ("--symlink", os.readlink(f"/{name}"), f"/{name}")),
            "--", "/usr/bin/true",
        ]  # fmt: skip
        return probe(argv, seconds=20).code == 0
    finally:
        _remove(home)


def _stamps_below(home: Path, top: str, passed_over: set[str]) -> Iterator[tuple[str, Stamp]]:
    pending = [(home / top, top)]
    while pending:
        folder, name = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if name == top and entry.name in passed_over:
                continue
            own = f"{name}/{entry.name}"
            with suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                is_folder = entry.is_dir(follow_symlinks=False)
                yield own, (
                    about.st_mode, 0 if is_folder else about.st_size,
                    0 if is_folder else about.st_mtime_ns,
                )  # fmt: skip
                if is_folder:
                    pending.append((Path(entry.path), own))


def is_wanted(name: str, only: Sequence[str]) -> bool:
    """Tell whether an entry of an archive lies below one of some paths, where there are any."""
    inside = "/" + name.removeprefix("root/") if name.startswith("root/") else "/" + name
    return not only or any(inside == path or inside.startswith(f"{path}/") for path in only)


def without_times(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Write the same archive for the same files, whenever and by whomever they were written."""
    member.mtime, member.uid, member.gid, member.uname, member.gname = 0, 0, 0, "", ""
    return member


def _remove(place: Path) -> None:
    if place.is_symlink() or place.is_file() or (place.exists() and not place.is_dir()):
        place.unlink()
        return
    for root, folders, _ in os.walk(place):
        for name in folders:
            with suppress(OSError):
                if not os.path.islink(os.path.join(root, name)):
                    os.chmod(os.path.join(root, name), 0o700)
    shutil.rmtree(place, ignore_errors=True)


def _assigned(text: str, variables: dict[str, str], *, has_value: bool) -> dict[str, str]:
    """Read ``NAME=value …``, or the older ``NAME value``."""
    first = text.split(maxsplit=1)
    if "=" not in first[0]:
        return (
            {} if has_value else {first[0]: filled(first[1] if len(first) > 1 else "", variables)}
        )
    import shlex

    pairs = (word.partition("=") for word in shlex.split(text) if "=" in word)
    return {name: filled(value, variables) for name, _, value in pairs}


def _variables(dockerfile: str) -> dict[str, str]:
    variables: dict[str, str] = {}
    for step in instructions(dockerfile):
        if step.name in ("ENV", "ARG"):
            variables |= _assigned(step.text, variables, has_value=step.name == "ARG")
    return variables


def _joined(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


def _door(port: int) -> str:
    return f"/proctor/door-{port}.sock"
