"""What a task needs around it: a root to work in, files, limits, users and a network."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.core.suite import Case, Json

SETUP = "environment"
"""Where the setup of a case keeps what its environment needs."""
SOLUTIONS = "solutions"
"""Where the hidden facts of a case keep the files of its reference solution, one set for a turn."""
CHANGES = ".proctor/environment.tar.gz"
"""The name under which an attempt keeps what was changed in its environment."""
TESTS, SOLUTION, LOGS = "/tests", "/solution", "/logs"
REWARDS = f"{LOGS}/verifier"
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentNeeds:
    """What a task needs to be worked on, as its case keeps it in JSON."""

    image: str = ""
    """The container image that it is written for."""
    dockerfile: str = ""
    """The text of the file that such an image is built from."""
    files: Mapping[str, Json] = field(default_factory=dict)
    """The files beside it, by name."""
    workdir: str = "/app"
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    cpus: float = 1.0
    memory: int = 2048 * MIB
    disk: int = 10240 * MIB
    build_timeout: float = 600.0
    agent_timeout: float = 600.0
    network: str = "no-network"
    """``no-network``, ``allowlist`` or ``public``: what the task asks for."""
    hosts: tuple[str, ...] = ()
    """The hosts of an allow-list."""

    @classmethod
    def of(cls, case: Case) -> "EnvironmentNeeds | None":
        """Return what a case needs; none where it needs no environment."""
        data = case.setup.get(SETUP)
        return cls.from_json(data) if isinstance(data, Mapping) else None

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "EnvironmentNeeds":
        """Read what a case keeps."""
        return cls(**{**data, "hosts": tuple(data.get("hosts", ()))})


def packed_file(content: bytes, *, executable: bool = False) -> Json:
    """Write a file as JSON: a text, or an object where it is more than that."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        entry: dict[str, Json] = {"base64": base64.b64encode(content).decode("ascii")}
    else:
        if not executable:
            return text
        entry = {"text": text}
    return {**entry, "executable": True} if executable else entry


def unpacked_file(entry: Json) -> tuple[bytes, bool]:
    """Return a file's content, and whether it may be executed."""
    if isinstance(entry, str):
        return entry.encode(), False
    data = base64.b64decode(entry["base64"]) if "base64" in entry else entry["text"].encode()
    return data, bool(entry.get("executable"))
