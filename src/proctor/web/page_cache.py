"""Cache of computed page parts that stay valid while their runs do not change."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, TypeVar

from proctor.core.run import Run, RunStatus

Value = TypeVar("Value")
MOST = 200


class PageCache:
    """LRU cache of slow results; a second request for a key waits for the first to compute it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value for a key, computing it if it is not cached."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    cached: Value = self._values[key]
                    return cached
            try:
                value = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            with self._lock:
                self._values[key] = value
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            return value

    def forget(self) -> None:
        """Drop all cached values."""
        with self._lock:
            self._values.clear()


def stamp(runs: Sequence[Run]) -> Hashable | None:
    """Return a key that changes when the runs' numbers do; None while a run is unfinished."""
    if any(run.status is RunStatus.RUNNING for run in runs):
        return None
    return tuple((run.id, run.finished, run.signature, run.status.value) for run in runs)
