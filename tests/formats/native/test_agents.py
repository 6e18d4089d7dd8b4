"""Cases for agents in native suites: turns, files, setup, dialogues; read, written, read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.fingerprint import case_key, digest_bytes
from proctor.core.suite import Case, CaseFile, Criterion, Message, Spec, Suite
from proctor.errors import SuiteError
from proctor.formats.native.dialect import Native
from proctor.formats.native.writer import write_native

POINT = {"scoring_point": "It greets."}


def read(folder: Path, case: Any, **header: Any) -> Case:
    path = folder / "suite.yaml"
    path.write_text(json.dumps({"name": "s", "cases": [case], **header}), encoding="utf-8")
    return Native().read(path).suite.cases[0]


def problems(folder: Path, case: Any) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        read(folder, case)
    return [str(problem) for problem in caught.value.problems]


def test_turns_count_from_one(tmp_path: Path) -> None:
    case = read(tmp_path, {
        "ask": "a", "dialogue": {"scripted": ["b", "c"]},
        "criteria": [{**POINT, "turn": 1}, {"contains": "x", "turn": 3, "id": "third"}, POINT],
    })  # fmt: skip
    assert [criterion.turn for criterion in case.criteria] == [0, 2, None]
    assert case.dialogue == Spec(name="scripted", params={"then": ["b", "c"]})


def test_files_and_setup(tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "a.csv").write_text("1")
    (tmp_path / "data" / "deep" / "b.csv").write_text("2")
    (tmp_path / "c.txt").write_text("3")
    (tmp_path / "data" / "away").symlink_to("/etc/passwd")
    case = read(tmp_path, {
        "ask": "a", "criteria": POINT, "setup": {"app_dir": "project", "dependencies": ["numpy"]},
        "files": ["data", "c.txt", {"file": "c.txt", "name": "in/other.txt"}],
    })  # fmt: skip
    found = {file.name: (file.digest, Path(file.path).read_text()) for file in case.files}
    assert found == {
        "data/a.csv": (digest_bytes(b"1"), "1"),
        "data/deep/b.csv": (digest_bytes(b"2"), "2"),
        "c.txt": (digest_bytes(b"3"), "3"),
        "in/other.txt": (digest_bytes(b"3"), "3"),
    }
    assert case.setup == {
        "app_dir": str((tmp_path / "project").resolve()), "dependencies": ["numpy"],
    }  # fmt: skip


def test_a_virtual_user_needs_no_question(tmp_path: Path) -> None:
    case = read(tmp_path, {
        "hidden": {"task": "Greet."}, "criteria": POINT,
        "dialogue": {"virtual_user": {"max_rounds": 2}},
    })  # fmt: skip
    assert case.messages == ()
    default = read(
        tmp_path, {"hidden": {"task": "Greet."}, "criteria": POINT}, dialogue="virtual_user"
    )
    assert default.dialogue.name == "virtual_user"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"criteria": {**POINT, "turn": 0}}, "expected 1 or more"),
    ({"criteria": {**POINT, "turn": True}}, "expected a whole number"),
    ({"criteria": {**POINT, "turn": "2"}}, "expected a whole number"),
    ({"criteria": {**POINT, "turn": 2}}, "scores turn 2, and the dialogue 'single_turn' ends"),
    ({"criteria": {**POINT, "turn": 3}, "dialogue": {"scripted": ["b"]}}, "ends with turn 2"),
    ({"files": "missing.txt"}, "there is no file 'missing.txt'"),
    ({"files": "../outside.txt"}, "leads out of the suite's folder"),
    ({"files": {"file": "here.txt", "name": "../x"}}, "is no name inside of the working folder"),
    ({"files": {"file": "here.txt", "name": "/x"}}, "is no name inside of the working folder"),
    ({"files": ["here.txt", "here.txt"]}, "two files have the name 'here.txt'"),
    ({"files": [{"name": "x"}]}, "the key 'file' is missing"),
    ({"files": 3}, "expected a mapping"),
    ({"setup": ["x"]}, "expected a mapping"),
    ({"criteria": {"eval_code": "return ("}}, "the code is not Python"),
    ({"criteria": {"eval_code": {"code": "return 1", "post_index": True}}}, "a whole number"),
    ({"dialogue": {"virtual_user": {"max_rounds": 0}}}, "max_rounds is at least 1"),
    ({"dialogue": {"virtual_usr": {}}}, "there is no dialogue 'virtual_usr'"),
]


@pytest.mark.parametrize(("keys", "words"), WRONG)
def test_what_is_wrong_is_said(tmp_path: Path, keys: dict[str, Any], words: str) -> None:
    (tmp_path / "here.txt").write_text("x")
    found = problems(tmp_path, {"ask": "a", "criteria": POINT, **keys})
    assert len(found) == 1, found
    assert words in found[0]


def test_a_virtual_user_without_a_task_is_an_error(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, {"dialogue": "virtual_user", "criteria": POINT})
    assert "the case asks nothing" in found
    assert "'task' under 'hidden'" in found


def test_a_suite_for_agents_survives_a_round_trip(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"\0\1")
    files = tuple(
        CaseFile(name=name, digest=digest_bytes(b"\0\1"), path=str(tmp_path / "x.db"))
        for name in ("x.db", "deep/er/x.db", "deep/y.db")
    )
    criteria = (
        Criterion(id="turn1.point1", turn=0, weight=2.0,
                  scorer=Spec(name="scoring_point", params={"statement": "a", "post_index": -1})),
        Criterion(id="turn2.point1", turn=1,
                  scorer=Spec(name="eval_code", params={"code": "x = '''a\n  b'''\nreturn True"})),
    )  # fmt: skip
    whole = (
        Criterion(id="scoring_point", scorer=Spec(name="scoring_point",
                  params={"statement": "a", "history": True})),
    )  # fmt: skip
    suite = Suite(
        name="cases",
        cases=(
            Case(id="a.yaml", messages=(Message(role="user", content="q"),), criteria=criteria,
                 dialogue=Spec(name="scripted", params={"then": ["r"], "stop_below": 0.9}),
                 files=files, setup={"app_dir": "/srv/project", "config_var": {"a.b": [1, None]}}),
            Case(id="001", messages=(), criteria=whole, hidden={"task": "do it"},
                 dialogue=Spec(name="virtual_user", params={"max_rounds": 7, "verbose": True}),
                 setup={"pre_command": ["echo"]}),
        ),
        dialect="taskweaver",
        measures=(Spec(name="hit_rate"), Spec(name="agent_failure_rate")),
    )  # fmt: skip
    read_back = Native().read(write_native(suite, tmp_path / "out")).suite
    assert [case_key(case) for case in read_back.cases] == [case_key(c) for c in suite.cases]
    assert (read_back.dialect, read_back.measures) == (suite.dialect, suite.measures)
    contents = {Path(file.path).read_bytes() for file in read_back.cases[0].files}
    assert contents == {b"\0\1"}


def test_a_file_that_is_gone_cannot_be_written(tmp_path: Path) -> None:
    file = CaseFile(name="x", digest="0" * 32, path=str(tmp_path / "gone"))
    case = Case(id="c", messages=(Message(role="user", content="q"),), files=(file,),
                criteria=(Criterion(id="contains", scorer=Spec(name="contains",
                          params={"texts": "x"})),))  # fmt: skip
    with pytest.raises(SuiteError, match="cannot be read"):
        write_native(Suite(name="s", cases=(case,)), tmp_path / "out")
