"""Agents that are commands: one process for each turn, or one for a session."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proctor import registry
from proctor.contracts.agent import Workspace
from proctor.core.rounds import RoundState
from proctor.core.suite import Spec
from proctor.errors import ModelError
from waiting import until

from .conftest import Talk, agent, carrying

ECHO = """
import json, sys
asked = json.load(sys.stdin)
made = {"reply": f"{asked['turn']} {len(asked['history'])} {asked['case']} {asked['message']}"}
made["session"] = asked["session"] if asked["turn"] else "mine"
if asked["turn"]:
    made["reply"] += " " + asked["session"]
print(json.dumps(made))
"""
LINES = """
import json, sys
heard = []
for line in sys.stdin:
    heard.append(json.loads(line)["message"])
    print(json.dumps({"step": {"tool": "memory", "input": len(heard)}}), flush=True)
    print(json.dumps({"reply": " ".join(heard), "usage": {"calls": 2}}), flush=True)
with open("over.txt", "w") as file:
    file.write("over")
"""


def python(here: Path, name: str, code: str) -> str:
    (here / name).write_text(code)
    return f"{sys.executable} {name}"


def test_a_process_for_each_turn(here: Path, talk: Talk) -> None:
    rounds = talk("exec", "one", "two", command=python(here, "echo.py", ECHO))
    assert [made.reply for made in rounds] == ["0 0 c1 one", "1 2 c1 two mine"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("printf ' plain text\\n'", "plain text"),
        ("printf '{\"a\": 1}'", '{"a": 1}'),
        ("echo '[1, 2]'", "[1, 2]"),
        ("sh -c 'cat data.txt > copy.txt; pwd >/dev/null; cat copy.txt'", "from the case"),
    ],
)
def test_texts_are_replies_too(command: str, said: str, talk: Talk, workspace: Workspace) -> None:
    (workspace.folder / "data.txt").write_text("from the case")
    (made,) = talk("exec", "hi", command=command)
    assert (made.reply, made.error) == (said, "")
    assert made.seconds is not None


def test_one_process_for_a_session(here: Path, talk: Talk, workspace: Workspace) -> None:
    rounds = talk("exec", "one", "two", command=python(here, "lines.py", LINES), lines=True)
    assert [made.reply for made in rounds] == ["one", "one two"]
    assert [post.message for post in rounds[1].posts] == ["two", "2", "one two"]
    assert rounds[1].usage.calls == 2
    assert (workspace.folder / "over.txt").read_text() == "over"


def test_what_is_left_running_lives_until_the_session_ends(here: Path, talk: Talk) -> None:
    code = "sh -c 'if [ -e pid ]; then kill -0 $(cat pid) && echo alive;"
    code += " else sleep 300 & echo $! > pid; echo begun; fi'"
    rounds = talk("exec", "one", "two", command=code)
    assert [made.reply for made in rounds] == ["begun", "alive"]


def test_a_command_that_is_not_there() -> None:
    made = registry.build("candidate", Spec(name="exec", params={"command": "no-such-program x"}))
    assert list(made.problems()) == ["there is no program 'no-such-program'"]
    made = registry.build("candidate", Spec(name="exec", params={"command": "echo 'x"}))
    assert "its quotes do not match" in next(iter(made.problems()))


def test_a_program_that_cannot_start_is_no_fault_of_the_agent(here: Path, talk: Talk) -> None:
    (here / "tool").write_text("not a program")
    (here / "tool").chmod(0o755)
    with pytest.raises(ModelError, match="Exec format error"):
        talk("exec", "hi", command="./tool")


def test_a_changed_script_is_another_agent(here: Path) -> None:
    command = python(here, "echo.py", ECHO)
    before = agent("exec", command=command).identity
    assert agent("exec", command=command).identity == before
    assert agent("exec", command=command, lines=True).identity != before
    (here / "echo.py").write_text(ECHO + "\n")
    assert agent("exec", command=command).identity != before


def test_a_sandboxed_command_has_its_files_and_nothing_else(
    here: Path, talk: Talk, workspace: Workspace
) -> None:
    secret = here / "secret.txt"
    secret.write_text("mine")
    (workspace.folder / "data.txt").write_text("from the case")
    script = "import json, os, sys\nasked = json.load(sys.stdin)\n"
    script += f"seen = os.path.exists({str(secret)!r}), 'A_KEY' in os.environ\n"
    script += "open('made.txt', 'a').write('x')\nos.makedirs('deep/er', exist_ok=True)\n"
    script += "open('deep/er/f', 'w').write('y')\n"
    script += "text = open('data.txt').read() + ' ' + open('made.txt').read()\n"
    script += "print(json.dumps({'reply': f'{text} {seen} {len(asked[\"history\"])}'}))\n"
    command = python(here, "boxed.py", script)
    rounds = talk("exec", "one", "two", command=command, sandboxed=True)
    assert [made.error for made in rounds] == ["", ""]
    assert [made.reply for made in rounds] == [
        "from the case x (False, False) 0",
        "from the case xx (False, False) 2",
    ]
    names = sorted(p.relative_to(workspace.folder).as_posix() for p in workspace.folder.rglob("*"))
    assert names == ["data.txt", "deep", "deep/er", "deep/er/f", "made.txt"]


def test_sandboxed_and_lines_exclude_each_other() -> None:
    params = {"command": "cat", "lines": True, "sandboxed": True, "env": {"A": "b"}}
    found = list(registry.build("candidate", Spec(name="exec", params=params)).problems())
    assert len([text for text in found if "mutually exclusive" in text]) == 2


def test_a_cancelled_turn_leaves_nothing(here: Path, workspace: Workspace) -> None:
    async def hold() -> None:
        session = await agent("exec", command="sh -c 'sleep 300 & sleep 300'").open(workspace)
        turn = asyncio.ensure_future(session.send("hi"))
        await asyncio.sleep(0.3)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await session.close()

    asyncio.run(hold())


@pytest.mark.slow
def test_a_time_limit_fails_the_round_and_the_next_one_begins_anew(here: Path, talk: Talk) -> None:
    (here / "slow.sh").write_text(
        "while read line; do\n"
        'case "$line" in *\'"message":"slow"\'*) sleep 300;; esac\n'
        'echo \'{"reply": "ok"}\'\n'
        "done\n"
    )
    rounds = talk("exec", "slow", "quick", command=f"sh {here}/slow.sh", lines=True, timeout=4)
    assert rounds[0].state is RoundState.FAILED
    assert rounds[0].error == "it took longer than the 4 s allowed"
    assert rounds[1].reply == "ok"


ALONE = """
import asyncio
from pathlib import Path
from proctor.agents.command import Command
from proctor.contracts.agent import Workspace
from proctor.core.suite import Case

async def hold():
    agent = Command(command="sh -c 'setsid sleep 300 & sleep 300 & echo > begun; wait'")
    case = Case(id="c", messages=(), criteria=())
    session = await agent.open(Workspace(case=case, index=0, folder=Path("work").resolve()))
    await session.send("hi")

asyncio.run(hold())
"""


def test_nothing_outlives_a_killed_proctor(here: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ALONE], cwd=here) as started:
        until((here / "work" / "begun").exists)
        mark = os.environ["PROCTOR_TEST_OF_AGENTS"]
        until(lambda: len(carrying(mark)) >= 4)
        started.kill()
    until(lambda: not carrying(mark))
