"""Environments by docker or podman: a task's image, or the one that its Dockerfile makes."""

import asyncio
import io
import json
import os
import re
import resource
import secrets
import shutil
import tarfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar

from proctor.contracts.environment import Environment, EnvironmentCommand
from proctor.core.cause import Cause
from proctor.core.dockerfile import base_images
from proctor.core.environment import LOGS, MIB, REWARDS, EnvironmentNeeds, unpacked_file
from proctor.core.fingerprint import digest
from proctor.core.program import Ran, Stopped
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io.child_processes import probe, spawn
from proctor.sandboxes.container_engine import (
    USER_PROCESSES,
    at_most,
    engine_environment,
    find_engine,
    image_id,
    mended,
    remove,
)
from proctor.sandboxes.doors import doors_opened
from proctor.sandboxes.own_root import (
    DELETED,
    DOOR,
    MOST_CHANGED,
    MOST_ENTRIES,
    is_wanted,
    without_times,
)

SECONDS = 120.0
"""Time for one call of the engine that is not the task's own."""
GRACE = 10.0
TRIES = 3
CLOSED = "closed pipe"
"""What an engine says that has read an archive to its end while the rest is still being written."""
PROCESSES = 512
OWN = ("proc", "sys", "dev", "proctor", "toolbox", "run", "etc/hosts", "etc/hostname",
       "etc/resolv.conf", "etc/mtab", "run/.containerenv", ".dockerenv")  # fmt: skip
"""What the engine puts there, and no agent."""
WHEELS = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")
"""What pytest consists of: Python alone, which works in any image that has some."""
INSIDE = "/proctor"
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib")
_BUILDING: dict[str, threading.Lock] = {}
"""Attempts at one task begin together, and one of them builds its image."""
KEEP_ALIVE = ("/bin/sh", "-c", "exec cat >/dev/null")
"""It ends with its input, and so with this process, however that ends."""


@dataclass
class ContainerEnvironment(Environment):
    """A container of its own, without network, with a root that can be written to."""

    needs: EnvironmentNeeds
    image: str
    """What is used where the task names no image and has no Dockerfile."""
    name: str = field(default_factory=lambda: f"proctor-{secrets.token_hex(8)}")
    _home: Path = field(default_factory=Path)
    _process: asyncio.subprocess.Process | None = None
    _users: set[str] = field(default_factory=set)

    shares_programs: ClassVar[bool] = False

    @property
    def python(self) -> str:
        return "python3"

    @property
    def folder(self) -> Path:
        return self._home / "folder"

    async def start(self) -> None:
        self._home = Path(mkdtemp(prefix="proctor-environment-"))
        for name in ("doors", "folder"):
            (self._home / name).mkdir()
        (self._home / "doors").chmod(0o755)
        image = await asyncio.to_thread(task_image, self.needs, self.image)
        argv = [*self._command(), image, *KEEP_ALIVE[1:]]
        self._process = await spawn(
            argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE, env=engine_environment(), start_new_session=True,
        )  # fmt: skip
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if self._process.returncode is not None:
                assert self._process.stderr is not None
                output = (await self._process.stderr.read()).decode("utf-8", "replace")
                why = mended(_last_line(output))
                raise ModelError(f"the container cannot be started: {why}")
            state = await self._engine("inspect", "--format", "{{.State.Running}}", self.name)
            if state.code == 0 and state.stdout.strip() == "true":
                break
            await asyncio.sleep(0.05)
        workdir = self.needs.workdir
        await self._inside(["mkdir", "-p", workdir, f"{LOGS}/agent", REWARDS, f"{LOGS}/artifacts"])

    def _command(self) -> list[str]:
        memory = str(self.needs.memory)
        files = at_most(resource.RLIMIT_NOFILE, 4096)
        processes = at_most(resource.RLIMIT_NPROC, USER_PROCESSES)
        argv = [
            *(find_engine() or "podman", "run", "--rm", "--interactive", "--name", self.name),
            *(
                "--network",
                "none",
                "--hostname",
                "task",
                "--user",
                "0:0",
                "--entrypoint",
                "/bin/sh",
            ),
            *("--security-opt", "no-new-privileges", "--memory", memory, "--memory-swap", memory),
            *("--cpus", f"{self._cpus():g}", "--pids-limit", str(PROCESSES), "--workdir", "/"),
            *("--ulimit", f"nofile={files}:{files}", "--ulimit", f"nproc={processes}:{processes}"),
            *("--ulimit", f"fsize={self.needs.disk}:{self.needs.disk}"),
            *("--volume", f"{self._home / 'doors'}:{INSIDE}/doors"),
            *("--volume", f"{DOOR}:{INSIDE}/door.py:ro"),
        ]
        for inside, path in self.mounts.items():
            argv += ["--volume", f"{path}:{inside}:ro"]
        for place in pytest_places():
            argv += ["--volume", f"{place}:{INSIDE}/wheels/{place.name}:ro"]
        for name, value in self.needs.env.items():
            argv += ["--env", f"{name}={value}"]
        return argv

    def _cpus(self) -> float:
        """Return how many processors the task has; engines refuse more than there are."""
        return min(self.needs.cpus, float(os.cpu_count() or 1))

    async def run(self, command: EnvironmentCommand) -> Ran:
        user = command.user or self.needs.user
        user = "0:0" if user in ("", "root", "0") else user
        await self._has_user(user)
        argv = [*command.argv]
        if argv[0].startswith(SYSTEM):  # the image has its own, wherever they lie there
            argv[0] = os.path.basename(argv[0])
        for path in command.needs:
            if not path.startswith(SYSTEM):
                await self._bring(path)
        async with doors_opened(self._home / "doors", command.doors) as names:
            if names:
                pairs = [part for port, name in names.items()
                         for part in (str(port), f"{INSIDE}/doors/{name}")]  # fmt: skip
                argv = ["python3", "-I", f"{INSIDE}/door.py", *pairs, "--", *argv]
            words = ["exec", "--interactive", "--user", user, "--workdir", self.needs.workdir]
            for name, value in {"LANG": "C.UTF-8", **command.env}.items():
                words += ["--env", f"{name}={value}"]
            ran = await self._engine(
                *words, self.name, *argv, stdin=command.stdin, seconds=command.wall,
                output=command.output,
            )  # fmt: skip
        if not await self._is_running():
            return Ran(code=None, step=0, finished=False, stderr="the container is gone")
        await self._end_others()
        return ran

    async def _has_user(self, user: str) -> None:
        """Add a user whom the image does not know; the working folder is theirs."""
        if user in self._users or not re.fullmatch(r"[A-Za-z_][\w.-]*", user):
            return
        self._users.add(user)
        script = (
            'id -u "$1" >/dev/null 2>&1 || {'
            ' echo "$1:x:1000:1000::/home/$1:/bin/sh" >>/etc/passwd;'
            ' echo "$1:x:1000:" >>/etc/group;'
            ' mkdir -p "/home/$1" && chown -R 1000:1000 "/home/$1" "$2" /logs; }'
        )
        await self._inside(["/bin/sh", "-c", script, "sh", user, self.needs.workdir])

    async def _is_running(self) -> bool:
        looked = await self._engine("inspect", "--format", "{{.State.Running}}", self.name)
        return looked.code == 0 and looked.stdout.strip() == "true"

    async def _end_others(self) -> None:
        """Kill all that a command left running; the first process is exempt from that."""
        await self._inside(["/bin/sh", "-c", "kill -9 -1"])

    async def _bring(self, path: str) -> None:
        """Copy a file or folder of this machine to the same place inside, if it is not there."""
        there = await self._inside(["test", "-e", path])
        if there.code != 0:
            await self._inside(["mkdir", "-p", os.path.dirname(path)])
            await self._engine("cp", path, f"{self.name}:{path}")

    async def place(self, files: Mapping[str, Json], where: str) -> None:
        await self._inside(["rm", "-rf", where])
        await self._inside(["mkdir", "-p", where])
        if files:
            await self._unpack(_tar_of(files), where)

    async def add(self, files: Mapping[str, Json], where: str) -> None:
        await self._inside(["mkdir", "-p", where])
        if files:
            await self._unpack(_tar_of(files), where)

    async def _unpack(self, archive: bytes, where: str) -> None:
        for _ in range(TRIES):
            done = await self._engine("cp", "-", f"{self.name}:{where}", stdin=_trimmed(archive))
            if done.code == 0 or CLOSED not in done.stderr:
                break
        if done.code != 0:
            raise ModelError(f"files cannot be put into the container: {_last_line(done.stderr)}")

    async def read(self, path: str) -> bytes | None:
        packed = await self._bytes("cp", f"{self.name}:{path}", "-", most=4 * MIB)
        if packed is None:
            return None
        with suppress(tarfile.TarError), tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            first = archive.next()
            if first is not None and first.isreg() and (file := archive.extractfile(first)):
                return file.read(MIB)
        return None

    async def changes(self) -> bytes:
        listed = await self._engine("diff", self.name, output=64 * MIB)
        if listed.code != 0:
            raise ModelError(f"the environment was lost: {_last_line(listed.stderr)}")
        kept: list[str] = []
        deleted: list[str] = []
        for line in listed.stdout.splitlines():
            how, _, path = line.strip().partition(" ")
            name = path.strip().lstrip("/")
            if not name or any(name == own or name.startswith(f"{own}/") for own in OWN):
                continue
            (deleted if how == "D" else kept).append(name)
        if len(kept) > MOST_ENTRIES:
            raise ModelError(
                f"more than {MOST_ENTRIES} files were changed in the environment",
                cause=Cause.LIMIT.value,
            )
        packed = await self._packed(kept)
        return await asyncio.to_thread(_archive, packed, [_entry(name) for name in deleted])

    async def _packed(self, names: Sequence[str]) -> bytes:
        """Return what is inside at some places, as tar there packs it."""
        if not names:
            return b""
        listing = "\0".join(names).encode()
        words = ["exec", "--interactive", "--user", "0:0", "--workdir", "/", self.name]
        words += ["tar", "--create", "--no-recursion", "--null", "--files-from", "-"]
        words += ["--ignore-failed-read", "--sparse"]
        packed = await self._bytes(*words, stdin=listing, most=MOST_CHANGED)
        if packed is None:
            raise ModelError(
                f"what was changed cannot be packed: there is no tar in the image, or it is more"
                f" than {MOST_CHANGED // MIB} MiB"
            )
        return packed

    async def restore(
        self, archive: bytes, only: Sequence[str] = (), without: Collection[str] = ()
    ) -> None:
        try:
            packed, deleted = await asyncio.to_thread(_unpacked, archive, only, without)
        except (tarfile.TarError, OSError, ValueError) as error:
            raise ModelError(f"what was left in the environment cannot be read: {error}") from None
        if deleted:
            await self._inside(["rm", "-rf", "--", *deleted[:MOST_ENTRIES]])
        await self._unpack(packed, "/")

    async def close(self) -> None:
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            await asyncio.to_thread(remove, self.name)
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self._process.wait()
            if self._process.returncode is None:
                self._process.kill()
                await self._process.wait()
        if self._home != Path():
            await asyncio.to_thread(shutil.rmtree, self._home, ignore_errors=True)

    async def _inside(self, argv: Sequence[str]) -> Ran:
        return await self._engine("exec", "--user", "0:0", "--workdir", "/", self.name, *argv)

    async def _engine(
        self, *words: str, stdin: bytes = b"", seconds: float = SECONDS, output: int = MIB
    ) -> Ran:
        """Run the engine's program to its end, or for so long."""
        argv = [find_engine() or "podman", *words]
        begun = time.monotonic()
        process = await spawn(
            argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env=engine_environment(), start_new_session=True,
        )  # fmt: skip
        out, err, stopped = b"", b"", None
        try:
            async with asyncio.timeout(seconds):
                out, err = await process.communicate(stdin)
        except TimeoutError:
            stopped = Stopped.TIME
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if stopped is None and len(out) > output:
            stopped = Stopped.OUTPUT
        code = None if stopped is not None else _status(process.returncode)
        return Ran(
            code=code, step=0, finished=code == 0, stopped=stopped,
            stdout=out[:output].decode("utf-8", "replace"),
            stderr=err[:output].decode("utf-8", "replace"), seconds=time.monotonic() - begun,
        )  # fmt: skip

    async def _bytes(self, *words: str, stdin: bytes = b"", most: int) -> bytes | None:
        """Return what the engine's program writes; none where it fails, or writes more."""
        process = await spawn(
            [find_engine() or "podman", *words], stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env=engine_environment(), start_new_session=True,
        )  # fmt: skip
        try:
            async with asyncio.timeout(SECONDS):
                out, _ = await process.communicate(stdin)
        except TimeoutError:
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return out if process.returncode == 0 and len(out) <= most else None


def task_image(needs: EnvironmentNeeds, usual: str) -> str:
    """Return the image of a task, built where it has a Dockerfile, or raise a ModelError."""
    if needs.image or not needs.dockerfile:
        return needs.image or usual
    files = json.dumps(dict(needs.files), sort_keys=True)
    bases = _base_ids(needs.dockerfile)
    with _BUILDING.setdefault(_tag(needs.dockerfile, files, bases), threading.Lock()):
        tag = _built(needs.dockerfile, files, bases, needs.build_timeout)
        if "" in bases:  # building has fetched them
            fetched = _tag(needs.dockerfile, files, _base_ids(needs.dockerfile))
            probe([find_engine() or "podman", "tag", tag, fetched], env=engine_environment())
    return tag


def _base_ids(dockerfile: str) -> tuple[str, ...]:
    """Return the hashes of the images that a task builds upon; an empty one is not here yet."""
    return tuple(image_id(name) for name in base_images(dockerfile))


def _tag(dockerfile: str, files: str, bases: tuple[str, ...]) -> str:
    """Return the name of a task's image: another one where anything that goes into it differs."""
    return f"localhost/proctor-task-{digest(dockerfile, files, bases)[:16]}"


@cache
def _built(dockerfile: str, files: str, bases: tuple[str, ...], seconds: float) -> str:
    """Build an image once for many attempts; the engine keeps it for later runs."""
    engine = find_engine() or "podman"
    tag = _tag(dockerfile, files, bases)
    if image_id(tag):
        return tag
    context = Path(mkdtemp(prefix="proctor-build-"))
    try:
        (context / "Dockerfile").write_text(dockerfile, "utf-8")
        for name, entry in json.loads(files).items():
            content, executable = unpacked_file(entry)
            place = context / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(0o755 if executable else 0o644)
        argv = [engine, "build", "--quiet", "--tag", tag, str(context)]
        done = probe(argv, seconds=seconds, env=engine_environment())
    finally:
        shutil.rmtree(context, ignore_errors=True)
    if done.code != 0:
        why = done.error or _last_line(done.stderr)
        raise ModelError(f"the environment cannot be built: {why}")
    return tag


@cache
def pytest_places() -> tuple[Path, ...]:
    """Return where the parts of pytest lie on this machine; none where it is not installed."""
    places = []
    for name in WHEELS:
        spec = find_spec(name)
        if spec is None or not spec.origin:
            return ()
        origin = Path(spec.origin)
        places.append(origin.parent if spec.submodule_search_locations else origin)
    site = next(place.parent for place in places if place.name == "pytest")
    for name in ("pluggy", "pytest"):  # which ask for their own versions
        places += site.glob(f"{name}-*.dist-info")
    return tuple(places)


def _status(code: int | None) -> int | None:
    """Return an exit status; engines write 128 and a number for signals."""
    return code if code is None or code <= 128 else 128 - code


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


def _entry(name: str) -> str:
    """Return how archives of changes call a path: what lies in /usr is apart from the rest."""
    return name if name.startswith("usr/") or name == "usr" else f"root/{name}"


def _path(entry: str) -> str:
    return entry.removeprefix("root/")


def _tar_of(files: Mapping[str, Json]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, entry in files.items():
            content, executable = unpacked_file(entry)
            about = tarfile.TarInfo(name)
            about.size, about.mode = len(content), 0o755 if executable else 0o644
            archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def _trimmed(archive: bytes) -> bytes:
    """Return an archive that ends with the two blocks that say so, and no more.

    Engines stop reading there, and fail where somebody still writes.
    """
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        for _ in packed:
            pass
        end = packed.offset
    return archive[:end] + bytes(2 * tarfile.BLOCKSIZE)


def _archive(packed: bytes, deleted: Sequence[str]) -> bytes:
    """Write an archive of changes as environments keep it, the same for the same files."""
    result = io.BytesIO()
    with tarfile.open(fileobj=result, mode="w:gz", compresslevel=1) as archive:
        listed = json.dumps(list(deleted)).encode()
        about = tarfile.TarInfo(DELETED)
        about.size = len(listed)
        archive.addfile(about, io.BytesIO(listed))
        if packed:
            with tarfile.open(fileobj=io.BytesIO(packed)) as source:
                for member in sorted(source, key=lambda one: one.name):
                    if not (member.isreg() or member.isdir() or member.issym()):
                        continue
                    content = source.extractfile(member) if member.isreg() else None
                    member.name = _entry(member.name.strip("/"))
                    member.pax_headers = {}
                    archive.addfile(without_times(member), content)
    return result.getvalue()


def _unpacked(
    archive: bytes, only: Sequence[str], without: Collection[str]
) -> tuple[bytes, list[str]]:
    """Return what of an archive of changes is wanted, as a plain one, and what was deleted."""
    result, deleted = io.BytesIO(), []
    with (
        tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as source,
        tarfile.open(fileobj=result, mode="w") as target,
    ):
        for member in _checked(source):
            if member.name == DELETED:
                listed = source.extractfile(member)
                names = json.loads(listed.read()) if listed is not None else []
                deleted = [f"/{_path(str(name))}" for name in names if is_wanted(str(name), only)]
            elif member.name not in without and is_wanted(member.name, only):
                content = source.extractfile(member) if member.isreg() else None
                member.name = _path(member.name)
                target.addfile(member, content)
    return result.getvalue(), deleted


def _checked(source: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for number, member in enumerate(source):
        if number > MOST_ENTRIES:
            raise ValueError("it has too many entries")
        if ".." in member.name.split("/"):
            raise ValueError(f"an entry is called {member.name!r}")
        yield member
