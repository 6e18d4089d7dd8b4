"""The container tier: the contract of every sandbox, kept by docker or podman.

It runs where there is the image that .ci/container_image makes.
"""

import asyncio
import subprocess
from typing import Any

import pytest

from needs import IMAGE
from proctor.contracts.scorer import ScoreContext
from proctor.core.program import MIB, SECRET, Limits, Program, Ran, Step
from proctor.sandboxes import container
from proctor.sandboxes.container import Container
from proctor.sandboxes.container_engine import find_engine
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests

PYTHON = (Step(argv=("python3", "main.py")),)


def program(code: str, **given: Any) -> Program:
    limits = Limits(**{"wall": 20, **given.pop("limits", {})})
    return Program(
        **{"steps": PYTHON, "files": {"main.py": code.encode()}, "limits": limits, **given}
    )


def run(code: str, **given: Any) -> Ran:
    return asyncio.run(Container(image=IMAGE).run(program(code, **given)))


def left_over() -> str:
    engine = find_engine()
    assert engine is not None
    argv = [engine, "ps", "--all", "--quiet", "--filter", "name=proctor-"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.mark.alone
@pytest.mark.container
def test_it_works_here() -> None:
    assert list(Container(image=IMAGE).problems()) == []


@pytest.mark.alone
@pytest.mark.container
@pytest.mark.parametrize(
    ("code", "limits", "expected"),
    [
        ("print('x')", {}, (0, True, None)),
        ("raise SystemExit(3)", {}, (3, False, None)),
        ("import os; os.kill(os.getpid(), 9)", {}, (-9, False, None)),
        ("import os; os.kill(1, 9)", {}, (0, True, None)),
        ("import time; time.sleep(60)", {"wall": 1}, (None, False, "time")),
        ("while True: pass", {"cpu": 1.0, "wall": 100}, (None, False, "cpu")),
        ("a = bytearray(3 * 10**9)", {"memory": 200 * MIB}, (None, False, "memory")),
        # Those that are refused go on trying, so that somebody sees them all at once.
        (
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
            {"processes": 20},
            (None, False, "processes"),
        ),
        ("while True: print('x' * 1000)", {"output": 100_000}, (None, False, "output")),
        ("open('a', 'wb').write(b'x' * 10**7)", {"disk": 4 * MIB}, (None, False, "disk")),
        ("open('a', 'wb').write(b'x' * 10**7)", {"file_size": MIB}, (1, False, None)),
    ],
)
def test_limits(
    code: str, limits: dict[str, Any], expected: tuple[int | None, bool, str | None]
) -> None:
    ran = run(code, limits=limits)
    assert (ran.code, ran.finished, ran.stopped) == expected, ran
    assert left_over() == ""


@pytest.mark.alone
@pytest.mark.container
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import os; print(os.getuid(), os.getcwd())", "65534 /sandbox\n"),
        ("import os; print(sorted(os.environ))", "['HOME', 'LANG', 'PATH', 'TMPDIR']\n"),
        ("import os; print(sorted(os.listdir('/sys/class/net')))", "['lo']\n"),
        ("open('/etc/x', 'w')", "Read-only file system"),
        ("open('/proctor/supervise.py', 'w')", "Read-only file system"),
        ("import socket; socket.create_connection(('192.0.2.1', 9), 2)", "unreachable"),
        ("print(open('/proc/1/environ').read())", "Permission denied"),
        ("import os; print(os.listdir('/home'))", "[]\n"),  # the image's, not this machine's
    ],
)
def test_what_a_program_sees(code: str, says: str) -> None:
    ran = run(code)
    assert says in ran.stdout + ran.stderr, ran


@pytest.mark.alone
@pytest.mark.container
def test_files_steps_input_and_secret() -> None:
    ran = run(
        f"import sys; open('out', 'w').write(sys.stdin.read()); print('{SECRET}')",
        stdin=b"given",
        keep=("out",),
        steps=(*PYTHON, Step(argv=("python3", "-c", "print(2)"), hide=("main.py",))),
    )
    assert (ran.finished, ran.proved, ran.stdout) == (True, True, "2\n")
    assert ran.files == {"out": b"given"}


@pytest.mark.alone
@pytest.mark.container
def test_output_is_cut_in_the_middle() -> None:
    ran = run("print('a' * 100_000 + 'z')")
    assert ran.stdout.startswith("aaa")
    assert ran.stdout.endswith("az\n")
    assert "bytes left out" in ran.stdout


@pytest.mark.alone
@pytest.mark.container
def test_what_runs_in_the_background_ends_with_the_program() -> None:
    ran = run("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)")
    assert ran.finished
    assert ran.seconds < 30
    assert left_over() == ""


@pytest.mark.alone
@pytest.mark.container
def test_a_cancelled_run_leaves_nothing_behind() -> None:
    async def cancel() -> None:
        running = asyncio.ensure_future(
            Container(image=IMAGE).run(program("import time; time.sleep(60)"))
        )
        while not left_over():
            await asyncio.sleep(0.1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    assert left_over() == ""


@pytest.mark.alone
@pytest.mark.container
def test_a_unit_test_is_judged() -> None:
    scorer = UnitTests(tests=(UnitTest(content="assert f(1) == 2"), UnitTest(content="f(0) / 0")))
    given = ScoreContext.of("def f(x):\n    return x + 1")
    ctx = ScoreContext(case=given.case, attempt=given.attempt, sandbox=Container(image=IMAGE))
    made = asyncio.run(scorer.score(ctx))
    assert (made.points, made.out_of) == (1.0, 2.0)
    assert "ZeroDivisionError" in made.reason


def test_an_image_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "find_engine", lambda: "/usr/bin/false")
    trial = container.trial.__wrapped__
    assert trial("no/such") == "the image no/such cannot be run: no message"


def test_without_an_engine_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "find_engine", lambda: None)
    assert list(Container().problems()) == ["neither docker nor podman is installed"]
