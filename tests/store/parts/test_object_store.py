"""Parts in an object store: written, read, listed and deleted through S3; keys stay out of the store."""

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from object_store import KEYS, s3_server
from parts_runs import everything, put_run
from proctor.errors import StoreError
from proctor.store.parts.column_cache import COLUMNS
from proctor.store.parts.files import PartFolder
from proctor.store.parts.layout import RESULTS
from proctor.store.parts.moving import move_to_parts
from proctor.store.store import Store

pytestmark = [pytest.mark.s3, pytest.mark.slow]


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3_server() as address:
        yield address


def test_a_run_in_an_object_store_is_read_and_deleted_as_one_on_disk(
    bucket: str, address: str, tmp_path: Path
) -> None:
    with Store.open(address, parts=bucket) as store:
        folder = store.parts.folder
        assert folder is not None
        folder.check()
        run = put_run(store)
        rows = everything(store, run)
        move_to_parts(store, run.id, cases=5)
        assert {place.partition("/r-")[0].partition("/s-")[0] for place in folder.places()} == {
            "s3://bucket/parts"
        }
        assert store.parts.missing(run.id) == []
    COLUMNS.clear()
    with mock.patch.dict(os.environ, {"PROCTOR_PARTS": bucket}), Store.open(address) as store:
        assert everything(store, run) == rows
    COLUMNS.clear()
    with Store.open(address) as store:
        assert store.results.count(run.id) == 23, "which is in the store itself"
        with pytest.raises(StoreError, match="name their address in PROCTOR_PARTS"):
            list(store.attempts.iter_cases(run.id))
        with pytest.raises(StoreError, match="name their address in PROCTOR_PARTS"):
            list(store.results.iter_rows(run.id))
    elsewhere = bucket.replace("/parts", "/elsewhere")
    outside = pytest.raises(StoreError, match="not in the folder of parts")
    with Store.open(address, parts=elsewhere) as store, outside:
        list(store.attempts.iter_cases(run.id))
    with Store.open(address, parts=bucket) as store:
        folder.delete([store.parts.of_run(run.id)[1].place], [RESULTS])
        assert store.parts.missing(run.id) == [1]
        broken = [row.position for row in store.results.iter_rows(run.id) if row.broken]
        assert broken == [5, 6, 7, 8, 9]
        store.runs.delete(run.id)
        assert folder.places() == {}
    for path in tmp_path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(key.encode() in content for key in list(KEYS.values())[:2])


def test_an_address_that_cannot_be_reached_says_so_without_keys(bucket: str) -> None:
    wrong = bucket.replace("s3://bucket", "s3://nobody-made-this-bucket")
    with pytest.raises(StoreError, match="cannot be written") as refused:
        PartFolder.at(wrong).check()
    assert not any(key in str(refused.value) for key in list(KEYS.values())[:2])
