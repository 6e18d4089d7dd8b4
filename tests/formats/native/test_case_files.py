"""Files of a case: named from a native suite, and copied beside one."""

from pathlib import Path

import pytest

from proctor.core.fingerprint import digest_bytes
from proctor.core.suite import CaseFile
from proctor.errors import SuiteError
from proctor.formats.native.case_files import copy_files, file_rows


def test_files_are_copied_to_where_their_rows_name_them(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"one")
    digest = digest_bytes(b"one")
    files = [
        CaseFile(name="a.txt", digest=digest, path=str(tmp_path / "x")),
        CaseFile(name="in/b.txt", digest=digest, path=str(tmp_path / "x")),
    ]
    places = [f"files/{digest[:16]}/a.txt", f"files/{digest[:16]}/b.txt"]
    assert file_rows(files) == [places[0], {"file": places[1], "name": "in/b.txt"}]
    copy_files(files, tmp_path / "out")
    assert [(tmp_path / "out" / place).read_bytes() for place in places] == [b"one", b"one"]


def test_a_file_that_is_gone_cannot_be_copied(tmp_path: Path) -> None:
    gone = CaseFile(name="a", digest="0" * 32, path=str(tmp_path / "gone"))
    with pytest.raises(SuiteError, match="cannot be read"):
        copy_files([gone], tmp_path / "out")
