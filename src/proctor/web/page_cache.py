"""What was worked out for a page and stays true while its runs do not change."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, TypeVar

from proctor.core.run import Run, RunStatus

Made = TypeVar("Made")
MOST = 200


class Remembered:
    """Keep the last results of some long work; who asks for one being made waits for it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def of(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was made for a key, made now where it never was."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found: Made = self._kept[key]
                    return found
            try:
                made = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            with self._lock:
                self._kept[key] = made
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            return made

    def forget(self) -> None:
        """Keep nothing of what was made so far."""
        with self._lock:
            self._kept.clear()


def stamp(runs: Sequence[Run]) -> Hashable | None:
    """Return what changes whenever the numbers of runs do; none while one is still going on."""
    if any(run.status is RunStatus.RUNNING for run in runs):
        return None
    return tuple((run.id, run.finished, run.signature, run.status.value) for run in runs)
