"""Whether a node has the files of a run: the same inputs, and the same folder of parts."""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from proctor.errors import StoreError
from proctor.store.parts.files import PartFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a node must be able to read and to write before it works for a run."""

    files: tuple[tuple[str, int], ...]
    """Path and size of each file of the inputs."""
    folder: PartFolder
    mark: str
    """A file that only this run's own folder has: another machine may have one of that name."""

    @classmethod
    def of(cls, files: Iterable[Path], folder: PartFolder, digits: str = "") -> "Reach":
        """Describe the files of a run, and mark its folder of parts with the digits of a claim."""
        sizes = tuple((os.path.abspath(file), file.stat().st_size) for file in files)
        mark = f".check-{digits or secrets.token_hex(3)}-{secrets.token_hex(6)}"
        if folder.is_local:
            os.makedirs(folder.address, exist_ok=True)
            Path(folder.address, mark).touch()
        return cls(files=sizes, folder=folder, mark=mark)

    def clear(self) -> None:
        """Remove the mark."""
        if self.folder.is_local:
            with suppress(OSError):
                Path(self.folder.address, self.mark).unlink()


@lru_cache(maxsize=4)
def lacking(reach: Reach) -> str:
    """Return what this machine lacks for a run; empty where it has everything."""
    node = os.uname().nodename
    for path, size in reach.files:
        try:
            here = os.stat(path).st_size
        except OSError as error:
            return f"the node {node} cannot read {path} ({error.strerror})"
        if here != size or not os.access(path, os.R_OK):
            return f"the node {node} has another file {path}, or may not read it"
    folder = reach.folder
    if folder.is_local and not Path(folder.address, reach.mark).exists():
        return f"the node {node} does not see the folder of parts {folder.address}"
    try:
        folder.check()
    except StoreError as error:
        return f"on the node {node}, {str(error).partition(' (fix:')[0]}"
    return ""
