"""Values of columns: what a database may return, whoever wrote it, is made usable."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from proctor.store.rows import unescape


def read_text(value: Any) -> str | None:
    """Restore an escaped text."""
    if value is not None and not isinstance(value, str):
        # SQLite stores any type in any column.
        value = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return unescape(value) if value is not None and "\x10" in value else value


def read_number(value: Any) -> float | None:
    """Let finite numbers through; other values are read as NaN."""
    if value is None:
        return None
    finite = type(value) in (int, float) and math.isfinite(value)
    return float(value) if finite else math.nan


def read_whole(value: Any) -> int | None:
    """Let whole numbers through; other values are read as -1."""
    return value if value is None or type(value) is int else -1


def _read_truth(value: Any) -> bool | None:
    return None if value is None else bool(value)


READERS: Mapping[str, Callable[[Any], Any]] = {
    "text": read_text,
    "number": read_number,
    "whole": read_whole,
    "truth": _read_truth,
}
"""How a column of each kind is read; others are as the database returns them."""
