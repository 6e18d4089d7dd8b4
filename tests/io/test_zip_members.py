"""Members of ZIP files, stored, deflated and as Zstandard, within limits."""

import struct
import zipfile
from pathlib import Path

import pyarrow
import pytest

from proctor.errors import SuiteError
from proctor.io import zip_members
from proctor.io.zip_members import ZSTANDARD, ZipMembers


def zstandard(path: Path, name: str, content: bytes) -> None:
    """Write a ZIP file whose one member is Zstandard, which zipfile itself cannot write."""
    packed = pyarrow.compress(content, codec="zstd", asbytes=True)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, packed)
    data = bytearray(path.read_bytes())
    for signature, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = data.index(signature)
        struct.pack_into("<H", data, at + method, ZSTANDARD)
        struct.pack_into("<I", data, at + size, len(content))
    path.write_bytes(bytes(data))


def test_all_methods(tmp_path: Path) -> None:
    content = b"text " * 1000
    plain = tmp_path / "plain.zip"
    with zipfile.ZipFile(plain, "w") as file:
        file.writestr("stored", content)
        file.writestr("deflated", content, zipfile.ZIP_DEFLATED)
    zstandard(tmp_path / "zstd.zip", "z", content)
    with ZipMembers(plain) as members:
        assert members.names == ["stored", "deflated"]
        assert members.read("stored") == members.read("deflated") == content
    with ZipMembers(tmp_path / "zstd.zip") as members:
        assert members.read("z") == content


def test_limits_hold_for_each_and_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.zip"
    zstandard(path, "z", b"0" * 100_000)
    monkeypatch.setattr(zip_members, "MAX_FILE", 10_000)
    with ZipMembers(path) as members, pytest.raises(SuiteError, match="more than 10,000 bytes"):
        members.read("z")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a", b"0" * 6_000)
        file.writestr("b", b"0" * 6_000)
    monkeypatch.setattr(zip_members, "limit", lambda _: 10_000)
    with ZipMembers(path) as members:
        members.read("a")
        with pytest.raises(SuiteError, match="more than 4,000 bytes"):
            members.read("b")


def test_broken_files(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    zstandard(path, "z", b"0" * 1000)
    data = bytearray(path.read_bytes())
    data[40:50] = b"\xff" * 10
    path.write_bytes(bytes(data))
    with ZipMembers(path) as members, pytest.raises(SuiteError, match="cannot be read"):
        members.read("z")
    path.write_bytes(b"no")
    with pytest.raises(SuiteError, match="ZIP"):
        ZipMembers(path)
    with pytest.raises(SuiteError, match="cannot be read"):
        ZipMembers(tmp_path / "missing.zip")
