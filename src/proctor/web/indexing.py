"""Background indexing of texts, in small batches, for runs that are searched."""

import os
import threading
import time
from collections.abc import Callable, Collection

from proctor.errors import StoreError
from proctor.store.store import Store

PAUSE = 0.02
"""Seconds between two batches, so that other writers to the store get a turn."""
_LESS_URGENT = 10


class Indexer:
    """A thread that fills the index run by run, and ends with the server."""

    def __init__(self, opened: Callable[[], Store]) -> None:
        self._opened = opened
        self._waiting: list[str] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._unable = False

    def ask(self, run_id: str) -> bool:
        """Queue a run for indexing; return False if the store has no index."""
        with self._lock:
            if self._unable:
                return False
            if run_id not in self._waiting:
                self._waiting.append(run_id)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
        return True

    def wait(self, run_ids: Collection[str], seconds: float) -> None:
        """Wait a moment for runs to be indexed, which is enough for small ones."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with self._lock:
                if self._unable or not set(run_ids) & set(self._waiting):
                    return
            time.sleep(PAUSE)

    def close(self) -> None:
        """Stop after the current batch."""
        self._stopped.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        if hasattr(os, "setpriority"):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LESS_URGENT)
        with self._opened() as store:
            while (run_id := self._next()) is not None:
                try:
                    whole = store.search.index(run_id)
                except StoreError:
                    whole = True  # Another writer is busy; the next search queues it again.
                if whole:
                    with self._lock:
                        self._waiting.remove(run_id)
                        self._unable = store.search.unable
                self._stopped.wait(PAUSE)

    def _next(self) -> str | None:
        with self._lock:
            if self._stopped.is_set() or not self._waiting:
                self._thread = None
                return None
            return self._waiting[0]
