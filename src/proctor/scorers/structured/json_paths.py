"""Paths into JSON values: ``a.b[0].c``, ``items[*].id``, ``["odd key"]``."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from proctor.core.suite import Json
from proctor.core.tool_calls import is_list

Part = str | int | None
"""A key, a place in a list, or none for all of them."""
Path = tuple[Part, ...]
_PART = re.compile(r"""\.?(?:([^.\[\]"]+)|\[(?:(\*)|(-?\d+)|("(?:[^"\\]|\\.)*"))\])""")


def read_path(text: str) -> Path:
    """Read a path, or raise a ValueError."""
    parts: list[Part] = []
    rest = text.removeprefix("$").removeprefix(".")
    place = 0
    while place < len(rest):
        match = _PART.match(rest, place)
        if match is None or match.end() == place:
            raise ValueError(f"{text!r} is no path such as a.b[0].c or items[*].id")
        key, every, number, quoted = match.groups()
        if quoted is not None:
            parts.append(str(json.loads(quoted)))
        elif every is not None or key == "*":
            parts.append(None)
        else:
            parts.append(key if number is None else int(number))
        place = match.end()
    if not parts:
        raise ValueError("a path is empty")
    return tuple(parts)


def path_text(path: Iterable[Part]) -> str:
    """Write a path for people."""
    text = ""
    for part in path:
        if isinstance(part, str):
            text += f"{'.' if text else ''}{part}"
        else:
            text += "[*]" if part is None else f"[{part}]"
    return text or "the value"


def fits(path: Path, pattern: Path) -> bool:
    """Tell whether a path is one of those that a pattern stands for.

    A pattern of a single key stands for that key wherever it is.
    """
    if len(pattern) == 1 and isinstance(pattern[0], str):
        return bool(path) and path[-1] == pattern[0]
    return len(path) == len(pattern) and all(
        wanted is None or wanted == part for part, wanted in zip(path, pattern, strict=True)
    )


def values_at(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield all values that a path leads to, each with its own path."""
    if not path:
        yield (), value
        return
    part, rest = path[0], path[1:]
    places: Iterable[Part] = ()
    if isinstance(value, Mapping):
        places = value if part is None else [part] if part in value else ()
    elif is_list(value):
        size = len(value)
        if part is None:
            places = range(size)
        elif isinstance(part, int) and -size <= part < size:
            places = [part]
    for place in places:
        for inner, inner_value in values_at(value[place], rest):
            yield (place, *inner), inner_value
