"""τ-style tasks of both generations: read as cases, and wrong in every way."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.fingerprint import case_key
from proctor.core.suite import Suite
from proctor.engine.run.read_suite import find_dialect
from proctor.errors import DialectError, SuiteError
from proctor.formats.native.dialect import Native
from proctor.formats.native.writer import write_native
from proctor.formats.tau.reader import Tau
from proctor.formats.tau.task import TauTask, unsupported

SOURCE = '''\
USER_TOOLS = ["read_card"]

def renew(state: dict, loan: str, note: str = "") -> str:
    """Renew."""
    state["due"][loan] += 21
    return "ok"

def read_card(state: dict) -> str:
    return "M-1"
'''
NEW = {
    "id": "7",
    "description": {"purpose": "renewing"},
    "user_scenario": {
        "persona": "You are brief.",
        "instructions": {
            "domain": "library",
            "reason_for_call": "You want to renew L-1.",
            "known_info": "Your number is M-1.",
            "unknown_info": "the due date",
            "task_instructions": "If it cannot be done, leave it at that.",
        },
    },
    "ticket": None,
    "initial_state": {
        "initialization_data": {"agent_data": {"due": {"L-2": 1}}, "user_data": None},
        "initialization_actions": [
            {"env_type": "assistant", "func_name": "renew", "arguments": {"loan": "L-2"}}
        ],
        "message_history": None,
    },
    "evaluation_criteria": {
        "actions": [
            {"action_id": "1", "requestor": "user", "name": "read_card", "arguments": {}},
            {"action_id": "2", "name": "renew", "arguments": {"loan": "L-1", "note": "x"},
             "info": None, "compare_args": ["loan"]},
        ],
        "env_assertions": None,
        "communicate_info": ["26"],
        "nl_assertions": ["It is polite."],
        "reward_basis": ["DB", "ACTION", "COMMUNICATE", "NL_ASSERTION"],
    },
}  # fmt: skip
OLD = {
    "user_id": "u1",
    "instruction": "You are M-1 and want to renew L-1.",
    "actions": [{"name": "renew", "kwargs": {"loan": "L-1"}}],
    "outputs": ["26"],
    "annotator": "0",
}


def written(folder: Path, tasks: Any, **files: str) -> Path:
    texts = {"tools.py": SOURCE, "db.json": '{"due": {"L-1": 5}}', "policy.md": "Be kind.\n"}
    texts["tasks.json"] = tasks if isinstance(tasks, str) else json.dumps(tasks, indent=1)
    for name, text in {**texts, **{k.replace("_", "."): v for k, v in files.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def read(folder: Path) -> Suite:
    return Tau().read(folder).suite


def test_tasks_of_both_generations(tmp_path: Path) -> None:
    written(tmp_path, [NEW, OLD])
    assert find_dialect(tmp_path).name == "tau"
    assert find_dialect(tmp_path / "tasks.json").name == "tau"
    new, old = read(tmp_path).cases
    assert (new.id, old.id) == ("7", "task-1")
    assert new.hidden["task"] == (
        "You are brief.\n\nYou want to renew L-1.\n\nYour number is M-1.\n\nYou do not know: the due"
        " date\n\nIf it cannot be done, leave it at that."
    )
    assert [(m.role, m.content) for m in new.messages] == [("system", "Be kind.")]
    assert [tool.name for tool in new.tools] == ["renew"]
    assert new.dialogue.name == "stateful_user"
    assert new.dialogue.params["user_tools"] == ["read_card"]
    assert new.dialogue.params["tools"]["state"] == {"due": {"L-1": 5, "L-2": 1}}
    assert new.dialogue.params["tools"]["actions"] == [
        {"name": "renew", "arguments": {"loan": "L-2"}}
    ]
    assert [(c.id, c.scorer.name) for c in new.criteria] == [
        ("state_equal", "state_equal"), ("actions", "actions"), ("says", "says"), ("judged-1", "judged"),
    ]  # fmt: skip
    assert new.criteria[1].scorer.params["actions"][1] == {
        "name": "renew", "arguments": {"loan": "L-1"}, "by": "assistant",
    }  # fmt: skip
    assert old.hidden["task"] == OLD["instruction"]
    assert [c.id for c in old.criteria] == ["state_equal", "says"]
    assert old.references == ("26",)
    assert read(tmp_path).measures[0].name == "pass^k"


def test_they_can_be_written_as_a_native_suite(tmp_path: Path) -> None:
    suite = read(written(tmp_path, [NEW, OLD]))
    again = Native().read(write_native(suite, tmp_path / "out")).suite
    assert [case_key(case) for case in again.cases] == [case_key(case) for case in suite.cases]


def asserted(*assertions: Any) -> dict[str, Any]:
    basis = ["ENV_ASSERTION", "DB"]
    return {"evaluation_criteria": {"reward_basis": basis, "env_assertions": assertions}}


def history(*messages: Any) -> dict[str, Any]:
    return {"initial_state": {"message_history": messages}}


CHECKED = SOURCE.replace("USER_TOOLS", 'HIDDEN_TOOLS = ["assert_due"]\nUSER_TOOLS') + (
    """
def assert_due(state: dict, loan: str, day: int) -> bool:
    return state["due"].get(loan) == day
"""
)


def test_assertions_by_functions_that_nobody_is_offered(tmp_path: Path) -> None:
    due = {"env_type": "user", "func_name": "assert_due", "arguments": {"loan": "L-1", "day": 26}}
    tasks = [NEW | asserted(due | {"message": "renewed"}, due | {"assert_value": False})]
    written(tmp_path, tasks, tools_py=CHECKED)
    (case,) = read(tmp_path).cases
    assert [tool.name for tool in case.tools] == ["renew"]
    assert case.dialogue.params["user_tools"] == ["read_card"]
    assert [c.id for c in case.criteria] == ["state_equal", "env_assertions"]
    assert case.criteria[1].scorer.name == "state_equal"
    call = {"name": "assert_due", "arguments": {"loan": "L-1", "day": 26}}
    assert case.criteria[1].scorer.params["checks"] == [
        {**call, "gives": True}, {**call, "gives": False},
    ]  # fmt: skip
    uncounted = {"reward_basis": ["DB"], "env_assertions": [{"func_name": "lost"}]}
    (case,) = read(written(tmp_path, [NEW | {"evaluation_criteria": uncounted}])).cases
    assert [c.id for c in case.criteria] == ["state_equal"]


def test_a_history_is_told_and_its_calls_bring_the_state_about(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "Renew L-1 and L-9.", "turn_idx": 0},
        {"role": "assistant", "content": None, "cost": 0.1, "tool_calls": [
            {"id": "a", "name": "renew", "arguments": {"loan": "L-1"}, "requestor": "assistant"},
            {"id": "b", "name": "renew", "arguments": {"loan": "L-9"}, "requestor": "assistant"},
        ]},
        {"role": "tool", "id": "a", "content": "ok", "requestor": "assistant", "error": False},
        {"role": "tool", "id": "b", "content": "no", "requestor": "assistant", "error": True},
        {"role": "assistant", "content": "L-1 is renewed."},
    ]  # fmt: skip
    written(tmp_path, [NEW | history(*said)])
    suite = read(tmp_path)
    (case,) = suite.cases
    assert [(m.role, m.content) for m in case.messages] == [
        ("system", "Be kind."), ("user", "Renew L-1 and L-9."), ("assistant", ""),
        ("tool", "ok"), ("tool", "no"), ("assistant", "L-1 is renewed."),
    ]  # fmt: skip
    assert [call.id for call in case.messages[2].tool_calls] == ["a", "b"]
    assert [m.tool_call_id for m in case.messages[3:5]] == ["a", "b"]
    # The call that failed changed nothing then, and is not made again.
    renewed = [{"name": "renew", "arguments": {"loan": "L-1"}}]
    assert case.dialogue.params["tools"]["actions"] == renewed
    again = Native().read(write_native(suite, tmp_path / "out")).suite
    assert [case_key(one) for one in again.cases] == [case_key(case)]


def test_the_users_own_data(tmp_path: Path) -> None:
    data = {"agent_data": {"due": {"L-2": 1}}, "user_data": {"phone": {"on": False}}}
    tasks = [NEW | {"initial_state": {"initialization_data": data}}]
    (case,) = read(written(tmp_path, tasks)).cases
    state = {"due": {"L-1": 5, "L-2": 1}, "user": {"phone": {"on": False}}}
    assert case.dialogue.params["tools"]["state"] == state
    (tmp_path / "user_db.json").write_text('{"phone": {"on": true, "sim": 1}}', encoding="utf-8")
    (case,) = read(tmp_path).cases
    assert case.dialogue.params["tools"]["state"]["user"] == {"phone": {"on": False, "sim": 1}}
    written(tmp_path, tasks, db_json='{"user": 1}')
    with pytest.raises(SuiteError, match="without 'user'"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ({"user_scenario": {"instructions": 5}}, 2, "instructions"),
        ({"user_scenario": {"instructions": ""}}, 2, "there is no task"),
        ({"evaluation_criteria": {"actions": [{"name": "renw"}]}}, 2, "there is no tool 'renw'"),
        ({"evaluation_criteria": {"actions": [{"name": "renew"}]}}, 2, "'renew' needs 'loan'"),
        ({"evaluation_criteria": {"reward_basis": ["MOOD"]}}, 2, "MOOD"),
        ({"evaluation_criteria": {"reward_basis": ["COMMUNICATE"]}}, 2, "nothing of the reward_basis"),
        (asserted({}), 2, "func_name"),
        (asserted({"func_name": "lost"}), 2, "there is no tool 'lost'"),
        (asserted({"func_name": "read_card"}), 2, "name it in HIDDEN_TOOLS"),
        (history({"role": "user"}), 2, "the user says nothing"),
        (history({"role": "judge", "content": "x"}), 2, "message_history"),
        (history({"role": "user", "content": "x", "tool_calls": [{"name": "read_card"}]}), 2,
         "only the assistant"),
        (history({"role": "user", "tool_calls": [{"name": "read_card", "requestor": "user"}]}), 2,
         "the user calls tools"),
        (history({"role": "assistant", "tool_calls": [{"id": "1", "name": "renew"}]}), 2, "no result"),
        (history({"role": "assistant", "tool_calls": [{"id": "1", "name": "renew"}]},
                 {"role": "tool", "id": "1"}), 2, "'renew' needs 'loan'"),
        ({"initial_state": {"initialization_actions": [{"func_name": "x"}]}}, 2, "no tool 'x'"),
    ],
)  # fmt: skip
def test_every_mistake_has_its_line(tmp_path: Path, change: Any, where: int, words: str) -> None:
    with pytest.raises(SuiteError) as error:
        read(written(tmp_path, [{**NEW, **change}]))
    (problem, *_) = error.value.problems
    assert problem.line is not None
    assert problem.line >= where
    assert Path(problem.file or "").name == "tasks.json"
    assert words in str(problem)


def test_the_files_beside_them_are_checked(tmp_path: Path) -> None:
    for files, name in (
        ({"tools_py": "def f(state, x): ...\n"}, "tools.py"),
        ({"tools_py": SOURCE.replace('"read_card"]', '"lost"]')}, "tools.py"),
        ({"tools_py": CHECKED.replace('"assert_due"]', '"lost"]')}, "tools.py"),
        ({"db_json": "{"}, "db.json"),
    ):
        with pytest.raises(SuiteError) as error:
            read(written(tmp_path, [OLD], **files))
        assert {Path(p.file or "").name for p in error.value.problems} >= {name}
    for tasks in ("[]", "{}", [OLD | {"id": 1}, OLD | {"id": "1"}]):
        with pytest.raises(SuiteError):
            read(written(tmp_path, tasks))
    with pytest.raises(DialectError):
        list(Tau().answers(tmp_path, Suite(name="s", cases=())))


def test_what_is_no_folder_of_tasks(tmp_path: Path) -> None:
    assert not Tau().recognises(tmp_path)
    written(tmp_path, '[{"ask": "x"}]')
    assert not Tau().recognises(tmp_path)
    written(tmp_path, [OLD])
    (tmp_path / "tools.py").unlink()
    assert not Tau().recognises(tmp_path)
    assert list(unsupported(TauTask.model_validate(OLD))) == []
