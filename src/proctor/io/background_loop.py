"""An event loop in a thread of its own, for callers that have none, or another one."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

Result = TypeVar("Result")
PATIENCE = 10.0
"""Seconds in which cancelled work must have put its things in order."""


class BackgroundLoop:
    """A loop that lives until it is closed, and ends with the process at the latest."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Tell whether the caller runs in this very loop, where waiting for it would never end."""
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin some work; cancelling the future cancels the work."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for some work; an interrupt cancels it."""
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what is left, and end the thread."""
        if not self._thread.is_alive():
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result(timeout=PATIENCE)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=PATIENCE)
        if not self._thread.is_alive():
            self.loop.close()


async def _cancel_all() -> None:
    """Cancel everything else in the loop, and wait for it."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=PATIENCE)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
