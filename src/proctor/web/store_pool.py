"""Pool of stores that pages read from, each lent to one request at a time."""

import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from queue import LifoQueue
from threading import Lock
from typing import Any, TypeVar

from starlette.requests import Request

from proctor.core.run import Run, RunStatus
from proctor.io.process_memory import trim_memory
from proctor.store.store import Store
from proctor.web.indexing import Indexer

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


FEW = 4
"""How many requests read at once; each store has its own cache."""


TIDY_SECONDS = 1.0
"""How often memory is given back, which takes a few milliseconds."""
SEARCH_SECONDS = 0.015
"""How long one request goes on with searches in files, in all runs that it shows."""
GOING_ON = "proctor-going-on"
"""The header of a request for which nobody waits: a page that goes on with its search."""
GOING_ON_SECONDS = 0.12


class StorePool:
    """Stores of one address, each opened when it is first needed."""

    def __init__(self, url: str | None, *, create: bool = False) -> None:
        self._url = url
        first = Store.open(url, create=create)
        self.place = first.place
        self._free: LifoQueue[Store | None] = LifoQueue()
        for store in (*[None] * (FEW - 1), first):
            self._free.put(store)
        self.page_cache = PageCache()
        self._tidied = 0.0
        self.live: dict[str, Any] = {}
        """What is known of runs in progress, by id."""
        self.indexer = Indexer(lambda: Store.open(url, create=False))

    @contextmanager
    def lend(self) -> Iterator[Store]:
        """Lend a store, waiting for one where all are in use."""
        store = self._free.get()
        try:
            if store is not None and not store.is_there():
                # Another store may be free by now.
                store.close()
                store = None
                self.page_cache.forget()
            store = store or Store.open(self._url, create=False)
            yield store
        finally:
            self._free.put(store)
            self._tidy()

    def _tidy(self) -> None:
        """Return what reading files left free between small blocks, now and then."""
        now = time.monotonic()
        if "pyarrow" in sys.modules and now - self._tidied > TIDY_SECONDS:
            self._tidied = now
            trim_memory()

    def load_for_parts(self) -> None:
        """Load what reads the files of large runs, if there are any, before a page wants it."""
        with self.lend() as store:
            if not store.homes.any_parts():
                return
        for name in ("numpy", "pyarrow.compute", "pyarrow.parquet"):
            import_module(name)

    def close(self) -> None:
        """Close the idle stores."""
        self.indexer.close()
        while not self._free.empty():
            if (store := self._free.get()) is not None:
                store.close()


@contextmanager
def opened(request: Request) -> Iterator[Store]:
    """Lend a store to a request, all of whose searches share the time of one step."""
    seconds = GOING_ON_SECONDS if GOING_ON in request.headers else SEARCH_SECONDS
    with store_pool_of(request).lend() as store, store.search.limited(seconds), store.reading():
        yield store


def store_pool_of(request: Request) -> StorePool:
    """Return the store pool of a request's application."""
    store_pool: StorePool = request.app.state.store_pool
    return store_pool
