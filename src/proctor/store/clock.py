"""The database's own clock, by which machines agree, and signs of life told by it."""

import os
from typing import Any

from sqlalchemy import Double, Executable, update
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from proctor.errors import UsageError
from proctor.store.schema import runs

BEAT = 10.0
"""Seconds between two signs of life of a run."""
MISSED = 3
"""How many of them may be missed before the run counts as interrupted."""
VARIABLE = "PROCTOR_BEAT"


class DatabaseTime(FunctionElement[float]):
    """The present time in seconds since 1970, told by the database."""

    type = Double()
    inherit_cache = True


@compiles(DatabaseTime, "sqlite")
def _in_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _in_postgresql(*_: Any, **__: Any) -> str:
    return "extract(epoch FROM clock_timestamp())::double precision"


def sign_of_life(run_id: str, silence: float) -> Executable:
    """Return the statement that gives a run so many seconds until the next sign of life."""
    until = DatabaseTime() + silence
    return update(runs).where(runs.c.id == run_id).values(alive_until=until)


def patience() -> float:
    """Return after how many seconds of silence a run counts as interrupted."""
    return MISSED * beat_seconds()


def beat_seconds() -> float:
    """Return how many seconds lie between two signs of life."""
    text = os.environ.get(VARIABLE, "")
    try:
        seconds = float(text) if text else BEAT
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 3600:
        raise UsageError(f"{VARIABLE} is a number of seconds from 0.01 to 3600, not {text[:40]!r}")
    return seconds
