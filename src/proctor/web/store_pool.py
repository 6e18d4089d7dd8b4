"""The stores that pages read from: a few, each lent to one request at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from queue import LifoQueue

from starlette.requests import Request

from proctor.store.store import Store
from proctor.web.indexing import Indexer
from proctor.web.page_cache import Remembered

FEW = 4
"""How many requests read at once; each store keeps a cache of its own."""


class StorePool:
    """Lend stores of one address, opening each the first time it is needed."""

    def __init__(self, url: str | None, *, create: bool = False) -> None:
        self._url = url
        first = Store.open(url, create=create)
        self.place = first.place
        self._free: LifoQueue[Store | None] = LifoQueue()
        for store in (*[None] * (FEW - 1), first):
            self._free.put(store)
        self.remembered = Remembered()
        self.indexer = Indexer(lambda: Store.open(url, create=False))

    @contextmanager
    def lend(self) -> Iterator[Store]:
        """Lend a store, waiting for one where all are in use."""
        store = self._free.get()
        try:
            if store is not None and not store.is_there():
                # Another one may lie there by now.
                store.close()
                store = None
                self.remembered.forget()
            store = store or Store.open(self._url, create=False)
            yield store
        finally:
            self._free.put(store)

    def close(self) -> None:
        """Close the stores that are not lent."""
        self.indexer.close()
        while not self._free.empty():
            if (store := self._free.get()) is not None:
                store.close()


@contextmanager
def opened(request: Request) -> Iterator[Store]:
    """Lend the store that a request is about."""
    with shelf_of(request).lend() as store:
        yield store


def shelf_of(request: Request) -> StorePool:
    """Return the stores of a request's server, with what is remembered about them."""
    shelf: StorePool = request.app.state.shelf
    return shelf
