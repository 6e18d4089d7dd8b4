"""A small part of JSONPath: ``$.a.b[0]``, ``[-1]``, ``[*]``, ``['a name']``."""

import re
from functools import lru_cache

from proctor.core.suite import Json

_STEP = re.compile(r"\.([^.\[\]'\"]+)|\[(-?\d+)\]|\[(\*)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")


@lru_cache(maxsize=256)
def parse(path: str) -> tuple[str | int | None, ...]:
    """Return the steps of a path, none for all of a list, or raise a ValueError."""
    if not path.startswith("$"):
        raise ValueError(f"the path {path!r} does not begin with $")
    steps: list[str | int | None] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(
                f"the path {path!r} cannot be read from {path[at:]!r} on (known are .name, [0],"
                " [-1], [*] and ['name'])"
            )
        name, number, every, single, double = match.groups()
        if number is not None:
            steps.append(int(number))
        elif every or name == "*":
            steps.append(None)
        else:
            steps.append(next(text for text in (name, single, double) if text is not None))
        at = match.end()
    return tuple(steps)


def find(path: str, data: Json) -> list[Json]:
    """Return all that a path leads to; nothing where it leads nowhere."""
    values = [data]
    for step in parse(path):
        values = [inner for value in values for inner in _inside(value, step)]
    return values


def first(path: str, data: Json) -> Json:
    """Return the first thing that a path leads to and that is not null."""
    return next((value for value in find(path, data) if value is not None), None)


def _inside(value: Json, step: str | int | None) -> list[Json]:
    if step is None:
        if isinstance(value, dict):
            return list(value.values())
        return list(value) if isinstance(value, list) else []
    if isinstance(step, int):
        fits = isinstance(value, list) and -len(value) <= step < len(value)
        return [value[step]] if fits else []
    return [value[step]] if isinstance(value, dict) and step in value else []
