"""Aids: what is made once for many programs, from files that are trusted, and shown read-only."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.core.program import Program, Ran

WORTH = 4
"""How many programs do without an aid before it is made: it takes as long as a few of them."""


@dataclass
class _Aid:
    requests: int = 0
    begun: bool = False
    folder: tempfile.TemporaryDirectory[str] | None = None


@dataclass
class Aids:
    """The prebuilt files of one sandbox, until it is closed."""

    run: Callable[[Program], Awaitable[Ran]]
    _entries: dict[object, _Aid] = field(default_factory=dict)

    async def folder(self, aid: Program | None) -> str | None:
        """Return where an aid lies on the host; none where it is not there, or not yet.

        Whoever asks while it is being made goes without.
        """
        if aid is None:
            return None
        entry = self._entries.setdefault(_identity(aid), _Aid())
        entry.requests += 1
        if entry.requests > WORTH and not entry.begun:
            entry.begun = True
            entry.folder = await self._build(aid)
        return entry.folder.name if entry.folder is not None else None

    def close(self) -> None:
        """Remove all that was made."""
        for entry in self._entries.values():
            if entry.folder is not None:
                entry.folder.cleanup()
        self._entries.clear()

    async def _build(self, aid: Program) -> tempfile.TemporaryDirectory[str] | None:
        ran = await self.run(aid)
        if not ran.finished or set(aid.keep) - ran.files.keys():
            return None
        return await asyncio.to_thread(_written, ran.files)


def _written(files: Mapping[str, bytes]) -> tempfile.TemporaryDirectory[str] | None:
    folder = tempfile.TemporaryDirectory(prefix="proctor-aid-", ignore_cleanup_errors=True)
    place = Path(folder.name)
    try:
        for name, data in files.items():
            (place / name).write_bytes(data)
            (place / name).chmod(0o644)
        place.chmod(0o755)
    except OSError:
        folder.cleanup()
        return None
    return folder


def _identity(aid: Program) -> object:
    return (aid.steps, tuple(sorted(aid.files.items())), aid.needs, tuple(sorted(aid.env.items())))
