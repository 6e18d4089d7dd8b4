"""Which ids of cases are taken, and where each was written first; a few bytes for each of many."""

from pathlib import Path

from proctor.dialects.native_spot import Spot
from proctor.spooled import HELD, Places

_LINE_BITS = 24


class Claims:
    """Remember the ids of all cases of a suite."""

    def __init__(self) -> None:
        self._few: dict[str, str] = {}
        self._many = Places()
        self._files: dict[Path, int] = {}

    def claim(self, name: str, spot: Spot) -> str | None:
        """Take an id; where it is taken, say where that was."""
        if (first := self._few.get(name)) is not None:
            return first
        if len(self._few) < HELD:
            self._few[name] = spot.place()
            return None
        key = hash(name)
        if (known := self._many.get(key)) is not None:
            path = list(self._files)[known >> _LINE_BITS]
            return f"{path.name}:{known & (1 << _LINE_BITS) - 1}"
        path = spot.document.path
        place = spot.document.place(spot.loc)
        file = min(self._files.setdefault(path, len(self._files)), 127)
        line = min(place.line if place else 0, (1 << _LINE_BITS) - 1)
        self._many.put(key, file << _LINE_BITS | line)
        return None
