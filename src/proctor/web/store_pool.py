"""Pool of stores that pages read from, each lent to one request at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from queue import LifoQueue

from starlette.requests import Request

from proctor.store.store import Store
from proctor.web.indexing import Indexer
from proctor.web.page_cache import PageCache

FEW = 4
"""How many requests read at once; each store has its own cache."""


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

    def close(self) -> None:
        """Close the idle stores."""
        self.indexer.close()
        while not self._free.empty():
            if (store := self._free.get()) is not None:
                store.close()


@contextmanager
def opened(request: Request) -> Iterator[Store]:
    """Lend a store to a request."""
    with store_pool_of(request).lend() as store:
        yield store


def store_pool_of(request: Request) -> StorePool:
    """Return the store pool of a request's application."""
    store_pool: StorePool = request.app.state.store_pool
    return store_pool
