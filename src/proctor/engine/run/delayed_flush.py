"""Storing what is done soon, however long the next piece of work takes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from proctor.errors import StoreError


@dataclass(eq=False)
class StoredSoon:
    """A call of a function within some seconds after the first wish for it.

    A store that cannot be written then is told by the next call, or by the one at the end.
    """

    store: Callable[[], None]
    seconds: float
    _timer: asyncio.TimerHandle | None = None

    def wish(self) -> None:
        """See to it that the function is called within these seconds."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._call)

    def stop(self) -> None:
        """Forget the wish: somebody else calls the function now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _call(self) -> None:
        self._timer = None
        with suppress(StoreError):
            self.store()
