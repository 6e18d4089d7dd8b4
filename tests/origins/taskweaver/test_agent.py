"""TaskWeaver as an agent, by a stand-in package that has its interface."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.agent import Workspace
from proctor.core.suite import Spec
from proctor.errors import ModelError

from .conftest import Talk, agent

APP = """
import os, json

class Round:
    def __init__(self, query, reply, state):
        self.query, self.reply, self.state = query, reply, state
    def to_dict(self):
        posts = [{"id": "p1", "message": self.query, "send_from": "User", "send_to": "Planner", "attachment_list": []}]
        if self.state == "finished":
            posts.append({"id": "p2", "message": self.reply, "send_from": "Planner", "send_to": "User",
                          "attachment_list": [{"id": "a1", "type": "plan", "content": "1. say it", "extra": None}]})
        return {"id": "r1", "user_query": self.query, "state": self.state, "post_list": posts}

class Session:
    def __init__(self, app):
        self.app, self.session_id = app, "s1"
        self.workspace = os.path.join(app.app_dir, "workspace", "sessions", self.session_id)
        self.execution_cwd = os.path.join(self.workspace, "cwd")
        os.makedirs(self.execution_cwd, exist_ok=True)
        self.turns = 0
    def send_message(self, message, event_handler=None):
        print("noise of the app")
        self.turns += 1
        with open(os.path.join(self.execution_cwd, "out.txt"), "w") as file:
            file.write(message)
        if message == "break":
            raise RuntimeError("the kernel died")
        state = "failed" if message == "fail" else "finished"
        names = sorted(os.listdir(self.execution_cwd))
        if message == "keys":
            return Round(message, json.dumps([os.environ.get("LLM_API_KEY"), os.environ.get("HOME_CITY")]), state)
        told = json.dumps([self.turns, self.app.config, names, os.path.basename(self.app.app_dir)])
        return Round(message, told, state)

class TaskWeaverApp:
    def __init__(self, app_dir=None, config=None):
        self.app_dir, self.config = os.path.abspath(app_dir), config
    def get_session(self):
        return Session(self)
    def stop(self):
        with open(os.path.join(self.app_dir, "stopped"), "w") as file:
            file.write("yes")
"""


@pytest.fixture
def installed(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = here / "site" / "taskweaver"
    (package / "app").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "app" / "__init__.py").write_text("")
    (package / "app" / "app.py").write_text(APP)
    monkeypatch.syspath_prepend(here / "site")
    monkeypatch.setenv("PYTHONPATH", str(here / "site"))
    (here / "project").mkdir()
    return here


def with_setup(workspace: Workspace, **setup: Any) -> Workspace:
    return replace(workspace, case=replace(workspace.case, setup=setup))


def held(workspace: Workspace, messages: list[str], **params: Any) -> list[Any]:
    async def hold() -> list[Any]:
        session = await agent("taskweaver", **params).open(workspace)
        try:
            return [await session.send(message) for message in messages]
        finally:
            await session.close()

    return asyncio.run(hold())


def test_an_app_is_examined_in_one_session(installed: Path, workspace: Workspace) -> None:
    (workspace.folder / "data.csv").write_text("a,b")
    case = with_setup(workspace, config_var={"session.roles": ["planner"]})
    rounds = held(case, ["one", "fail", "break", "two"], app_dir="project", config={"x": 1})
    config = '{"session.roles": ["planner"], "x": 1}'
    assert rounds[0].reply == f'[1, {config}, ["data.csv", "out.txt"], "project"]'
    assert rounds[0].posts[-1].attachments[0].content == "1. say it"
    assert rounds[1].error == "the round is failed"
    assert rounds[2].error.startswith("it raised RuntimeError: the kernel died")
    assert rounds[3].reply is not None
    assert rounds[3].reply.startswith("[4,")
    assert sorted(path.name for path in workspace.folder.iterdir()) == ["data.csv", "out.txt"]
    assert (workspace.folder / "out.txt").read_text() == "two"
    assert (installed / "project" / "stopped").read_text() == "yes"


def test_a_case_may_name_its_own_project(installed: Path, workspace: Workspace) -> None:
    case = with_setup(
        workspace, app_dir=str(installed / "project"), config_var={"llm.api_base": "x"}
    )
    (made,) = held(case, ["one"])
    assert made.reply.endswith('"project"]')


def test_a_case_does_not_say_where_keys_are_sent(installed: Path, workspace: Workspace) -> None:
    case = with_setup(workspace, config_var={"llm.api_base": "http://elsewhere"})
    with pytest.raises(ModelError, match=r"sets llm\.api_base, which says where keys are sent"):
        held(case, ["one"], app_dir="project")


ELSEWHERE = {"llm.api_base": "https://elsewhere.example/v1"}
OWN = {**ELSEWHERE, "llm.api_key": "key of the case"}


@pytest.mark.parametrize("named_by", ["case", "project"])
@pytest.mark.slow
def test_the_environment_s_key_does_not_go_where_a_case_says(
    installed: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-canary-1234")
    monkeypatch.setenv("HOME_CITY", "Paris")
    file = installed / "project" / "taskweaver_config.json"

    def case(settings: dict[str, str]) -> Workspace:
        if named_by == "project":
            file.write_text(json.dumps(settings))
            return with_setup(workspace, app_dir=str(installed / "project"))
        return with_setup(workspace, app_dir=str(installed / "project"), config_var=settings)

    # Nothing names an address: the key is TaskWeaver's to use.
    assert held(case({}), ["keys"])[0].reply == '["sk-canary-1234", "Paris"]'
    with pytest.raises(ModelError, match=r"llm\.api_base.*environment holds the key.*APP_DIR"):
        held(case(ELSEWHERE), ["keys"])
    with pytest.raises(ModelError, match="the agent's config holds the key"):
        held(case(OWN), ["keys"], config={"llm.api_key": "mine"})
    # Whoever names both gets neither of ours.
    assert held(case(OWN), ["keys"])[0].reply == '[null, "Paris"]'
    # The person's own address, or project, is the person's word.
    mine = {"llm.api_base": "http://127.0.0.1:1/v1"}
    assert held(case(OWN), ["keys"], config=mine)[0].reply == '["sk-canary-1234", "Paris"]'
    if named_by == "project":
        made = held(workspace, ["keys"], app_dir="project")
        assert made[0].reply == '["sk-canary-1234", "Paris"]'


def test_a_case_without_a_project_is_told(installed: Path, workspace: Workspace) -> None:
    with pytest.raises(ModelError, match="names no app_dir"):
        held(workspace, ["one"])


def test_check_finds_the_package(installed: Path) -> None:
    asyncio.run(agent("taskweaver", app_dir="project").check())


def test_the_settings_of_a_project_are_part_of_who_it_is(installed: Path) -> None:
    before = agent("taskweaver", app_dir="project", config={"llm.api_key": "s3cret"}).identity
    assert "s3cret" not in str(before)
    (installed / "project" / "taskweaver_config.json").write_text("{}")
    made = agent("taskweaver", app_dir="project", config={"llm.api_key": "s3cret"})
    assert made.identity != before


def test_without_the_package_it_is_said_how_to_get_it(here: Path, talk: Talk) -> None:
    made = registry.build("candidate", Spec(name="taskweaver", params={"app_dir": "nowhere"}))
    found = list(made.problems())
    assert "pip install -e TaskWeaver" in found[0]
    assert found[1] == "there is no TaskWeaver project 'nowhere'"
    (here / "project").mkdir()
    with pytest.raises(ModelError, match="taskweaver cannot be imported"):
        asyncio.run(made.__class__(app_dir="project").check())
