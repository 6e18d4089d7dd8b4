"""Columns of runs in parts that this process holds in memory, up to a number of bytes."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from proctor.io.process_memory import trim_memory

MOST_BYTES = 96 * 2**20
"""Maximum size of all columns in memory."""


class ColumnCache:
    """Columns of some runs, up to a number of bytes; what was not used longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._columns: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, key: Any, load: Callable[[], Any]) -> Any:
        """Return a column, which is loaded if it is not there."""
        with self._lock:
            if key in self._columns:
                self._columns.move_to_end(key)
                return self._columns[key][0]
        column = load()
        trim_memory()
        size = _size(column)
        with self._lock:
            if key not in self._columns and size <= self._most:
                self._columns[key] = column, size
                self._size += size
            while self._size > self._most:
                self._size -= self._columns.popitem(last=False)[1][1]
        return column

    def has(self, key: Any) -> bool:
        """Return whether a column is there."""
        with self._lock:
            return key in self._columns

    def columns(self) -> list[Any]:
        """Return the columns that are there."""
        with self._lock:
            return [column for column, _ in self._columns.values()]

    def clear(self) -> None:
        """Forget all columns."""
        with self._lock:
            self._columns.clear()
            self._size = 0


def array_bytes(array: Any) -> int:
    """Return the size of an array of numbers; what shows those of another has none of its own."""
    import numpy as np

    return 0 if isinstance(array.base, np.ndarray) else int(array.nbytes)


def _size(column: Any) -> int:
    import numpy as np

    return array_bytes(column) if isinstance(column, np.ndarray) else int(column.nbytes)


COLUMNS = ColumnCache(MOST_BYTES)
"""The columns that this process has read: places of parts are never used again."""
