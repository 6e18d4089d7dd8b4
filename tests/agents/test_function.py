"""Agents that are Python code, in a process of their own and in ours."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.launchers.proctor_calling import is_factory
from proctor.contracts.agent import Workspace
from proctor.errors import ModelError

from .conftest import Talk, agent

CODE = """
import os

def plain(message):
    print("this goes nowhere near the reply")
    return message.upper()

async def waiting(message, history, turn):
    return f"{turn}:{len(history)}:{message}"

def parts(message):
    yield "a "
    yield message

def full(message, folder, case):
    with open("left.txt", "w") as file:
        file.write(message)
    tool = {"tool": "t", "input": 1, "output": 2}
    return {"reply": f"{case} {os.path.samefile(folder, '.')}", "steps": [tool]}

def unwritable(message):
    return {"reply": object()}

class Session:
    def __init__(self, folder):
        self.folder, self.heard = folder, []
    async def send(self, message):
        self.heard.append(message)
        return " ".join(self.heard)
    def close(self):
        with open(os.path.join(self.folder, "closed.txt"), "w") as file:
            file.write("bye")

def make(session="", **_):
    made = Session(_["folder"])
    return made

async def make_later():
    class Inner:
        def send(self, text):
            return text[::-1]
    return Inner()

def makes_nothing():
    return 5

def environment(message):
    return os.environ.get(message, "unset")
"""


@pytest.fixture(autouse=True)
def code(here: Path) -> None:
    (here / "coded_agents.py").write_text(CODE)


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("waiting", ["0:0:one", "1:2:two"]),
        ("Session", ["one", "one two"]),
        ("make", ["one", "one two"]),
    ],
)
def test_all_kinds_of_code_answer(name: str, said: list[str], in_process: bool, talk: Talk) -> None:
    rounds = talk("python", "one", "two", target=f"coded_agents.py:{name}", in_process=in_process)
    assert [made.reply for made in rounds] == said
    assert [made.error for made in rounds] == ["", ""]


@pytest.mark.parametrize(
    ("name", "said"),
    [("plain", "ONE"), ("parts", "a one"), ("make_later", "eno")],
)
def test_all_kinds_of_code_answer_here(name: str, said: str, talk: Talk) -> None:
    (made,) = talk("python", "one", target=f"coded_agents.py:{name}", in_process=True)
    assert made.reply == said


def test_an_agent_works_in_its_folder_and_its_prints_reach_nobody(
    talk: Talk, workspace: Workspace
) -> None:
    (made,) = talk("python", "hi", target="coded_agents:full")
    assert made.reply == "c1 True"
    assert [post.send_to for post in made.posts] == ["Planner", "t", "Planner", "User"]
    assert (workspace.folder / "left.txt").read_text() == "hi"
    assert talk("python", "hi", target="coded_agents:plain")[0].reply == "HI"


def test_a_session_is_told_that_it_is_over(talk: Talk, workspace: Workspace) -> None:
    talk("python", "hi", target="coded_agents:Session")
    assert (workspace.folder / "closed.txt").read_text() == "bye"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("unwritable", "cannot be written as JSON"),
        ("makes_nothing", "the factory gave a int that has no send"),
    ],
)
def test_what_is_no_answer_fails_the_round(name: str, why: str, talk: Talk) -> None:
    (made,) = talk("python", "hi", target=f"coded_agents:{name}")
    assert why in made.error


@pytest.mark.parametrize("in_process", [False, True])
def test_keys_and_more_are_in_the_environment(
    in_process: bool, talk: Talk, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "s3cret")
    rounds = talk(
        "python", "A_KEY", "OTHER", "NONE", target="coded_agents.py:environment",
        in_process=in_process, env={"OTHER": "$A_KEY"},
    )  # fmt: skip
    assert [made.reply for made in rounds] == ["s3cret", "s3cret", "unset"]
    assert "OTHER" not in os.environ


@pytest.mark.parametrize(
    ("target", "why", "in_process"),
    [
        ("no_such_module:agent", "No module named 'no_such_module'", False),
        ("no_such_module:agent", "No module named 'no_such_module'", True),
        ("coded_agents:nobody", "has no 'nobody'", True),
        ("coded_agents:os.name", "can neither be called nor sent a message", True),
    ],
)
def test_code_that_is_not_there_is_told_before_a_run(
    target: str, why: str, in_process: bool
) -> None:
    with pytest.raises(ModelError, match=why):
        asyncio.run(agent("python", target=target, in_process=in_process).check())


def test_a_changed_agent_is_another_one(here: Path) -> None:
    before = agent("python", target="coded_agents:plain").identity
    assert agent("python", target="coded_agents:plain").identity == before
    (here / "coded_agents.py").write_text(CODE + "\n")
    assert agent("python", target="coded_agents:plain").identity != before


def test_a_package_is_hashed_as_a_whole(here: Path) -> None:
    (here / "packaged").mkdir()
    (here / "packaged" / "__init__.py").write_text("")
    (here / "packaged" / "main.py").write_text("from packaged import part\n")
    (here / "packaged" / "part.py").write_text("x = 1\n")
    before = agent("python", target="packaged.main:answer").identity
    (here / "packaged" / "part.py").write_text("x = 2\n")
    assert agent("python", target="packaged.main:answer").identity != before


def test_secrets_are_not_in_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "s3cret")
    made = agent("python", target="coded_agents:plain", env={"X": "$A_KEY", "Y": "s3cret"})
    assert "s3cret" not in str(made.identity) + made.label


def _factories() -> list[tuple[Any, bool]]:
    def message_only(message: str) -> None: ...
    def other_name(said: str) -> None: ...
    def optional(message: str = "") -> None: ...
    def nothing() -> None: ...
    def context(folder: str, case: str) -> None: ...
    def setting(model: str = "x") -> None: ...
    def several(*words: str) -> None: ...

    return [
        (message_only, False), (other_name, False), (optional, False), (several, False),
        (nothing, True), (context, True), (setting, True), (dict, True),
    ]  # fmt: skip


@pytest.mark.parametrize(("found", "wanted"), _factories())
def test_factories_are_told_from_functions(found: Any, wanted: bool) -> None:
    assert is_factory(found) is wanted
