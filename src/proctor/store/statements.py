"""Statements that a run of answers on file executes: by name as text, and as expressions.

Each is written once, as a function that returns SQLAlchemy's expression. What SQLite is given for
it is stored in ``sqlite_text``, so that neither SQLAlchemy nor the tables are loaded for it;
``tests/sqlite_texts.py`` writes that file anew.
"""

from collections.abc import Callable
from typing import Any

STATEMENTS: dict[str, "Statement"] = {}
"""All statements that were defined, by name."""


class Statement:
    """A statement with named values, which ``build`` writes as an expression for a database."""

    __slots__ = ("build", "name")

    def __init__(self, name: str, build: Callable[[Any], Any]) -> None:
        self.name = name
        self.build = build

    def __repr__(self) -> str:
        return f"Statement({self.name!r})"


def statement(build: Callable[[Any], Any]) -> Statement:
    """Define a statement under the name of its module and function."""
    name = f"{build.__module__.rpartition('.')[2]}.{build.__name__}"
    STATEMENTS[name] = defined = Statement(name, build)
    return defined
