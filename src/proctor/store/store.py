"""The store: open it, put things in, get them back."""

from types import TracebackType
from typing import Self

from proctor.store.attempts import Attempts
from proctor.store.calls import Calls
from proctor.store.comparisons import Comparisons
from proctor.store.links import Links
from proctor.store.listing import Listing
from proctor.store.opening import open_engine
from proctor.store.pairing import Pairing
from proctor.store.results import Results
from proctor.store.suites import Suites


class Store(Suites, Attempts, Links, Results, Listing, Calls, Comparisons, Pairing):
    """Hold one open store, for one thread at a time.

    Each put is a transaction of its own, committed before it returns; inside ``batch()`` all puts
    are one. Rows may be a stream, but the transaction stays open until the stream ends: other
    processes can read meanwhile, not write.
    """

    @classmethod
    def open(cls, url: str | None = None, *, create: bool = True) -> Self:
        """Open the store at a path or URL; none means ``PROCTOR_STORE`` or ``.proctor/proctor.db``.

        With create, it is made where it is not there yet.
        """
        return cls(*open_engine(url, create=create))

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
