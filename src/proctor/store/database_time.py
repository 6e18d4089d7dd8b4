"""The time of the database's clock, as an expression: processes on several machines share it."""

from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class DatabaseTime(FunctionElement[float]):
    """The database's current time, in seconds since 1970."""

    type = Double()
    inherit_cache = True


@compiles(DatabaseTime, "sqlite")
def _in_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _in_postgresql(*_: Any, **__: Any) -> str:
    return "extract(epoch FROM clock_timestamp())::double precision"
