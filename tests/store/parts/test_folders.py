"""Where the parts of a store are: beside its file, or where a person said, and nowhere else."""

from pathlib import Path

import pytest

from proctor.errors import StoreError
from proctor.store.parts.claims import SHARED
from proctor.store.parts.folders import VARIABLE, PartFolders
from proctor.store.store import Store

PLACE = "r-0123456789abcdef/00001-0123456789ab"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a folder for the parts, as a person does."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "there"))
    return tmp_path / "there"


def test_parts_are_beside_the_file_of_a_store(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        folders = PartFolders(store.database)
        assert folders.folder is not None
        assert folders.folder.beside_store
        assert folders.folder_of(PLACE) is folders.folder


def test_a_folder_that_was_named_takes_new_parts_and_earlier_ones_stay(
    tmp_path: Path, there: Path
) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        folders = PartFolders(store.database)
        assert folders.folder is not None
        assert folders.folder.address == str(there)
        assert folders.folder_of(f"file://{there}/{PLACE}") is folders.folder
        assert folders.folder_of(PLACE).beside_store


def test_the_folder_beside_the_store_may_be_named_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        beside = PartFolders(store.database).folder
        assert beside is not None
        monkeypatch.setenv(VARIABLE, beside.address)
        named = PartFolders(store.database).folder
        assert named is not None
        assert named.beside_store


@pytest.mark.parametrize("place", ["s3://elsewhere/{}", "https://name:word@elsewhere/{}?key=1"])
def test_a_place_that_nobody_named_is_refused_without_what_is_secret_in_it(
    tmp_path: Path, place: str
) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        with pytest.raises(StoreError, match=rf"nobody said.*{VARIABLE}") as refused:
            PartFolders(store.database).folder_of(place.format(PLACE))
        assert "word" not in str(refused.value)
        assert "key=1" not in str(refused.value)


@pytest.mark.parametrize(
    "place", ["../x", f"../{PLACE}", f"/{PLACE}", "file:///elsewhere/" + PLACE]
)
def test_a_place_outside_of_the_folder_is_refused(tmp_path: Path, there: Path, place: str) -> None:
    with Store.open(str(tmp_path / "p.db")) as store, pytest.raises(StoreError):
        PartFolders(store.database).folder_of(place)


def test_whoever_claims_files_in_a_named_folder_marks_it_as_shared(
    tmp_path: Path, there: Path
) -> None:
    there.mkdir()
    with Store.open(str(tmp_path / "p.db")) as store:
        folders = PartFolders(store.database)
        first, second = folders.claim(), folders.claim()
        assert first.token != second.token
    assert (there / SHARED).exists()
