"""Modules of tools and their states in native suites: read, written, and wrong in every way."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.fingerprint import case_key
from proctor.core.suite import Case
from proctor.errors import SuiteError
from proctor.formats.native.dialect import Native
from proctor.formats.native.stateful_tools import ModuleKeys
from proctor.formats.native.tools import names_module
from proctor.formats.native.writer import write_native
from proctor.io.yaml_files import yaml_text

SOURCE = '''\
def pay(state: dict, member: str, amount: float) -> str:
    """Pay."""
    return "ok"

def look(state: dict) -> dict:
    return state
'''
TOOLS = {"module": "tools.py"}
TASK = {"hidden": {"task": "Pay your fine."}}


def written(folder: Path, case: dict[str, Any], **suite: Any) -> Path:
    path = folder / "s.yaml"
    (folder / "tools.py").write_text(suite.pop("source", SOURCE), encoding="utf-8")
    (folder / "db.json").write_text(suite.pop("db", '{"fines": {}}'), encoding="utf-8")
    whole = {"name": "s", **suite, "cases": [{"id": "a", "criteria": "x", **case}]}
    path.write_text(yaml_text(whole), encoding="utf-8")
    return path


def read(folder: Path, case: dict[str, Any], **suite: Any) -> Case:
    (read_case,) = Native().read(written(folder, case, **suite)).suite.cases
    return read_case


def problems(folder: Path, case: dict[str, Any], **suite: Any) -> list[tuple[str, int | None, str]]:
    with pytest.raises(SuiteError) as error:
        read(folder, case, **suite)
    return [
        (Path(p.file or "").name, p.line, f"{p.message} {p.hint}") for p in error.value.problems
    ]


def test_a_module_gives_tools_and_a_dialogue(tmp_path: Path) -> None:
    case = read(tmp_path, {"ask": "Pay.", "state": "db.json"}, tools=TOOLS)
    assert [tool.name for tool in case.tools] == ["pay", "look"]
    assert case.tools[0].parameters["required"] == ["member", "amount"]
    assert case.dialogue.name == "stateful_tools"
    assert case.dialogue.params["tools"] == {"source": SOURCE, "state": {"fines": {}}}


def test_a_task_makes_a_user_who_may_have_tools(tmp_path: Path) -> None:
    tools = {**TOOLS, "user": ["look"], "timeout": 5}
    how = {"dialogue": {"stateful_user": {"max_turns": 9}}}
    case = read(tmp_path, TASK, tools=tools, state={"fines": {"M": 1}}, **how)
    assert case.messages == ()
    assert [tool.name for tool in case.tools] == ["pay"]
    assert case.dialogue.name == "stateful_user"
    assert {key: value for key, value in case.dialogue.params.items() if key != "tools"} == {
        "max_turns": 9, "user_tools": ["look"],
    }  # fmt: skip
    assert case.dialogue.params["tools"]["timeout"] == 5
    both = read(tmp_path, TASK, tools={**TOOLS, "user": ["look"], "only": ["pay", "look"]})
    assert [tool.name for tool in both.tools] == ["pay", "look"]


def test_a_case_says_otherwise_than_its_suite(tmp_path: Path) -> None:
    state = {
        "file": "db.json",
        "actions": ["look", {"name": "pay", "arguments": {"member": "M", "amount": 1}}],
    }
    case = read(tmp_path, {**TASK, "state": state}, tools=TOOLS, state={"other": 1})
    assert case.dialogue.params["tools"]["state"] == {"fines": {}}
    assert [a["name"] for a in case.dialogue.params["tools"]["actions"]] == ["look", "pay"]
    plain = read(tmp_path, {"ask": "Hi.", "tools": ["ping"]}, tools=TOOLS)
    assert (plain.dialogue.name, [tool.name for tool in plain.tools]) == ("single_turn", ["ping"])


def test_what_is_read_can_be_written(tmp_path: Path) -> None:
    suite = (
        Native()
        .read(written(tmp_path, TASK, tools={**TOOLS, "user": "look"}, state="db.json"))
        .suite
    )
    again = Native().read(write_native(suite, tmp_path / "out")).suite
    assert [case_key(case) for case in again.cases] == [case_key(case) for case in suite.cases]


ACTION = {"name": "pay", "arguments": {"member": "M", "amount": 1}}


@pytest.mark.parametrize(
    ("case", "suite", "where", "words"),
    [
        (TASK, {"tools": {"module": "tool.py"}}, "s.yaml", "there is no file 'tool.py'"),
        (TASK, {"tools": {**TOOLS, "usr": []}}, "s.yaml", "unknown key 'usr'"),
        (TASK, {"tools": {**TOOLS, "user": ["lok"]}}, "s.yaml", "no tool 'lok'"),
        (TASK, {"tools": {**TOOLS, "only": ["pey"]}}, "s.yaml", "no tool 'pey'"),
        (TASK, {"tools": {**TOOLS, "timeout": "x"}}, "s.yaml", "expected seconds"),
        (TASK, {"tools": TOOLS, "source": "def f(state, x): ...\n"}, "tools.py", "has no type"),
        (TASK, {"tools": TOOLS, "source": "\ndef f(:\n"}, "tools.py", "not Python"),
        (TASK, {"tools": TOOLS, "state": "d.json"}, "s.yaml", "there is no file 'd.json'"),
        (TASK, {"tools": TOOLS, "state": "db.json", "db": '{"a": }'}, "db.json", "not JSON"),
        (TASK, {"tools": TOOLS, "state": 5}, "s.yaml", "a state is a JSON file"),
        ({**TASK, "state": {"file": "db.json", "actions": ["pey"]}}, {"tools": TOOLS}, "s.yaml",
         "there is no tool 'pey'"),
        ({**TASK, "state": {"file": "db.json", "actions": [5]}}, {"tools": TOOLS}, "s.yaml",
         "an action is the name"),
        ({"ask": "x", "state": "db.json"}, {}, "s.yaml", "a state is for tools of a module"),
        ({"ask": "x", "dialogue": "scripted"}, {"tools": TOOLS}, "s.yaml", "'stateful_tools'"),
        ({"ask": "x", "dialogue": "stateful_user"}, {"tools": TOOLS}, "s.yaml", "no task"),
        ({}, {"tools": TOOLS}, "s.yaml", "asks nothing"),
        ({**TASK, "criteria": {"state_equal": {"actions": [{"name": "pey"}]}}}, {"tools": TOOLS},
         "s.yaml", "there is no tool 'pey'"),
        ({**TASK, "criteria": [{"state_equal": {"actions": ["pay"]}}]}, {"tools": TOOLS}, "s.yaml",
         "'pay' needs 'member'"),
        ({**TASK, "criteria": {"actions": ["pey"]}}, {"tools": TOOLS}, "s.yaml", "no tool 'pey'"),
        ({**TASK, "criteria": {"actions": {"none": [{"name": "pay", "arguments": {"sum": 1}}]}}},
         {"tools": TOOLS}, "s.yaml", "no parameter 'sum'"),
    ],
)  # fmt: skip
def test_every_mistake_has_its_file_and_line(
    tmp_path: Path, case: dict[str, Any], suite: dict[str, Any], where: str, words: str
) -> None:
    told = problems(tmp_path, case, **json.loads(json.dumps(suite)))
    assert any(file == where and line and words in text for file, line, text in told), told


def test_actions_that_can_be_are_let_pass(tmp_path: Path) -> None:
    criteria = [
        {"state_equal": {"actions": [ACTION, "look"]}},
        {"actions": [{"name": "pay", "arguments": {"amount": 1}}, "look"]},
    ]
    assert len(read(tmp_path, {**TASK, "criteria": criteria}, tools=TOOLS).criteria) == 2
    assert names_module(TOOLS)
    assert not names_module(["ping"])
    assert ModuleKeys().tools == ()
