"""TaskWeaver's own folders, with its evaluator started where its users start it."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from proctor.testing import FakeServer
from proctor.testing.replies import all_text

SHIPPED = Path(__file__).parents[3] / "shared" / "shipped" / "taskweaver"
APP = '''\
"""A stand-in with TaskWeaver's interface: it greets, and says in which project it works."""

import os


class Round:
    def __init__(self, query, reply):
        self.query, self.reply = query, reply

    def to_dict(self):
        plan = [{"id": str(n), "type": kind, "content": "1. greet", "extra": None}
                for n, kind in enumerate(("init_plan", "plan"))]
        posts = [
            {"id": "p1", "message": self.query, "send_from": "User", "send_to": "Planner",
             "attachment_list": []},
            {"id": "p2", "message": self.reply, "send_from": "Planner", "send_to": "User",
             "attachment_list": plan},
        ]
        return {"id": "r", "user_query": self.query, "state": "finished", "post_list": posts}


class Session:
    def __init__(self, app):
        self.workspace = os.path.join(app.app_dir, "workspace")
        self.execution_cwd = os.path.join(self.workspace, str(os.getpid()))
        os.makedirs(self.execution_cwd, exist_ok=True)

    def send_message(self, message, event_handler=None):
        for name in ("a.txt", "b.txt"):
            with open(os.path.join(self.execution_cwd, name), "w") as file:
                file.write("7")
        return Round(message, "Hello World")


class TaskWeaverApp:
    def __init__(self, app_dir=None, config=None):
        if not os.path.exists(os.path.join(app_dir, "taskweaver_config.json")):
            raise RuntimeError("LLM api_key is required")
        self.app_dir = app_dir

    def get_session(self):
        return Session(self)

    def stop(self):
        pass
'''
FIRST = """\
version: 0.1
config_var:
  execution_service.kernel_mode: "local"
app_dir: ../project/
eval_query:
  - user_query: good morning
    scoring_points:
      - score_point: "A plan comes with the reply"
        weight: 1
        eval_code: |-
          return agent_response["attachment_list"][1]['type'] == 'plan'
      - score_point: "The reply is friendly"
        weight: 1
        eval_code: null
    post_index: -1
"""
SECOND = """\
version: 0.1
config_var:
  execution_service.kernel_mode: "local"
app_dir: ../project/
dependencies: []
data_files:
  - rows.csv
pre_command: ["python -c 'print(1)'"]
task_description: |-
  Let the agent greet.
scoring_points:
  - score_point: The reply is a greeting
    weight: 1
    eval_code: |-
      assert isinstance(chat_history[-1], HumanMessage) and chat_history[-1].content == "Hello World"
  - score_point: The reply is friendly
    weight: 2
"""


def user_and_judge(messages: list[Any], body: Any) -> Any:
    if "TASK_FINISHED" in all_text(messages[:1]):
        said = [message for message in messages if message["role"] == "assistant"]
        return "TASK_FINISHED" if said else "Please greet me."
    return json.dumps({"reason": "so it is", "is_hit": "yes"})


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(user_and_judge) as running:
        yield running


@pytest.fixture
def weaver(cli: Any, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Lay the repository out, with its package beside, and stand in ``auto_eval``."""
    package = cli.folder / "site" / "taskweaver" / "app"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "app.py").write_text(APP)
    monkeypatch.syspath_prepend(cli.folder / "site")
    found = {"PYTHONPATH": str(cli.folder / "site")}
    (cli.folder / "project").mkdir()
    (cli.folder / "project" / "taskweaver_config.json").write_text("{}")
    cli.folder = cli.folder / "auto_eval"
    (cli.folder / "cases").mkdir(parents=True)
    config = {
        "llm.api_type": "openai", "llm.api_base": server.url, "llm.api_key": "k",
        "llm.api_version": "place holder", "llm.model": "judge", "virtual_user.max_rounds": 15,
    }  # fmt: skip
    (cli.folder / "evaluator_config.json").write_text(json.dumps(config))

    def run(*args: str, code: int = 0) -> Any:
        with mock.patch.dict(cli.env, found):
            done = cli.here("taskweaver", *args)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done

    return run


def rows(cli: Any, name: str = "sample_case_results.csv") -> list[dict[str, str]]:
    with (cli.folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_cases_of_both_generations_name_the_project_from_where_the_evaluator_is_started(
    weaver: Callable[..., Any], cli: Any, server: FakeServer
) -> None:
    cases = cli.folder / "cases"
    (cases / "say.yaml").write_text(FIRST)
    (cases / "greet").mkdir()
    (cases / "greet" / "greet.yaml").write_text(SECOND)
    (cases / "greet" / "rows.csv").write_text("a\n1\n")
    single = weaver("-m", "single", "-f", "cases/say.yaml", "--agent", "taskweaver:")
    assert "round 0: score 2, normalized 1" in single.stdout
    weaver("-m", "batch", "-f", "./cases")
    assert [(row["case_file"], row["score"]) for row in rows(cli)] == [
        ("greet", "3"),
        ("say.yaml", "2"),
    ]
    cli("plan", "cases", "--agent", "taskweaver:", "--judge", f"openai:j@{server.url}")


def test_a_project_beside_the_case_goes_before_one_beside_the_working_directory(
    weaver: Callable[..., Any], cli: Any
) -> None:
    (cli.folder / "cases" / "say.yaml").write_text(FIRST)
    (cli.folder / "project").mkdir()  # has no settings, and so does not start
    done = weaver("-m", "single", "-f", "cases/say.yaml", code=3)
    assert "LLM api_key is required" in done.stderr


@pytest.mark.slow
def test_an_app_dir_that_is_nowhere_is_told_before_anything_runs(
    weaver: Callable[..., Any], cli: Any, server: FakeServer
) -> None:
    lost = FIRST.replace("../project/", "../elsewhere/")
    (cli.folder / "cases" / "lost.yaml").write_text(lost)
    single = weaver("-m", "single", "-f", "cases/lost.yaml", code=2)
    for tried in (cli.folder / "elsewhere", cli.folder.parent / "elsewhere"):
        assert f"there is no {tried}" in single.stderr
    assert "fix: start from the folder" in single.stderr
    assert weaver("-m", "batch", "-f", "cases", code=2).stderr.count("lost.yaml") >= 1
    assert not server.calls, "nobody was asked"
    assert not (cli.folder / "sample_case_results.csv").exists()
    (cli.folder / "cases" / "say.yaml").write_text(FIRST)
    batch = weaver("-m", "batch", "-f", "cases", code=3)
    assert f"there is no {cli.folder / 'elsewhere'}" in batch.stderr
    assert [row["case_file"] for row in rows(cli)] == ["say.yaml"], "the others go on"
    absolute = FIRST.replace("../project/", "/nowhere/project")
    (cli.folder / "cases" / "lost.yaml").write_text(absolute)
    assert (
        "there is no /nowhere/project"
        in weaver("-m", "single", "-f", "cases/lost.yaml", code=2).stderr
    )


@pytest.mark.slow
def test_other_agents_need_no_project(weaver: Callable[..., Any], cli: Any) -> None:
    (cli.folder / "cases" / "lost.yaml").write_text(FIRST.replace("../project/", "nowhere"))
    (cli.folder / "greeter.py").write_text("def answer(message):\n    return 'Hello'\n")
    weaver("-m", "batch", "-f", "cases", "--agent", "python:greeter:answer")
    assert rows(cli)[0]["case_file"] == "lost.yaml"


@pytest.mark.slow
def test_an_agent_that_cannot_start_is_an_error_and_no_zero(
    weaver: Callable[..., Any], cli: Any, server: FakeServer
) -> None:
    (cli.folder / "cases" / "say.yaml").write_text(FIRST)
    (cli.folder.parent / "project" / "taskweaver_config.json").unlink()
    done = weaver("-m", "batch", "-f", "cases", code=3)
    assert "incomplete: 1 of 1 attempts failed" in done.stdout
    why = "the agent failed: it did not start: it raised RuntimeError: LLM api_key is required"
    assert why in done.stdout
    shown = cli("show", "@last", "say.yaml").stdout
    assert "raise RuntimeError(" in shown, "with its traceback"
    assert rows(cli) == []
    (cli.folder.parent / "project" / "taskweaver_config.json").write_text("{}")
    weaver("-m", "batch", "-f", "cases")
    assert [row["score"] for row in rows(cli)] == ["2"], "the next batch tries again"


@pytest.mark.skipif(not SHIPPED.is_dir(), reason="the original's files are not here")
@pytest.mark.parametrize("generation", ["first", "second"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_the_files_as_they_are_shipped_start_and_finish(
    weaver: Callable[..., Any], cli: Any, server: FakeServer, generation: str
) -> None:
    shutil.rmtree(cli.folder / "cases")
    shutil.copytree(SHIPPED / generation, cli.folder / "cases")
    template = json.loads((cli.folder / "cases" / "evaluator_config_template.json").read_text())
    edited = {"llm.api_type": "openai", "llm.api_base": server.url, "llm.api_key": "k"}
    (cli.folder / "evaluator_config.json").write_text(json.dumps({**template, **edited}))
    weaver("-m", "batch", "-f", "./cases")
    found = rows(cli)
    places = list((cli.folder / "cases").rglob("*.yaml"))
    assert len({row["case_file"] for row in found}) == len(places)
    assert {float(row["normalized_score"]) for row in found} == {1.0}
