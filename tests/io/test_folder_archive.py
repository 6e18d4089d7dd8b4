"""Working folders that travel into a sandbox and back."""

import io
import tarfile
from pathlib import Path

import pytest

from proctor.io import folder_archive


def archive(*members: tuple[str, bytes | None]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            if data is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc"
                tar.addfile(info)
            else:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_what_comes_back_replaces_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "old").write_text("x")
    folder_archive.unpack(archive(("./a", b"1"), ("./d/b", b"2")), folder)
    assert names(folder) == ["a", "d", "d/b"]
    assert folder_archive.contents(folder) == {"a": b"1", "d/b": b"2"}


def test_nothing_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder_archive.unpack(
        archive(("../out", b"1"), (f"{tmp_path}/abs", b"2"), ("link", None), ("link2", None),
                ("d/../../up", b"3"), ("kept", b"4")),
        folder,
    )  # fmt: skip
    assert names(tmp_path) == ["work", "work/kept"]


def test_links_do_not_travel(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").symlink_to("/etc")
    assert folder_archive.contents(tmp_path) == {"file": b"x"}


def test_too_much_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("xyz")
    monkeypatch.setattr(folder_archive, "MOST_BYTES", 2)
    with pytest.raises(folder_archive.TooMuch):
        folder_archive.contents(tmp_path)
    monkeypatch.setattr(folder_archive, "MOST_FILES", 1)
    with pytest.raises(folder_archive.TooMuch):
        folder_archive.unpack(archive(("a", b""), ("b", b"")), tmp_path / "work")


def test_a_broken_archive_is_told(tmp_path: Path) -> None:
    with pytest.raises(tarfile.TarError):
        folder_archive.unpack(b"not an archive", tmp_path / "work")


def test_a_file_with_holes_takes_no_more_room_than_others(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("holes")
        info.pax_headers = {
            "GNU.sparse.major": "0",
            "GNU.sparse.minor": "1",
            "GNU.sparse.name": "holes",
            "GNU.sparse.size": str(1 << 40),
            "GNU.sparse.map": "0,1",
        }
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    with pytest.raises(folder_archive.TooMuch):
        folder_archive.unpack(made.getvalue(), tmp_path / "work")
