"""A host with something to find and to harm, for the programs that attack it."""

import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hostile.own_groups import own_groups


@dataclass
class Host:
    """What the programs would find if they got out, and whether it is as it was."""

    folder: Path
    port: int
    sleeper: "subprocess.Popen[bytes]"
    mark: str
    visits: list[object] = field(default_factory=list)
    mounts: list[str] = field(default_factory=lambda: _mounts())  # noqa: PLW0108 - defined below
    kernel: list[str] = field(default_factory=lambda: _kernel())  # noqa: PLW0108 - defined below

    def environment(self) -> dict[str, str]:
        return {
            "PROBE_PORT": str(self.port),
            "PROBE_SOCKET": self.mark,
            "PROBE_FILE": str(self.folder / "canary"),
            "PROBE_MARK": self.mark,
        }

    def changes(self) -> list[str]:
        """Return what is no longer as it was before the programs ran."""
        looks = {
            "the file": (self.folder / "canary").read_text() == "untouched",
            "its folder": os.listdir(self.folder) == ["canary"],
            "the process": self.sleeper.poll() is None,
            "the listeners": self.visits == [],
            "processes": self.marked() == [],
            "temporary files": os.listdir(tempfile.gettempdir()) == [],
            "groups": not own_groups(),
            "mounts": _mounts() == self.mounts,
            "the kernel": _kernel() == self.kernel,
        }
        return [name for name, same in looks.items() if not same]

    def marked(self) -> list[str]:
        found = []
        for process in Path("/proc").iterdir():
            try:
                if self.mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text())
            except OSError:
                continue
        return found


def _kernel() -> list[str]:
    names = ("core_pattern", "hostname", "pid_max", "randomize_va_space")
    return [Path("/proc/sys/kernel", name).read_text() for name in names]


def _mounts() -> list[str]:
    return [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    (folder / "canary").write_text("untouched")
    sleeper = subprocess.Popen(["sleep", "600"])
    mark = f"proctor-mark-{os.urandom(8).hex()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as loopback,
        socket.socket(socket.AF_UNIX) as abstract,
        pytest.MonkeyPatch.context() as patch,
    ):
        abstract.bind("\0" + mark)
        abstract.listen()
        patch.setenv("PROCTOR_CANARY", "a key of the grader")
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
        found = Host(folder, loopback.getsockname()[1], sleeper, mark)
        for listener in (loopback, abstract):
            threading.Thread(target=_note_visits, args=(listener, found), daemon=True).start()
        yield found
        for listener in (loopback, abstract):
            listener.shutdown(socket.SHUT_RDWR)
    sleeper.kill()
    sleeper.wait()


def _note_visits(listener: socket.socket, host: Host) -> None:
    while True:
        try:
            visitor, _ = listener.accept()
        except OSError:
            return
        host.visits.append(visitor)
