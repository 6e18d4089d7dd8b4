"""What a node must have of a run's files."""

import dataclasses
import json
import os
from pathlib import Path

import pytest

from proctor.engine.bulk.reach import Reach, lacking
from proctor.engine.bulk.tasks import from_json, to_json
from proctor.store.parts.files import PartFolder


@pytest.fixture
def reach(tmp_path: Path) -> Reach:
    for name in ("suite.jsonl", "answers.jsonl"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    files = [tmp_path / "suite.jsonl", tmp_path / "answers.jsonl"]
    return Reach.of(files, PartFolder.beside(str(tmp_path / "s.db")))


def test_a_machine_with_all_files_lacks_nothing_and_the_mark_is_removed(reach: Reach) -> None:
    assert lacking(from_json(json.loads(json.dumps(to_json(reach))))) == ""
    assert os.listdir(reach.folder.address) == [reach.mark]
    reach.clear()
    reach.clear()
    assert os.listdir(reach.folder.address) == []


def test_a_file_that_is_not_there_or_another_is_named(reach: Reach, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("{}\n{}\n", encoding="utf-8")
    assert f"another file {tmp_path / 'answers.jsonl'}" in lacking(reach)
    (tmp_path / "suite.jsonl").unlink()
    lacking.cache_clear()
    assert f"cannot read {tmp_path / 'suite.jsonl'} (No such file" in lacking(reach)


def test_a_folder_of_the_same_name_on_another_machine_is_told_apart(reach: Reach) -> None:
    other = dataclasses.replace(reach, mark=".check-of-another-run")
    assert f"does not see the folder of parts {reach.folder.address}" in lacking(other)


def test_an_address_that_cannot_be_written_to_is_named(reach: Reach, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    away = dataclasses.replace(reach, folder=PartFolder(f"file://{tmp_path}/file/parts"))
    reason = lacking(away)
    assert "cannot be written" in reason
    assert "fix" not in reason
