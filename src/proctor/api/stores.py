"""The store as programs see it: a place, and the runs in it."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.store.store import Store as OpenStore


class RunOfStore(ABC):
    """A run that lies in a store."""

    store: "StorePlace"

    @property
    @abstractmethod
    def id(self) -> str:
        """Return the run's id."""


class StorePlace:
    """A place where runs are stored, with nothing held open."""

    def __init__(self, url: str | Path | None = None) -> None:
        self.url = None if url is None else os.fspath(url)

    @classmethod
    def of(cls, place: "str | Path | StorePlace | None") -> "StorePlace":
        """Return the store that somebody named or handed over."""
        return place if isinstance(place, StorePlace) else cls(place)

    @contextmanager
    def opened(self, *, create: bool = True, parts: str = "") -> "Iterator[OpenStore]":
        """Open the database within the block."""
        from proctor.store.store import Store as OpenStore

        with OpenStore.open(self.url, create=create, parts=parts) as store:
            yield store

    def runs(self) -> list[dict[str, Any]]:
        """Return what is known of all runs, the newest first."""
        with self.opened(create=False) as store:
            return [
                {
                    "id": run.id,
                    "name": run.name,
                    "suite": run.suite,
                    "status": run.status.value,
                    "started": run.started,
                    "finished": run.finished,
                }
                for run in store.runs.newest(limit=None)
            ]

    def delete(self, reference: str) -> None:
        """Delete a run."""
        with self.opened(create=False) as store:
            store.runs.delete(store.runs.get(reference).id)

    def __repr__(self) -> str:
        return f"Store({self.url!r})" if self.url is not None else "Store()"
