"""Writers of texts for the objects of a class: a loop over fields at first, compiled code later.

To compile code for a class takes as long as to write fifty of its objects in a loop, and most
commands have a few. What is compiled then is for objects that have the same fields at their
defaults as one of them, as nearly all have; code for any object of the class is compiled where
many are otherwise.
"""

from collections.abc import Callable, Sequence
from typing import Any

Write = Callable[[Any], str]
WORTH_CODE = 50
"""How many objects make it worth compiling code for them."""


def late_writer(
    put: Callable[[Write], None],
    in_loop: Write,
    alike: Callable[[Any, Write], Write],
    any_of_class: Callable[[], Write],
) -> Write:
    """Return what writes objects of a class until ``put`` is given something better.

    ``alike`` makes what writes objects that are like one, and gives others to another writer.
    """
    seen = others = 0

    def first(thing: Any) -> str:
        nonlocal seen
        seen += 1
        if seen == WORTH_CODE:
            put(alike(thing, other))
        return in_loop(thing)

    def other(thing: Any) -> str:
        nonlocal others
        others += 1
        if others == WORTH_CODE:
            put(any_of_class())
        return in_loop(thing)

    return first


def compiled(lines: Sequence[str], scope: dict[str, Any]) -> dict[str, Any]:
    """Run code that was written of the names of our own fields, and return what it defines."""
    exec("\n".join(lines), scope)  # noqa: S102  # nosec B102
    return scope
