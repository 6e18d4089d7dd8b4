"""Programs that attack the grader, warm and cold: each is contained, and its end is named."""

import asyncio
import os
import shutil
import sys
from typing import Any

import pytest

from hostile.corpus import (
    APART,
    COLD_ONLY,
    ENDED,
    LANGUAGES,
    OTHER_LIMITS,
    PROGRAMS,
    REFUSED,
    SMALL,
    STOPPED,
    UNPROVED,
    WHO,
    expected,
    on_path,
    who,
)
from level import LEVEL
from proctor.core.program import MIB, Limits, Program, Ran, Step
from proctor.io.concurrency import map_unordered
from proctor.sandboxes import bubblewrap
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.sandboxes.control_groups import make_group

pytestmark = [pytest.mark.sandbox, pytest.mark.scaled]
PATHS = WHO[who()]
ALL = LEVEL.ci


def some(programs: list[Any], share: int = 3) -> list[Any]:
    """Take some of the programs, and all of them in .ci/run."""
    return programs[:: 1 if ALL else share]


def _program(name: str, host: Any, *, warm: bool = False, **given: Any) -> Program | None:
    file = PROGRAMS / name
    steps = LANGUAGES[file.suffix[1:]]
    if any(shutil.which(step[0], path="/usr/local/bin:/usr/bin:/bin") is None
           for step in steps if not step[0].startswith("./")):  # fmt: skip
        return None
    values = {"name": file.name, "stem": file.stem}
    limits = OTHER_LIMITS.get(STOPPED.get(name, ""), SMALL)
    return Program(
        steps=tuple(Step(argv=tuple(part.format(**values) for part in step)) for step in steps),
        files={"main.py" if warm else file.name: file.read_bytes()},
        env=host.environment(),
        # As for tests in Python: where others may not read this, the superuser stays what it is.
        needs=(sys.prefix,),
        **{"limits": limits, **given},
    )


async def _run_on(sandbox: Bubblewrap, program: Program, path: str) -> Ran:
    """Run a program on one path; a warm one must not end up on the other.

    An interpreter may be lost on a busy machine, but not twice with the same program.
    """
    if path == "cold":
        return await sandbox.run(program)
    ran = await sandbox.run_python(program) or await sandbox.run_python(program)
    assert ran is not None, (sandbox._warm.broken, program.files)
    return ran


async def _run_all(rows: list[tuple[str, str]], host: Any) -> dict[tuple[str, str], Ran]:
    sandbox = Bubblewrap()
    made = {(name, path): _program(name, host, warm=path == "warm") for name, path in rows}
    programs = {row: program for row, program in made.items() if program is not None}

    async def run(row: tuple[str, str]) -> tuple[tuple[str, str], Ran]:
        return row, await _run_on(sandbox, programs[row], row[1])

    try:
        return {
            row: ran async for row, ran in map_unordered(programs, run, limit=os.cpu_count() or 1)
        }
    finally:
        await sandbox.close()


@pytest.fixture(scope="module")
def became(host: Any, request: pytest.FixtureRequest) -> dict[tuple[str, str], Ran]:
    """Run what the chosen tests are about, once and side by side."""
    chosen = [item for item in request.session.items if isinstance(item, pytest.Function)]
    rows = [(item.callspec.params["name"], item.callspec.params["path"]) for item in chosen
            if "became" in item.fixturenames and hasattr(item, "callspec")]  # fmt: skip
    return asyncio.run(_run_all(rows, host))


def test_every_program_is_expected_to_do_something() -> None:
    named = [*REFUSED, *STOPPED, *ENDED, *UNPROVED, *APART]
    assert sorted(named) == sorted(file.name for file in PROGRAMS.iterdir() if file.is_file())
    assert len(named) >= 150
    assert len(on_path("warm")) >= 70
    assert set(COLD_ONLY) <= {name for name in named if name.endswith(".py")}
    for file in PROGRAMS.iterdir():
        if file.is_file():
            assert file.read_text().startswith(("#", "//", "--", "<?php //")), file


def _rows(share: int) -> list[tuple[str, str]]:
    return [
        (name, path)
        for path in PATHS
        for kind in (REFUSED, [*STOPPED], [*ENDED, *UNPROVED])
        for name in some([name for name in kind if name in on_path(path)], share)
    ]


def test_a_warm_interpreter_is_there_where_the_table_says_so(host: Any) -> None:
    program = _program("exit_zero.py", host, warm=True)
    assert program is not None

    async def work() -> tuple[Ran | None, Ran | None, dict[Any, str]]:
        sandbox = Bubblewrap()
        try:
            ran = await sandbox.run_python(program)
            forced = [await sandbox._warm.run(program) for _ in range(2)]
            return ran, forced[0] or forced[1], sandbox._warm.broken
        finally:
            await sandbox.close()

    ran, forced, broken = asyncio.run(work())
    assert (ran is not None) == ("warm" in PATHS)
    if "warm" not in PATHS:
        assert forced is None
        assert "does not start" in broken[()]


@pytest.mark.parametrize(("name", "path"), _rows(20))
def test_it_is_contained_and_its_end_is_named(
    became: dict[tuple[str, str], Ran], name: str, path: str
) -> None:
    if (name, path) not in became:
        pytest.skip(f"nothing here runs {name}")
    ran, wanted = became[name, path], expected(name, path)
    finished = wanted.code == 0 and wanted.limit is None
    if (wanted.limit, ran.stopped) == ("processes", None):
        # The kernel refuses one more, and whoever asked may be gone before anybody looks.
        assert (ran.code, ran.finished) == (1, False), ran
        assert "BlockingIOError" in ran.stderr, ran
        return
    assert (ran.stopped, ran.code, ran.finished) == (wanted.limit, wanted.code, finished), ran
    assert ran.not_started == ""
    assert wanted.says in ran.stdout + ran.stderr
    assert wanted.escapes or "ESCAPED" not in ran.stdout + ran.stderr, ran
    assert len(ran.stdout) + len(ran.stderr) < 300_000
    if name in UNPROVED or (name in ENDED and path == "cold"):
        assert not ran.proved
    if name in ENDED:
        assert ran.seconds < 10


def test_the_host_is_as_it_was(became: dict[tuple[str, str], Ran], host: Any) -> None:
    assert became
    assert host.changes() == []


# Without control groups the supervisor alone has to see what happens.
ALONE = [name for name in STOPPED if STOPPED[name] in ("processes", "memory", "disk")]
ALONE = [name for name in ALONE if name.endswith((".py", ".c"))]
ALONE_ROWS = [(name, path) for path in PATHS for name in ALONE if name in on_path(path)]


@pytest.fixture(scope="module")
def became_alone(host: Any) -> dict[tuple[str, str], Ran]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bubblewrap, "make_group", lambda *_: None)
        return asyncio.run(_run_all(some(ALONE_ROWS, 3), host))


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no control groups anyway")
@pytest.mark.parametrize(("name", "path"), some(ALONE_ROWS, 3))
@pytest.mark.slow
def test_limits_hold_without_control_groups(
    became_alone: dict[tuple[str, str], Ran], host: Any, name: str, path: str
) -> None:
    if (name, path) not in became_alone:
        pytest.skip(f"nothing here runs {name}")
    ran = became_alone[name, path]
    assert (ran.stopped, ran.finished) == (STOPPED[name], False), ran
    assert host.changes() == []


def _run(host: Any, name: str, path: str = "cold", **given: Any) -> Ran:
    program = _program(name, host, warm=path == "warm", **given)
    if program is None:
        pytest.skip(f"nothing here runs {name}")
    return _run_one(program, path)


def _run_one(program: Program, path: str = "cold") -> Ran:
    async def work() -> Ran:
        sandbox = Bubblewrap()
        try:
            return await _run_on(sandbox, program, path)
        finally:
            await sandbox.close()

    return asyncio.run(work())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", some(["memory_sockets.py", "memory_pardoned.py"], 2))
@pytest.mark.slow
def test_memory_of_the_kernel_counts_where_control_groups_are(
    host: Any, name: str, path: str
) -> None:
    limits = Limits(wall=4, memory=64 * MIB, disk=2 * MIB, processes=32)
    ran = _run(host, name, path, limits=limits)
    grouped = make_group(8, 64 * MIB) if os.geteuid() == 0 else None
    if grouped is not None:
        grouped.remove()
    assert ran.stopped == ("time" if grouped is None else "memory")


@pytest.mark.parametrize("path", PATHS)
def test_attributes_of_files_have_an_end(host: Any, path: str) -> None:
    ran = _run(host, "disk_attributes.py", path)
    assert ran.stopped in ("disk", "memory") or "No space left" in ran.stderr
    assert not ran.finished


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_endless_calls_end(host: Any, path: str) -> None:
    ran = _run(host, "deep_recursion.py", path)
    assert ran.stopped == "memory" or ran.code == -11
    assert not ran.finished


@pytest.mark.parametrize(
    ("name", "keep"),
    [
        ("kept_link.py", ("kept", "other")),
        ("kept_below_link.py", ("folder/passwd",)),
        ("kept_fifo.py", ("kept",)),
        ("kept_folder.py", ("kept",)),
    ],
)
@pytest.mark.slow
def test_kept_files_are_files_and_nothing_else(host: Any, name: str, keep: tuple[str, ...]) -> None:
    ran = _run(host, name, keep=(*keep, "../etc/passwd", "/etc/passwd", name))
    assert ran.finished
    assert set(ran.files) == {name}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("terminal.py", "\x1b]0;owned\x07"),
        ("invalid_utf8.py", "\ufffd"),
        ("nul_bytes.c", "a\0b\0\0c"),
        ("huge_line.py", "bytes left out"),
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_strange_output_is_kept_as_text(host: Any, name: str, says: str, path: str) -> None:
    if path == "warm" and not name.endswith(".py"):
        pytest.skip("warm programs are in Python")
    ran = _run(host, name, path)
    assert ran.finished
    assert says in ran.stdout
    assert len(ran.stdout) < 100_000
    ran.stdout.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "size", "says"),
    [
        ("stdin_unread.py", 5_000_000, "not interested\n"),
        ("stdin_echo.py", 50_000, "y" * 50_000),
    ],
)
def test_large_input(host: Any, name: str, size: int, says: str) -> None:
    ran = _run(host, name, stdin=b"y" * size)
    assert ran.finished
    assert ran.stdout == says


@pytest.mark.parametrize(
    ("name", "finished"),
    [("step_holds_file.py", True), ("step_swaps_file.py", False), ("step_daemon.py", True)],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_step_cannot_spoil_the_next(host: Any, name: str, finished: bool) -> None:
    look = "import os, time; time.sleep(0.5); print(sorted(os.listdir('.')))"
    program = Program(
        steps=(
            Step(argv=("python3", name)),
            Step(argv=("python3", "-c", look), hide=("hidden.txt",)),
        ),
        files={name: (PROGRAMS / name).read_bytes(), "hidden.txt": b"ESCAPED"},
        env=host.environment(),
    )
    ran = _run_one(program)
    assert ran.finished == finished, ran
    assert "hidden.txt'" not in ran.stdout
    assert "caught" not in ran.stdout
    assert finished or "cannot be removed" in ran.stderr
