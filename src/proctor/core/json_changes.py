"""What changed between two JSON values, kept so that the second follows from the first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy

from proctor.core.suite import Json

Change = Mapping[str, Json]
"""``path``, a list of keys and places; ``before`` and ``after``, where there is a value."""
BEFORE, AFTER, PATH = "before", "after", "path"


def changes_between(before: Json, after: Json) -> list[dict[str, Json]]:
    """List what changed, from the outside in; nothing where both are the same.

    A list that became longer or shorter changed at its end, entry by entry.
    """
    return list(_changes(before, after, ()))


def with_changes(before: Json, changes: Iterable[Change]) -> Json:
    """Return the value that the changes made of another, which stays as it is."""
    value = deepcopy(before)
    for change in changes:
        path = change[PATH]
        if not path:
            value = deepcopy(change.get(AFTER))
            continue
        holder = value
        for part in path[:-1]:
            holder = holder[part]
        _set(holder, path[-1], change)
    return value


def path_words(path: Sequence[str | int]) -> str:
    """Write a path for people: ``loans.L-7.due``, ``queue[0]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text or "the whole"


def _set(holder: Json, part: str | int, change: Change) -> None:
    if AFTER not in change:
        del holder[part]
    elif isinstance(holder, list) and isinstance(part, int) and part == len(holder):
        holder.append(deepcopy(change[AFTER]))
    else:
        holder[part] = deepcopy(change[AFTER])


def _changes(before: Json, after: Json, path: tuple[str | int, ...]) -> Iterator[dict[str, Json]]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _in_object(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_list(before, after, path)
    elif type(before) is not type(after) or before != after:
        yield {PATH: list(path), BEFORE: before, AFTER: after}


def _in_object(
    before: dict[str, Json], after: dict[str, Json], path: tuple[str | int, ...]
) -> Iterator[dict[str, Json]]:
    for key, value in before.items():
        if key in after:
            yield from _changes(value, after[key], (*path, key))
        else:
            yield {PATH: [*path, key], BEFORE: value}
    for key, value in after.items():
        if key not in before:
            yield {PATH: [*path, key], AFTER: value}


def _in_list(
    before: list[Json], after: list[Json], path: tuple[str | int, ...]
) -> Iterator[dict[str, Json]]:
    for place, pair in enumerate(zip(before, after, strict=False)):
        yield from _changes(*pair, (*path, place))
    for place in range(len(before) - 1, len(after) - 1, -1):
        yield {PATH: [*path, place], BEFORE: before[place]}
    for place in range(len(before), len(after)):
        yield {PATH: [*path, place], AFTER: after[place]}
