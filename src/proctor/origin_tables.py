"""What origins bring along: plugins, commands and endpoints, read off the table of each.

Nothing imports an origin by itself. The ``__init__`` of each is a table of strings, which is found
here by its folder, so that an origin that is deleted is missed by nobody.
"""

import importlib
import os
from functools import cache
from types import ModuleType
from typing import Any

ORIGINS = "proctor.origins"


@cache
def _tables() -> tuple[ModuleType, ...]:
    """Import the table of every origin that is there."""
    try:
        package = importlib.import_module(ORIGINS)
    except ModuleNotFoundError:
        return ()
    with os.scandir(os.path.dirname(package.__file__ or "")) as entries:
        names = sorted(
            entry.name
            for entry in entries
            if os.path.isfile(os.path.join(entry.path, "__init__.py"))
        )
    return tuple(importlib.import_module(f"{ORIGINS}.{name}") for name in names)


def plugins(kind: str) -> dict[str, str]:
    """Return the plugins of one kind that origins bring, as ``module:Class`` by name."""
    return {
        name: target
        for table in _tables()
        for name, target in getattr(table, "PLUGINS", {}).get(kind, {}).items()
    }


def signs() -> dict[str, dict[str, str]]:
    """Return what files of origins' dialects have in common, by dialect and ending.

    It is a pattern that the beginning of every such file fulfils: where it does not, the dialect
    need not be loaded to know that a file is not its own.
    """
    return {name: row for table in _tables() for name, row in getattr(table, "SIGNS", {}).items()}


def variants(kind: str) -> dict[str, str]:
    """Return the classes that take the place of plugins of one kind where a spec says so."""
    return {
        name: target
        for table in _tables()
        for name, target in getattr(table, "VARIANTS", {}).get(kind, {}).items()
    }


def flags() -> list[tuple[str, str, str, str]]:
    """Return the flags of origins that other commands still take.

    Of each: how it is spelt, the setting of the dialect that it is, what may be written (``flag``,
    ``file``, ``share``, ``text``, or words between bars), and where it is now.
    """
    return [row for table in _tables() for row in getattr(table, "FLAGS", ())]


def commands() -> dict[str, tuple[str, str]]:
    """Return the commands of origins: where each is, and what it does in a line."""
    return {
        name: row for table in _tables() for name, row in getattr(table, "COMMANDS", {}).items()
    }


def endpoints() -> list[Any]:
    """Import the modules of origins that answer requests: ``routes``, ``PREFIX``, ``refused``."""
    return [
        importlib.import_module(name)
        for table in _tables()
        if (name := getattr(table, "ENDPOINTS", ""))
    ]


def battle_writer() -> Any:
    """Import the function of an origin that writes the result files of a battle, if any does."""
    for table in _tables():
        if target := getattr(table, "BATTLE_FILES", ""):
            module, _, name = target.partition(":")
            return getattr(importlib.import_module(module), name)
    return None
