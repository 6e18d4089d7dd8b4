"""Which known name somebody probably meant by one that nobody knows."""

from collections.abc import Iterable

ALIKE = 0.6
"""How similar two names are, of at most 1, that one may be meant by the other."""
LOOSELY = 0.5
"""The same for names that people shorten or extend: of plugins, commands, columns and runs."""
MOST_LISTED = 20


def similar(
    name: str, choices: Iterable[str], *, most: int = 1, cutoff: float = ALIKE
) -> list[str]:
    """Return the known names most like a name, the best first, in whatever case it is written."""
    from difflib import get_close_matches

    names = {one.casefold(): one for one in reversed([*choices])}
    return [names[one] for one in get_close_matches(name.casefold(), names, most, cutoff)]


def closest(name: str, choices: Iterable[str], *, cutoff: float = ALIKE) -> str:
    """Return the known name most like a name; an empty one where none is."""
    return next(iter(similar(name, choices, cutoff=cutoff)), "")


def suggest(
    name: str,
    choices: Iterable[str],
    *,
    listed: Iterable[str] | None = None,
    cutoff: float = ALIKE,
) -> str:
    """Return ``did you mean 'x'?`` where something similar is known, else what may be chosen.

    That is ``listed``, in its order, or else the first of the known names in theirs.
    """
    choices = sorted(choices)
    if close := closest(str(name), choices, cutoff=cutoff):
        return did_you_mean(close)
    if listed is not None:
        return f"known are: {', '.join(listed)}"
    more = ", …" if len(choices) > MOST_LISTED else ""
    return f"known are: {', '.join(choices[:MOST_LISTED])}{more}" if choices else ""


def did_you_mean(*names: str) -> str:
    """Ask whether one of some names was meant; an empty text without any."""
    return f"did you mean {', '.join(map(repr, names))}?" if any(names) else ""
