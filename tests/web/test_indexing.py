"""Indexing in the background: each run once, in turn, and no more after the end."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from starlette.testclient import TestClient

from proctor.errors import StoreError
from proctor.store.store import Store
from proctor.web import indexing
from proctor.web.app import make_app
from proctor.web.indexing import Indexer


class _Store:
    """A store whose index takes some batches for each run."""

    def __init__(self, batches: int = 1, error: bool = False) -> None:
        self.batches, self.error, self.unable = batches, error, False
        self.seen: list[str] = []
        self.closed = threading.Event()

    @property
    def search(self) -> "_Store":
        return self

    def index(self, run_id: str) -> bool:
        self.seen.append(run_id)
        if self.error:
            raise StoreError("another writer is busy")
        return self.seen.count(run_id) >= self.batches

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.closed.set()


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "PAUSE", 0)


def indexed(store: Any, *runs: str, opened: Callable[[], Any] | None = None) -> Indexer:
    indexer = Indexer(opened or (lambda: store))
    for run in runs:
        assert indexer.ask(run)
    assert store.closed.wait(10)
    return indexer


def test_runs_are_indexed_one_after_the_other_batch_by_batch() -> None:
    store, ready = _Store(batches=3), threading.Event()

    def opened() -> _Store:
        ready.wait(10)
        return store

    indexer = Indexer(opened)
    for run in ("a", "b", "a"):
        assert indexer.ask(run)
    ready.set()
    assert store.closed.wait(10)
    assert store.seen == ["a", "a", "a", "b", "b", "b"]
    indexer.close()


def test_a_store_that_is_busy_is_left_alone_until_the_next_search() -> None:
    store = _Store(error=True)
    indexer = indexed(store, "a")
    assert store.seen == ["a"]
    store.error = False
    store.closed.clear()
    assert indexer.ask("a")
    assert store.closed.wait(10)
    assert store.seen == ["a", "a"]


def test_a_store_without_an_index_says_so_from_then_on() -> None:
    store = _Store()
    store.unable = True
    indexer = indexed(store, "a")
    assert not indexer.ask("b")
    assert store.seen == ["a"]


def test_the_end_waits_for_the_batch_under_way_and_no_longer() -> None:
    store = _Store(batches=1_000_000)
    indexer = Indexer(lambda: store)
    indexer.ask("a")
    indexer.close()
    assert store.closed.is_set()
    assert len(store.seen) < 1_000_000


def test_a_small_run_is_waited_for(tmp_path: Path, put_run: Any, examined: Any) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        put_run(store, "r", [examined.plain("c", "a word to find", 1.0)])
    with TestClient(make_app(str(tmp_path / "p.db")), base_url="http://127.0.0.1") as client:
        found = client.get("/home.json?q=word+to+find").json()
    assert [case["id"] for case in found["cases"]["found"]] == ["c"]
