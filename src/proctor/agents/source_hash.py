"""The text behind an agent, so that a changed agent is not taken for the one that was examined."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from proctor.core.fingerprint import digest, digest_bytes

MOST_FILES = 500
MOST_BYTES = 16 * 1024 * 1024


def module_file(name: str) -> Path | None:
    """Return the file of a module without importing anything; none where it is not found."""
    if name.endswith(".py"):
        return Path(name) if Path(name).is_file() else None
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for entry in [os.getcwd(), *sys.path]:
        place = Path(entry or ".", *parts)
        for path in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if path.is_file():
                return path
    return None


def source_key(name: str) -> str:
    """Return the hash of a module's text, or of its whole package; empty where it is not found."""
    path = module_file(name)
    if path is None:
        return ""
    top = path.parent
    if not (top / "__init__.py").exists():
        return files_key([path])
    while (top.parent / "__init__.py").exists():
        top = top.parent
    return files_key(sorted(top.rglob("*.py"))[:MOST_FILES])


def files_key(paths: Iterable[Path]) -> str:
    """Return one hash for the contents of files; those that cannot be read count as such."""
    hashes = []
    for path in paths:
        try:
            whole = path.stat().st_size <= MOST_BYTES
            hashes.append(digest_bytes(path.read_bytes()) if whole else str(path.stat().st_size))
        except OSError:
            hashes.append("unreadable")
    return digest(hashes) if hashes else ""
