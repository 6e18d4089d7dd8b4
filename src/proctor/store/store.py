"""The store: open it, put things in, get them back."""

from types import TracebackType
from typing import Self

from proctor.store.attempts import Attempts
from proctor.store.calls import Calls
from proctor.store.comparisons import Comparisons
from proctor.store.files import Files
from proctor.store.holding import Holding
from proctor.store.marks import Marks
from proctor.store.numbered import Numbered
from proctor.store.opening import open_engine
from proctor.store.paired_listing import PairedListing
from proctor.store.results import Results
from proctor.store.secret import Secret
from proctor.store.suites import Suites


class Store(
    Suites,
    Attempts,
    Numbered,
    Results,
    Calls,
    Comparisons,
    Files,
    Holding,
    PairedListing,
    Marks,
    Secret,
):
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
