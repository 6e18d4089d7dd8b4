"""Files of parts: written wholly, found by place, and never outside of their folder."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from proctor.errors import PartDamaged, StoreError
from proctor.io.redaction import SECRETS
from proctor.store.parts.files import RUN, SUITE, PartFolder
from proctor.store.parts.layout import ATTEMPTS, CASES, RESULTS

TABLE = pa.table({"position": pa.array([0, 1, 2], pa.int64())})


@pytest.mark.parametrize("kind", ["beside", "path", "file", "fsspec"])
def test_a_part_is_written_read_listed_and_deleted(kind: str, tmp_path: Path) -> None:
    if kind == "fsspec":
        pytest.importorskip("fsspec")
    folder = {
        "beside": PartFolder.beside(str(tmp_path / "proctor.db")),
        "path": PartFolder.at(str(tmp_path / "parts here")),
        "file": PartFolder.at(f"file://{tmp_path}/parts%20here"),
        "fsspec": PartFolder.at(f"memory://proctor-test/{tmp_path.name}"),
    }[kind]
    folder = pickle.loads(pickle.dumps(folder))
    place = folder.new_place(RUN, "run ../..", 3)
    assert place.startswith(folder.base)
    size = folder.write(place, ATTEMPTS, TABLE)
    folder.write(place, RESULTS, TABLE)
    assert folder.size(place, ATTEMPTS) == size
    assert folder.size(place, CASES) is None
    assert folder.open(place, ATTEMPTS).read().equals(TABLE)
    assert {file.kind for file in folder.places()[place]} == {ATTEMPTS, RESULTS}
    folder.delete([place], [ATTEMPTS, RESULTS, CASES])
    assert folder.places() == {}
    with pytest.raises(PartDamaged, match="is not there"):
        folder.open(place, ATTEMPTS)


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    folder = PartFolder.beside(str(tmp_path / "proctor.db"))
    place = folder.new_place(SUITE, "key", 0)
    (tmp_path / "proctor.db.parts").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match=r"proctor\.db\.parts.*cannot be written"):
        folder.write(place, CASES, TABLE)


@pytest.mark.parametrize(
    "place",
    [
        "../r-0123456789abcdef/00001-0123456789ab",
        "/etc/r-0123456789abcdef/00001-0123456789ab",
        "r-0123456789abcdef/../../x/00001-0123456789ab",
        "r-0123456789abcdef/00001-0123456789ab/../../../etc/passwd",
        "r-0123456789abcdef/00001-0123456789ab\n",
        "file:///etc/r-0123456789abcdef/00001-0123456789ab",
        "s3://elsewhere/r-0123456789abcdef/00001-0123456789ab",
        "s3://bucket/parts/../r-0123456789abcdef/00001-0123456789ab",
        "s3://bucket/partsmore/r-0123456789abcdef/00001-0123456789ab",
        "s3://bucket/parts/r-0123456789abcdef/00001-0123456789ab?endpoint_override=evil",
        "",
    ],
)
@pytest.mark.parametrize("address", ["", "s3://bucket/parts?region=x"])
def test_a_place_leads_to_no_other_folder(place: str, address: str, tmp_path: Path) -> None:
    folder = PartFolder.at(address) if address else PartFolder.beside(str(tmp_path / "p.db"))
    with pytest.raises(StoreError, match="not in the folder of parts"):
        folder.path(place, ATTEMPTS)


def test_credentials_of_an_address_are_neither_stored_nor_shown() -> None:
    folder = PartFolder.at(
        "s3://AKIAEXAMPLE1:verysecretword@bucket/parts/?session_token=tokentoken9"
    )
    place = folder.new_place(RUN, "r", 0)
    assert place.startswith("s3://bucket/parts/r-")
    for word in ("verysecretword", "tokentoken9"):
        assert word not in place
        assert word not in SECRETS.redacted(f"it says {word}")
    for wrong in ("1x://user:hushhush@host/p", "s3://KEY:hush/hushhush@bucket/path?x=hushhush"):
        with pytest.raises(StoreError) as refused:
            PartFolder.at(wrong)
        assert "hushhush" not in str(refused.value)


@pytest.mark.parametrize("address", ["s3://", "file://host/path", "1x://bucket/path"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(StoreError, match="not an address of parts"):
        PartFolder.at(address)


def test_a_file_that_is_cut_short_is_damaged(tmp_path: Path) -> None:
    folder = PartFolder.beside(str(tmp_path / "proctor.db"))
    place = folder.new_place(RUN, "r", 0)
    folder.write(place, ATTEMPTS, TABLE)
    path = Path(folder.address) / folder.path(place, ATTEMPTS)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(PartDamaged, match="cannot be read"):
        folder.open(place, ATTEMPTS)


def test_a_folder_is_tried_before_any_work(tmp_path: Path) -> None:
    PartFolder.at(str(tmp_path / "new" / "folder")).check()
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        PartFolder.at(str(tmp_path / "file" / "folder")).check()
