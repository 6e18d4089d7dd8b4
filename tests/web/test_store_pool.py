"""Stores that are lent: no more than a few, each to one at a time, and opened anew when gone."""

from pathlib import Path

import pytest

from parts_runs import put_run
from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.errors import StoreError
from proctor.store.parts.moving import move_to_parts
from proctor.store.store import Store
from proctor.web import store_pool
from proctor.web.store_pool import FEW, StorePool


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "p.db"
    Store.open(str(path)).close()
    return path


def test_a_store_is_lent_to_one_at_a_time_and_used_again(path: Path) -> None:
    pool = StorePool(str(path))
    with pool.lend() as first:
        with pool.lend() as second:
            assert first is not second
        with pool.lend() as third:
            assert third is second
    lent = [pool.lend() for _ in range(FEW)]
    stores = [one.__enter__() for one in lent]
    assert len({id(store) for store in stores}) == FEW
    assert pool._free.empty()
    for one in lent:
        one.__exit__(None, None, None)
    pool.close()
    assert pool._free.empty()


def test_a_store_comes_back_after_an_error(path: Path) -> None:
    pool = StorePool(str(path))
    for _ in range(2 * FEW):
        with pytest.raises(ValueError, match="broken"), pool.lend():
            raise ValueError("broken")
    assert pool._free.qsize() == FEW
    pool.close()


def test_a_store_that_was_replaced_is_opened_anew_and_nothing_is_remembered(path: Path) -> None:
    pool = StorePool(str(path))
    assert pool.page_cache.of("key", lambda: "old") == "old"
    path.unlink()
    with Store.open(str(path)) as other:
        other.runs.save(Run(id="r", name="r", suite="s", suite_key="k", candidate=Spec(name="m")))
    with pool.lend() as store:
        assert [run.id for run in store.runs.newest()] == ["r"]
    assert pool.page_cache.of("key", lambda: "new") == "new"
    pool.close()


def test_what_reads_parts_is_loaded_where_a_run_has_any(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(store_pool, "import_module", loaded.append)
    pool = StorePool(str(path))
    pool.load_for_parts()
    assert loaded == []
    with Store.open(str(path)) as store:
        move_to_parts(store, put_run(store).id, cases=5)
    pool.load_for_parts()
    assert "pyarrow.parquet" in loaded
    pool.close()


def test_a_pool_makes_no_store_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        StorePool(str(tmp_path / "none.db"))
    assert list(tmp_path.iterdir()) == []
