"""Which tasks a path means: files, folders, lists of tasks, and what is missing."""

from pathlib import Path
from typing import Any

import pytest

from proctor.errors import DialectError, SuiteError
from proctor.origins.askbench.files import first_file, is_askbench, row_files
from proctor.origins.askbench.sources import SourceFinder, TaskSource

ROW = '{"ori_question": "q", "expected_answer": "a"}\n'


def write(path: Path, text: str = ROW) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(path: Path, **how: Any) -> tuple[list[TaskSource], SourceFinder]:
    finder = SourceFinder(**{"compat": "", "root": None, **how})
    return finder.sources(path), finder


def base(tmp_path: Path, enabled: str = "math500, bbh") -> Path:
    return write(tmp_path / "config" / "base.ini", f"[tasks]\nenabled = {enabled}\n")


def test_rows_alone_are_a_task_of_their_folder_or_their_own_name(tmp_path: Path) -> None:
    (one,), _ = found(write(tmp_path / "math500" / "test.jsonl"))
    assert (one.name, one.own, one.save_dir) == ("math500", True, "")
    (two,), _ = found(write(tmp_path / "mine" / "quiz.jsonl"))
    assert two.name == "quiz"
    (three,), _ = found(write(tmp_path / "other" / "test.jsonl").parent)
    assert three.name == "other"


def test_a_list_of_tasks_finds_the_rows_of_each(tmp_path: Path) -> None:
    for name in ("math500", "bbh"):
        write(tmp_path / "data" / "common" / name / "test.jsonl")
    sources, finder = found(base(tmp_path))
    assert [one.name for one in sources] == finder.names == ["math500", "bbh"]
    assert sources[0].rows == tmp_path / "data" / "common" / "math500" / "test.jsonl"
    assert (finder.findings.errors, finder.broken) == ([], {})
    assert sources[0].save_dir == "results"
    chosen, _ = found(base(tmp_path), tasks=("bbh",))
    assert [one.name for one in chosen] == ["bbh"]


def test_a_task_that_cannot_be_run_is_set_apart(tmp_path: Path) -> None:
    write(tmp_path / "data" / "common" / "bbh" / "test.jsonl")
    sources, finder = found(base(tmp_path, "math500, bhb, bbh, bbh"))
    assert [one.name for one in sources] == ["bbh"]
    assert finder.names == ["math500", "bhb", "bbh"]
    assert "no rows for 'math500'" in finder.broken["math500"].errors[0].message
    assert "did you mean 'bbh'" in finder.broken["bhb"].errors[0].hint
    assert finder.findings.errors == []


def test_rows_outside_of_the_root_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / "data" / "common" / "bbh" / "test.jsonl")
    sources, finder = found(base(tmp_path, "bbh"), root=tmp_path / "config")
    assert sources == []
    assert "lie outside the folder" in finder.broken["bbh"].errors[0].message


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda at: at / "none.ini", DialectError, "no such file"),
        (lambda at: write(at / "x.ini", "[other]\na = 1\n"), DialectError, "none of AskBench's"),
        (lambda at: base(at, ""), SuiteError, "no task is enabled"),
        (lambda at: write(at / "empty" / "x.txt").parent, DialectError, "has no rows in it"),
        (lambda at: write(at / "a.ini", "[tasks]\nenabled = x\ntasks_config_path = OpenCompass/c\n"),
         DialectError, "run by another tool"),
    ],
)  # fmt: skip
def test_what_is_no_evaluation_is_said(
    tmp_path: Path, make: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        found(make(tmp_path))


def test_a_path_is_recognised_by_a_first_look(tmp_path: Path) -> None:
    assert is_askbench(write(tmp_path / "rows.jsonl"))
    assert is_askbench(base(tmp_path))
    assert is_askbench(base(tmp_path).parent)
    assert not is_askbench(write(tmp_path / "native.jsonl", '{"ask": "q", "expected_answer": 1}'))
    assert not is_askbench(write(tmp_path / "rows.txt"))
    assert not is_askbench(write(tmp_path / "x.ini", "[other]\n"))


def test_the_first_file_of_the_places_is_taken_and_else_each_is_named_once(tmp_path: Path) -> None:
    there = write(tmp_path / "a" / "test.jsonl")
    places = [tmp_path / "b", tmp_path / "c" / ".." / "b", there]
    assert first_file(iter(places)) == (there, [])
    assert first_file(iter(places[:2])) == (None, [str(tmp_path / "b")])
    ini = tmp_path / "config" / "x.ini"
    written = list(row_files(ini, ini, "rows", "bbh"))
    assert written[0] == tmp_path / "config" / "rows" / "bbh" / "test.jsonl"
    assert all(
        "common" not in str(place.relative_to(place.anchor)) or "rows" in str(place)
        for place in written
    )
