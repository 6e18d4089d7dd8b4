"""Agents that misbehave: each costs its own round, says so, and leaves nothing running."""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from proctor.cli import main
from proctor.contracts.agent import Workspace
from proctor.core.rounds import RoundState

from .conftest import Talk

# What a message makes the agent do, and what the report must name.
ACTS = {
    "good": ("echo fine", ""),
    "exit": ("exit 3", "it ended with exit status 3"),
    "killed": ("kill -9 $$", "it was ended by SIGKILL"),
    "crash": ("kill -SEGV $$", "it was ended by SIGSEGV"),
    "last words": ("echo 'no more ideas' >&2; exit 1", "exit status 1: no more ideas"),
    "endless": ("while :; do :; done", "it took longer than the 5 s allowed"),
    "asleep": ("sleep 300", "it took longer than the 5 s allowed"),
    "deaf": ("trap '' TERM INT HUP; while :; do sleep 1; done", "longer than the 5 s allowed"),
    "stopped": ("kill -STOP $$", "longer than the 5 s allowed"),
    "huge": ("yes", "it wrote more than the 1 MiB allowed"),
    "huge line": ("head -c 1000000000 /dev/zero", "it wrote more than the 1 MiB allowed"),
    "huge errors": ("yes >&2", "it wrote more than the 1 MiB allowed"),
    "not utf-8": ("printf '\\377\\376'", "what it wrote is not UTF-8 (at byte 0)"),
    "silent": ("true", "it wrote no reply"),
    "closing": ("exec >&- 2>&-; sleep 0.2", "it wrote no reply"),
    "junk steps": ("echo '{\"reply\": 1, \"steps\": [[]]}'", "step 1: a step is an object or a text"),
    "error": ("echo '{\"error\": \"gave up\"}'", "gave up"),
    "many": (
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 300 & done; wait",
        "it had more than the 10 processes allowed",
    ),
    "daemon": ("(setsid sleep 300 >/dev/null 2>&1 &) ; echo answered", ""),
    "many daemons": ("for i in 1 2 3; do setsid sh -c 'sleep 300 & sleep 300' & done; echo so", ""),
    "rm": ("rm -rf \"$PWD\"; echo gone", ""),
    "replaced": ("cd /; rm -rf \"$OLDPWD\"; ln -s /etc \"$OLDPWD\"; echo linked", ""),
    "locked": ("mkdir d; touch d/f; chmod 000 d . ; echo locked", ""),
    "keeper": ("setsid sleep 300 & kill -9 $PPID; sleep 300", "it ended what watches over it"),
}  # fmt: skip

CRASHES = {"exit", "killed", "crash", "last words", "not utf-8", "junk steps", "keeper"}
"""What is an error: the agent broke, or what it wrote cannot be read."""


@pytest.fixture
def script(here: Path) -> Path:
    lines = ['asked="$(cat)"', 'case "$asked" in']
    for name, (act, _) in ACTS.items():
        lines.append(f"""*'"message":"{name}"'*)\n{act};;""")
    (here / "act.sh").write_text("\n".join([*lines, "esac", ""]))
    cases = "".join(
        f"  - id: {name}\n    ask: {name}\n    dialogue: scripted\n    criteria: [{{contains: fine}}]\n"
        for name in ACTS
    )
    (here / "suite.yaml").write_text(f"name: acts\ncases:\n{cases}")
    return here


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code = main._run(["run", *arguments, "--json", "--cases"])
    out, err = capsys.readouterr()
    assert code == 3, err
    return json.loads(out)


@pytest.mark.slow
def test_a_batch_of_hostile_agents_is_complete(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["timeout=5", "output=1048576", "processes=10", "concurrency=6"]
    chosen = [part for option in options for part in ("--agent-option", option)]
    mode = Path("/etc").stat().st_mode
    made = run(capsys, "suite.yaml", "--agent", "exec:sh act.sh", *chosen)
    assert Path("/etc").stat().st_mode == mode
    assert made["run"]["status"] == "incomplete"
    assert made["totals"]["errors"] == len(CRASHES)
    told = {case["id"]: json.dumps(case) for case in made["cases"]}
    assert told.keys() == ACTS.keys()
    values = {case["id"]: case["value"] for case in made["cases"]}
    assert values == {name: None if name in CRASHES else float(name == "good") for name in ACTS}, (
        "a crash is an error, and what passes a limit is no answer"
    )
    unnamed = {name: told[name] for name, (_, why) in ACTS.items() if why not in told[name]}
    assert unnamed == {}


def test_the_working_folder_is_there_again(talk: Talk, workspace: Workspace) -> None:
    rounds = talk("exec", "one", "two", command="sh -c 'rm -rf \"$PWD\"; echo gone'")
    assert [made.reply for made in rounds] == ["gone", "gone"]


PYTHON = """
import os, signal, sys
def act(message):
    if message == "good":
        return "fine"
    if message == "os._exit":
        os._exit(5)
    if message == "sys.exit":
        sys.exit(6)
    if message == "interrupt":
        raise KeyboardInterrupt
    if message == "close all":
        os.closerange(0, 256)
        signal.pause()
    if message == "recurse":
        return act(message)
    if message == "big":
        return "x" * 3_000_000
    if message == "fork":
        if os.fork() == 0:
            os.setsid()
            os.execvp("sleep", ["sleep", "300"])
        return "forked"
    if message == "lie":
        for fd in range(3, 64):
            try:
                os.write(fd, b"junk\\n")
            except OSError:
                pass
        return "lied"
"""


@pytest.mark.slow
def test_hostile_code_in_its_own_process(here: Path, talk: Talk) -> None:
    (here / "hostile_code.py").write_text(PYTHON)
    wanted = {
        "good": "",
        "os._exit": "it ended with exit status 5",
        "sys.exit": "it ended with exit status 6",
        "interrupt": "it was ended by SIGINT",
        "recurse": "it raised RecursionError",
        "fork": "",
        "close all": "it closed its output",
        "big": "it wrote more than the 1 MiB allowed",
        "lie": "a line that it wrote is no JSON object: 'junk'",
    }
    rounds = talk("python", *wanted, target="hostile_code:act", output=1024 * 1024, timeout=20)
    told = {made.user_query: made.error for made in rounds}
    assert {name: why for name, why in wanted.items() if why not in told[name]} == {}
    assert [made.reply for made in rounds if made.state is RoundState.FINISHED] == [
        "fine",
        "forked",
    ]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("not json", "no JSON object: 'hello'"),
        ("a list", "no JSON object: '[1]'"),
        ("deep", "no JSON object"),
        ("latin", "is not UTF-8"),
        ("end", "it ended with exit status 0"),
    ],
)
def test_hostile_lines(message: str, why: str, here: Path, talk: Talk) -> None:
    (here / "lines.sh").write_text(
        "read line\ncase \"$line\" in\n*'not json'*) echo hello;;\n*'a list'*) echo '[1]';;\n"
        "*deep*) head -c 100000 /dev/zero | tr '\\0' '['; echo;;\n*latin*) printf '{\"\\351\\n';;\nesac\n"
        'case "$line" in *end*) ;; *) sleep 300;; esac\n'
    )
    (made,) = talk("exec", message, command="sh lines.sh", lines=True)
    assert why in made.error


@pytest.fixture
def listener() -> Iterator[tuple[int, list[int]]]:
    """Count who calls on loopback."""
    calls: list[int] = []
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.05)
        going = [True]

        def count() -> None:
            while going:
                with suppress(TimeoutError):
                    server.accept()[0].close()
                    calls.append(1)

        thread = Thread(target=count)
        thread.start()
        yield server.getsockname()[1], calls
        going.clear()
        thread.join()


SANDBOXED: dict[str, Callable[[Path, int], str]] = {
    "network": lambda _, port: f"import socket; socket.create_connection(('127.0.0.1', {port}))",
    "shadow": lambda *_: "print(open('/etc/shadow').read())",
    "outside": lambda here, _: f"open({str(here / 'there' / 'outside.txt')!r}, 'w').write('x')",
    "etc": lambda *_: "open('/etc/proctor-was-here', 'w').write('x')",
    "shared": lambda here, _: f"print(open({str(here / 'there' / 'mine.txt')!r}).read())",
    "signals": lambda *_: f"import os; os.kill({os.getpid()}, {int(signal.SIGUSR1)})",
}


@pytest.mark.parametrize("name", SANDBOXED)
@pytest.mark.slow
def test_what_only_the_sandbox_contains(
    name: str, here: Path, talk: Talk, listener: tuple[int, list[int]]
) -> None:
    port, calls = listener
    (here / "there").mkdir()
    (here / "there" / "mine.txt").write_text("mine")
    (here / "boxed.py").write_text(SANDBOXED[name](here, port))
    (made,) = talk("exec", "hi", command=f"{sys.executable} boxed.py", sandboxed=True)
    assert made.error.startswith("it ended with exit status 1: ")
    assert "Error" in made.error
    assert calls == []
    assert [path.name for path in (here / "there").iterdir()] == ["mine.txt"]
    assert not Path("/etc/proctor-was-here").exists()


@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("bomb() { bomb | bomb & }; bomb; sleep 300", "it had more processes than allowed"),
        ("yes", "it wrote more"),
        ("yes > file", "it wrote more to its disk than allowed"),
        ("ln -s /etc/passwd p; mkdir -m 000 d; rm -f data; echo left", ""),
        ("(setsid sleep 300 &); echo away", ""),
    ],
)
@pytest.mark.slow
def test_limits_of_the_sandbox(
    act: str, why: str, here: Path, talk: Talk, workspace: Workspace
) -> None:
    (here / "act.sh").write_text(act)
    (workspace.folder / "data").write_text("x")
    (made,) = talk("exec", "hi", command="sh act.sh", sandboxed=True, timeout=30, output=65536)
    # A shell that may fork no more may end by itself before anybody looks.
    assert why in made.error or ("bomb" in act and "Cannot fork" in made.error)
    assert bool(why) is (made.state is RoundState.FAILED)
    if "ln -s" in act:
        assert [path.name for path in workspace.folder.iterdir()] == []
