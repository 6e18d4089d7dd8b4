"""Programs that strangers wrote, their limits, and what became of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from proctor._moved import names_of

__getattr__ = names_of(__name__)

MIB = 1024 * 1024

SECRET = "proctor-secret-7f3a9c5e21d84b60"  # noqa: S105 - a place holder  # nosec B105
"""Stands for the secret of a run in a program's files or standard input; a sandbox replaces it."""

CHANNEL = 3
"""The number of the file by which a program and its partner reach each other."""

AID = "/proctor/aid"
"""Where a program may find what was made once for many of its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a program, all its processes together."""

    wall: float = 10.0
    """Seconds from start to end, over all steps."""
    cpu: float | None = None
    """Seconds of processor time; none means the wall time and a little more."""
    memory: int = 1024 * MIB
    processes: int = 64
    disk: int = 256 * MIB
    """Bytes that the working folder and /tmp may hold together."""
    file_size: int = 64 * MIB
    open_files: int = 256
    output: int = 1 * MIB
    """Bytes of standard output, and of standard error, after which the program is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a program; the next one runs only if it ends with exit status 0."""

    argv: tuple[str, ...]
    wall: float | None = None
    """Seconds for this step alone."""
    hide: tuple[str, ...] = ()
    """Files that are removed from the working folder before this step."""
    stdin: bool = True
    """Whether it may read the program's standard input; where not, there is nothing to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Files and commands to run, and what they may see and use."""

    steps: tuple[Step, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of the working folder by relative name."""
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Folders of the host that may be read, besides the system's own."""
    limits: Limits = field(default_factory=Limits)
    keep: tuple[str, ...] = ()
    """Names of files in the working folder to bring back at the end."""
    tools: tuple[str, ...] = ()
    """Commands that must be there; without one of them the program is not started."""
    toolchain: str = ""
    """What the program is built and run with, and of which version; it belongs to its identity."""
    modules: Mapping[str, bytes] = field(default_factory=dict)
    """Python modules of ours by name, the same for many programs: warm interpreters load them once.

    Elsewhere they lie in the working folder.
    """
    call: tuple[str, object] | None = None
    """What a Python text comes to that only calls ``main`` of one of the modules, with the channel
    and this: warm interpreters do so without reading the text."""
    partner: "Program | None" = None
    """What runs at the same time in a sandbox of its own; a socket between the two is ``CHANNEL``.

    What is reported is what became of the program itself, not of its partner.
    """
    confined: bool = False
    """Whether it only computes, and talks to its partner: where that saves time, it may get neither
    places to write to nor a network nor processes. One that wants them after all is run again."""
    aid: "Program | None" = None
    """What may be run once for many programs: what it keeps lies at ``AID``, read-only.

    It holds nothing that a candidate or a suite wrote, and programs do the same without it, later.
    """


class Stopped(StrEnum):
    """The limit that ended a program."""

    TIME = "time"
    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """Outcome of a program."""

    code: int | None
    """The exit status of the last step that ran; negative for a signal, none if it was stopped."""
    step: int
    """Which step that was, from 0."""
    finished: bool
    """Whether every step ended with exit status 0, told by the sandbox and not by the program."""
    proved: bool = False
    """Whether the program gave back the secret of this run as a line of its standard output."""
    stdout: str = ""
    stderr: str = ""
    stopped: Stopped | None = None
    seconds: float = 0.0
    files: Mapping[str, bytes] = field(default_factory=dict)
    not_started: str = ""
    """Why the program could not be started, told by the sandbox alone; empty once it was."""
    starved: bool | None = None
    """Whether other programs had the cores for a good part of its time; none if nobody counted."""
    retried: bool = False
    """Whether this is the second try of one that was short of processor time or memory before."""

    @property
    def lost(self) -> bool:
        """Tell whether the program was started, and what became of it is not known."""
        return self.code is None and self.stopped is None and not self.not_started
