"""Whether a program was started is told by the sandbox alone, and not by what the program does."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from proctor.core.program import Limits, Program, Ran, Step
from proctor.errors import SandboxError
from proctor.sandboxes import supervisor_job as processes
from proctor.sandboxes.bubblewrap import Bubblewrap

pytestmark = pytest.mark.sandbox
MAKES = "python3", "-c"


def run(*steps: Step, **given: Any) -> Ran:
    return asyncio.run(Bubblewrap().run(Program(steps=steps, limits=Limits(wall=20), **given)))


def warm(*texts: str) -> tuple[list[Ran | None], Bubblewrap]:
    async def work() -> tuple[list[Ran | None], Bubblewrap]:
        sandbox = Bubblewrap()
        try:
            return [await sandbox.run_python(program(text)) for text in texts], sandbox
        finally:
            await sandbox.close()

    return asyncio.run(work())


def program(text: str, **given: Any) -> Program:
    files = {"main.py": text.encode()}
    return Program(
        steps=(Step(argv=("python3", "main.py")),), files=files, limits=Limits(wall=20), **given
    )


@pytest.mark.parametrize("status", [1, 2, 95, 96, 97, 125, 126, 127, 128, 255])
@pytest.mark.sampled(3)
def test_no_status_says_that_a_program_was_not_started(status: int) -> None:
    say = "import os; os.write(2, b'main.py: No such file or directory'); "
    ran = run(Step(argv=(*MAKES, f"{say}os._exit({status})")))
    assert (ran.not_started, ran.code, ran.lost) == ("", status, False)


def test_no_status_or_text_turns_warm_interpreters_off() -> None:
    says = "import os\nos.write({fd}, b'the sandbox failed: no room')\nos._exit({code})"
    texts = [says.format(fd=fd, code=code) for fd in (1, 2) for code in (95, 96, 97, 127)]
    rans, sandbox = warm(*texts, "print(6 * 7)")
    assert all(ran is not None and not ran.not_started for ran in rans)
    assert rans[-1] is not None
    assert (rans[-1].stdout, rans[-1].proved) == ("42\n", True)
    assert sandbox._warm.broken == {}


@pytest.mark.parametrize(
    ("makes", "command"),
    [
        ("pass", "./made"),
        ("pass", "folder/made"),
        ("pass", "/sandbox/made"),
        ("import os; os.mkdir('made')", "./made"),
        ("open('made', 'w').write('echo')", "./made"),
        ("import os; open('made', 'w').write('?'); os.chmod('made', 0o755)", "./made"),
        ("import os; os.symlink('nowhere', 'made')", "./made"),
        ("import os; os.symlink('made', 'made')", "./made"),
        ("import os; os.mkfifo('made', 0o755)", "./made"),
        ("import os; open('made', 'w').write('#!/no/such'); os.chmod('made', 0o755)", "./made"),
        ("import os; os.chmod('.', 0)", "./made"),
        ("import os; os.mkdir('folder'); os.chmod('folder', 0)", "folder/made"),
    ],
)
@pytest.mark.sampled(3)
def test_a_file_that_the_steps_before_did_not_make_is_the_programs_fault(
    makes: str, command: str
) -> None:
    ran = run(Step(argv=(*MAKES, makes)), Step(argv=(command,)))
    assert (ran.not_started, ran.step, ran.finished) == ("", 1, False), ran


@pytest.mark.parametrize("command", ["no-such-compiler", "/usr/bin/no-such-compiler"])
@pytest.mark.parametrize("before", [(), (Step(argv=("true",)),)])
def test_a_tool_that_is_not_there_is_not(command: str, before: tuple[Step, ...]) -> None:
    ran = run(*before, Step(argv=(command,)))
    assert ran.not_started == f"{command}: No such file or directory in the sandbox"
    assert not ran.finished


def test_tools_are_looked_for_before_the_program_runs() -> None:
    shell = Step(argv=("sh", "-c", "exec no-such-compiler main.c"))
    assert run(shell).not_started == ""
    ran = run(shell, tools=("sh", "no-such-compiler"))
    assert ran.not_started == "no-such-compiler: No such file or directory in the sandbox"
    assert run(shell, tools=("sh",), env={"PATH": "/usr/bin:/bin"}).not_started == ""


def test_what_a_program_left_too_little_of_is_its_fault() -> None:
    hoards = "import os\nwhile True:\n  try: open(str(os.urandom(9)), 'w')\n  except OSError: break"
    ran = run(Step(argv=(*MAKES, hoards)), Step(argv=("true",)))
    assert ran.not_started == ""


def test_a_step_without_input_finds_none() -> None:
    echo = (*MAKES, "import sys; print(repr(sys.stdin.read()))")
    ran = run(Step(argv=echo, stdin=False), Step(argv=echo), stdin=b"mine")
    assert ran.stdout == "''\n'mine'\n"


def test_a_sandbox_that_does_not_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.sandboxes.bubblewrap.find_bwrap", lambda: "/no/such/bwrap")
    ran = run(Step(argv=("true",)))
    assert "/no/such/bwrap" in ran.not_started
    monkeypatch.setattr("proctor.sandboxes.bubblewrap.find_bwrap", lambda: "/bin/false")
    ran = run(Step(argv=("true",)))
    assert ran.not_started == "the sandbox did not start: status 1"


@pytest.mark.parametrize(
    ("out", "late", "not_started", "stopped", "lost"),
    [
        (b"", False, "the sandbox did not start: status 1", None, False),
        (b"", True, "the sandbox did not start: status 1", None, False),
        (b"+", False, "", None, True),
        (b"+", True, "", "time", False),
        (b'+{"code": ', False, "", None, True),
    ],
)
def test_what_the_supervisor_wrote_last_tells_who_is_to_blame(
    out: bytes, late: bool, not_started: str, stopped: str | None, lost: bool
) -> None:
    ran = processes._read(out, b"", 1, 1.0, late=late)
    assert (ran.not_started, ran.stopped, ran.lost) == (not_started, stopped, lost)


def _inner_processes(sandbox: Bubblewrap) -> list[int]:
    """Return the processes of the only warm interpreter, from the outermost to the innermost."""
    (zygote,) = sandbox._warm._zygotes
    found = [zygote.process.pid]
    while True:
        children = [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/stat")
            if _parent(path) == found[-1]
        ]
        if not children:
            return found
        found.append(children[0])


def _parent(path: Path) -> int:
    try:
        return int(path.read_text().rpartition(") ")[2].split()[1])
    except OSError:
        return -1


@pytest.mark.parametrize("depth", [-3, -2])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_an_interpreter_lost_with_its_program_is_replaced(depth: int) -> None:
    """The supervisor, or the interpreter below it, is killed while a program runs."""

    async def work() -> tuple[Ran | None, Ran | None, dict[Any, str]]:
        sandbox = Bubblewrap()
        try:
            await sandbox.run_python(program("pass"))
            running = asyncio.ensure_future(
                sandbox.run_python(program("import time; time.sleep(60)"))
            )
            await asyncio.sleep(0.5)
            os.kill((await asyncio.to_thread(_inner_processes, sandbox))[depth], signal.SIGKILL)
            lost = await running
            return lost, await sandbox.run_python(program("print(1)")), dict(sandbox._warm.broken)
        finally:
            await sandbox.close()

    lost, after, broken = asyncio.run(work())
    assert lost is None
    assert after is not None
    assert (after.stdout, broken) == ("1\n", {})


def test_an_interpreter_that_cannot_start_is_known_for_its_packages_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text that names a package which breaks the interpreter must not cost others theirs."""

    async def work() -> None:
        sandbox = Bubblewrap()
        start = sandbox._warm._start

        async def refuse(kind: tuple[str, ...], settings: Any, confined: bool) -> Any:
            if settings["imports"]:
                raise SandboxError("it crashed")
            return await start(kind, settings, confined)

        monkeypatch.setattr(sandbox._warm, "_start", refuse)
        try:
            for known in ({}, {("torch",): "it crashed"}):
                assert await sandbox.run_python(program("import torch")) is None
                assert sandbox._warm.broken == known
            ran = await sandbox.run_python(program("print(1)"))
            assert ran is not None
            assert ran.stdout == "1\n"
        finally:
            await sandbox.close()

    asyncio.run(work())


def test_a_program_with_odd_bytes_is_left_to_a_sandbox_of_its_own() -> None:
    async def work() -> Ran | None:
        sandbox = Bubblewrap()
        odd = Program(steps=(), files={"main.py": b"\xff\xfe"}, limits=Limits(wall=5))
        try:
            return await sandbox.run_python(odd)
        finally:
            await sandbox.close()

    assert asyncio.run(work()) is None


def test_surrogates_reach_a_warm_program() -> None:
    async def work() -> Ran | None:
        sandbox = Bubblewrap()
        text = "print(ascii('\ud800'))".encode("utf-8", "surrogatepass")
        try:
            return await sandbox.run_python(Program(steps=(), files={"main.py": text}))
        finally:
            await sandbox.close()

    ran = asyncio.run(work())
    assert ran is not None
    assert not ran.not_started
