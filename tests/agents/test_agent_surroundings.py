"""Where agents look for things: not in the folder that the files of a case lie in."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.agent import Workspace
from proctor.core.suite import Spec

from .conftest import Talk

AGENT = "import os\nimport helper\ndef answer(message):\n    return helper.NAME\n"
TRAP = "raise SystemExit('a file of the case was imported')\n"


@pytest.fixture(autouse=True)
def folders(here: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay an agent where Proctor was started, and files of a case in its working folder."""
    (here / "my_agent.py").write_text(AGENT)
    (here / "helper.py").write_text("NAME = 'the right one'\n")
    for name in ("json", "os", "re", "helper", "my_agent", "sitecustomize", "encodings"):
        (workspace.folder / f"{name}.py").write_text(TRAP)
    for name in ("cat", "my-tool", "python", "sh"):
        (workspace.folder / name).write_text("#!/bin/sh\necho a program of the case\n")
        (workspace.folder / name).chmod(0o755)
    # A slip that many have: an empty entry means the folder that a process works in.
    monkeypatch.setenv("PATH", f":{os.environ['PATH']}:.")
    monkeypatch.setenv("PYTHONPATH", f":/nowhere:lib:{os.environ.get('PYTHONPATH', '')}:.")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":")


@pytest.mark.parametrize("in_process", [False, True])
def test_python_agents_import_from_where_proctor_was_started(talk: Talk, in_process: bool) -> None:
    before = list(sys.path)
    (said,) = talk("python", "hello", target="my_agent:answer", in_process=in_process)
    assert (said.reply, said.error) == ("the right one", "")
    if not in_process:
        assert sys.path == before
    sys.path[:] = before
    for name in ("my_agent", "helper"):
        sys.modules.pop(name, None)


def test_an_agent_in_this_process_replaces_no_installed_module(here: Path, talk: Talk) -> None:
    (here / "tomllib.py").write_text(TRAP)
    sys.modules.pop("tomllib", None)
    before = list(sys.path)
    talk("python", "hello", target="my_agent:answer", in_process=True)
    import tomllib

    assert str(here) not in str(tomllib.__file__)
    sys.path[:] = before
    for name in ("my_agent", "helper"):
        sys.modules.pop(name, None)


def test_a_folder_of_the_persons_path_is_meant_from_where_they_are(here: Path, talk: Talk) -> None:
    (here / "helper.py").unlink()
    (here / "lib").mkdir()
    (here / "lib" / "helper.py").write_text("NAME = 'from the folder lib'\n")
    (said,) = talk("python", "hello", target="my_agent:answer")
    assert said.reply == "from the folder lib"


def test_commands_are_the_machines(talk: Talk) -> None:
    (said,) = talk("exec", "hello", command="sh -c 'command -v cat'")
    assert said.reply == str(Path(said.reply or "").absolute())
    assert said.reply.endswith("/bin/cat")


def test_an_interpreter_is_named_from_where_proctor_was_started(
    here: Path, workspace: Workspace, talk: Talk
) -> None:
    for place in (here, workspace.folder):
        (place / "env").mkdir()
    (here / "env" / "python").symlink_to(sys.executable)
    (workspace.folder / "env" / "python").write_text("#!/bin/sh\necho a program of the case\n")
    (workspace.folder / "env" / "python").chmod(0o755)
    (said,) = talk("python", "hello", target="my_agent:answer", interpreter="env/python")
    assert (said.reply, said.error) == ("the right one", "")


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"command": "cat notes.txt"}, "notes.txt is a link that leads out"),
        ({"command": "cat inner/notes.txt"}, "inner/notes.txt is a link that leads out"),
        ({"command": "cat", "needs": ["notes.txt"]}, "notes.txt is a link that leads out"),
        ({"command": "cat", "needs": ["inner"]}, "inner is a link that leads out"),
        ({"command": "cat own.txt within.txt ../private/key"}, ""),
    ],
)
def test_a_link_out_is_not_shown_in_a_sandbox(
    here: Path, monkeypatch: pytest.MonkeyPatch, params: dict[str, Any], told: str
) -> None:
    suite, private = here / "suite", here / "private"
    suite.mkdir()
    private.mkdir()
    (private / "key").write_text("a key")
    (private / "notes.txt").write_text("a note")
    (suite / "notes.txt").symlink_to(private / "key")
    (suite / "inner").symlink_to(private)
    (suite / "own.txt").write_text("own")
    (suite / "within.txt").symlink_to("own.txt")
    monkeypatch.chdir(suite)
    built = registry.build("candidate", Spec(name="exec", params={**params, "sandboxed": True}))
    found = [problem for problem in built.problems() if "link" in problem]
    assert [problem[: len(told)] for problem in found] == ([told] if told else [])
