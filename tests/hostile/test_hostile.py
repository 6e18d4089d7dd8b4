"""Programs that attack the grader: each is contained, and what became of it is named."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from proctor.bounded import each
from proctor.core.program import MIB, Limits, Program, Ran, Step
from proctor.sandboxes import bubblewrap
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.sandboxes.groups import make_group

PROGRAMS = Path(__file__).with_name("programs")
LANGUAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "py": (("python3", "{name}"),),
    "c": (("gcc", "-w", "-o", "made", "{name}"), ("./made",)),
    "cpp": (("g++", "-w", "-o", "made", "{name}", "-pthread"), ("./made",)),
    "sh": (("bash", "{name}"),),
    "pl": (("perl", "{name}"),),
    "js": (("node", "{name}"),),
    "java": (("javac", "{name}"), ("java", "-Xmx64m", "-XX:TieredStopAtLevel=1", "{stem}")),
    "rb": (("ruby", "{name}"),),
    "php": (("php", "{name}"),),
    "lua": (("lua", "{name}"),),
}

# Programs that find every door closed, say so, and end well.
REFUSED = [
    "memory_memfd.py", "memory_sysv.c", "disk_sparse.py", "net_tcp.py", "net_udp.py",
    "net_dns.py", "net_ipv6.py", "net_raw.py", "net_vsock.py", "net_netlink.py",
    "net_abstract.py", "net_services.py", "net_families.c", "net_packet.c", "net_bash.sh",
    "net_perl.pl", "net_http.js", "network.rb", "read_environment.py", "read_host_files.py",
    "read_first_process.py", "read_shadow.c", "read_secrets.sh", "read_files.js",
    "kernel_memory.py", "handles.py", "devices.c", "write_supervisor.py", "write_outside.sh",
    "hard_link.py", "upwards.py", "delete_folder.py", "kill_host.py", "trace_supervisor.c",
    "memory_of_supervisor.c", "open_files.py", "proc_sys.py", "sys_files.sh", "oom_score.py",
    "raise_limits.py", "real_time.c", "become_root.c", "setuid_programs.sh", "unshare.sh",
    "mounts.c", "chroot.pl", "new_namespaces.c", "join_namespace.c", "kernel_doors.c",
    "machine_state.c", "type_into_terminal.c", "open_files_exhausted.py", "pty_flood.py",
    "shell.php",
]  # fmt: skip

# Programs that pass a limit, and which.
STOPPED = {
    "fork_bomb.py": "processes",
    "fork_bomb.sh": "processes",
    "fork_bomb.pl": "processes",
    "fork_bomb.rb": "processes",
    "fork_setsid.py": "processes",
    "vfork_bomb.c": "processes",
    "zombie_flood.c": "processes",
    "thread_bomb.py": "processes",
    "threads.cpp": "processes",
    "Threads.java": "processes",
    "children.js": "processes",
    "memory_bytes.py": "memory",
    "memory_mmap.py": "memory",
    "memory_malloc.c": "memory",
    "memory_children.py": "memory",
    "memory_undumpable.py": "memory",
    "memory.js": "memory",
    "memory.php": "memory",
    "memory.lua": "memory",
    "memory_shared.py": "disk",
    "disk_many_files.py": "disk",
    "disk_inodes.py": "disk",
    "disk_signal.c": "disk",
    "output_stdout.py": "output",
    "output_gigabyte.py": "output",
    "output_no_newline.c": "output",
    "output_stderr.pl": "output",
    "output_both.js": "output",
    "busy.py": "cpu",
    "busy_children.py": "cpu",
    "cpu_ignored.c": "cpu",
    "sleep.py": "time",
    "ignore_signals.py": "time",
    "stop_self.py": "time",
}

# Programs that end by themselves, how, and what they still say.
ENDED = {
    "disk_one_file.py": (1, "File too large"),
    "deep_recursion.js": (1, "RangeError"),
    "terminate.cpp": (-6, "on purpose"),
    "killed.c": (-9, ""),
    "aborted.c": (-6, ""),
    "crash.c": (-11, ""),
    "stack_overflow.c": (-11, ""),
    "old_calls.c": (-31, "refused"),
    "open_supervisor.py": (7, ""),
    "fake_report.py": (7, "FORGED"),
    "fake_report_proc.sh": (7, ""),
    "forge_python.py": (7, ""),
    "exec_shadow.sh": (7, ""),
    "close_output.py": (3, ""),
    "kill_supervisor.py": (0, "still here"),
    "daemon.py": (0, "left one behind"),
    "daemon_with_pipe.py": (0, "left one behind"),
    "daemon.sh": (0, "left some behind"),
    "close_folder.py": (0, ""),
}

# Programs that end well, but never gave back the secret that a finished test gives.
UNPROVED = [
    "exit_zero.py", "fake_success.py", "exit_early.pl", "exit_early.js", "exit_early.cpp",
    "exit_early.rb", "Halt.java", "shell.lua",
]  # fmt: skip

# Programs with a test of their own below.
APART = [
    "memory_sockets.py", "deep_recursion.py", "kept_link.py", "kept_below_link.py",
    "kept_fifo.py", "kept_folder.py", "terminal.py", "invalid_utf8.py", "nul_bytes.c",
    "huge_line.py", "stdin_unread.py", "stdin_echo.py", "step_holds_file.py",
    "step_swaps_file.py", "step_daemon.py",
]  # fmt: skip

SMALL = Limits(
    wall=20,
    memory=256 * MIB,
    disk=64 * MIB,
    file_size=16 * MIB,
    output=256 * 1024,
    processes=32,
    cpu=15,
)
OTHER_LIMITS = {
    "cpu": Limits(wall=20, cpu=1),
    "time": Limits(wall=1),
}

works = pytest.mark.skipif(
    bool(list(Bubblewrap().problems())), reason="bubblewrap does not work here"
)
pytestmark = works


def some(programs: list[Any]) -> list[Any]:
    """Take each third program, and all of them in .ci/run."""
    return programs[:: 1 if os.environ.get("PROCTOR_HOSTILE") else 3]


def _program(name: str, host: Any, **given: object) -> Program | None:
    file = PROGRAMS / name
    steps = LANGUAGES[file.suffix[1:]]
    if any(shutil.which(step[0], path="/usr/local/bin:/usr/bin:/bin") is None
           for step in steps if not step[0].startswith("./")):  # fmt: skip
        return None
    values = {"name": file.name, "stem": file.stem}
    return Program(
        steps=tuple(Step(argv=tuple(part.format(**values) for part in step)) for step in steps),
        files={file.name: file.read_bytes()},
        env=host.environment(),
        limits=OTHER_LIMITS.get(STOPPED.get(name, ""), SMALL),
        **given,  # type: ignore[arg-type]
    )


async def _run_all(names: list[str], host: Any) -> dict[str, Ran]:
    sandbox = Bubblewrap()
    programs = {name: made for name in names if (made := _program(name, host)) is not None}

    async def run(name: str) -> tuple[str, Ran]:
        return name, await sandbox.run(programs[name])

    return {name: ran async for name, ran in each(programs, run, limit=os.cpu_count() or 1)}


@pytest.fixture(scope="module")
def became(host: Any, request: pytest.FixtureRequest) -> dict[str, Ran]:
    """Run what the chosen tests are about, once and side by side."""
    chosen = [item for item in request.session.items if isinstance(item, pytest.Function)]
    names = [item.callspec.params["name"] for item in chosen
             if "became" in item.fixturenames and hasattr(item, "callspec")]  # fmt: skip
    return asyncio.run(_run_all(names, host))


def _of(became: dict[str, Ran], name: str) -> Ran:
    if name not in became:
        pytest.skip(f"nothing here runs {name}")
    return became[name]


def test_every_program_is_expected_to_do_something() -> None:
    named = [*REFUSED, *STOPPED, *ENDED, *UNPROVED, *APART]
    assert sorted(named) == sorted(file.name for file in PROGRAMS.iterdir() if file.is_file())
    assert len(named) >= 80
    for file in PROGRAMS.iterdir():
        if file.is_file():
            assert file.read_text().startswith(("#", "//", "--", "<?php //")), file


@pytest.mark.parametrize("name", some(REFUSED))
def test_every_door_is_closed(became: dict[str, Ran], name: str) -> None:
    ran = _of(became, name)
    assert (ran.code, ran.stopped, ran.finished) == (0, None, True), ran
    assert "ESCAPED" not in ran.stdout + ran.stderr
    assert "refused" in ran.stdout


@pytest.mark.parametrize(("name", "limit"), some(list(STOPPED.items())))
def test_a_limit_stops_it_and_is_named(became: dict[str, Ran], name: str, limit: str) -> None:
    ran = _of(became, name)
    assert (ran.stopped, ran.code, ran.finished) == (limit, None, False), ran
    assert "ESCAPED" not in ran.stdout
    assert len(ran.stdout) + len(ran.stderr) < 300_000


@pytest.mark.parametrize(("name", "end"), ENDED.items())
def test_it_ends_by_itself(became: dict[str, Ran], name: str, end: tuple[int, str]) -> None:
    ran = _of(became, name)
    code, says = end
    assert (ran.code, ran.stopped, ran.finished) == (code, None, code == 0), ran
    assert "ESCAPED" not in ran.stdout + ran.stderr
    assert says in ran.stdout + ran.stderr
    assert not ran.proved
    assert ran.seconds < 10


@pytest.mark.parametrize("name", UNPROVED)
def test_success_is_not_believed_without_the_secret(became: dict[str, Ran], name: str) -> None:
    ran = _of(became, name)
    assert (ran.code, ran.stopped) == (0, None), ran
    assert not ran.proved


def test_the_host_is_as_it_was(became: dict[str, Ran], host: Any) -> None:
    assert became
    assert host.changes() == []


# Without control groups the supervisor alone has to see what happens.
ALONE = [name for name in STOPPED if STOPPED[name] in ("processes", "memory", "disk")]


@pytest.fixture(scope="module")
def became_alone(host: Any) -> dict[str, Ran]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bubblewrap, "make_group", lambda *_: None)
        names = [name for name in ALONE if name.endswith((".py", ".c"))]
        return asyncio.run(_run_all(names, host))


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no control groups anyway")
@pytest.mark.parametrize("name", [name for name in ALONE if name.endswith((".py", ".c"))])
def test_limits_hold_without_control_groups(
    became_alone: dict[str, Ran], host: Any, name: str
) -> None:
    ran = _of(became_alone, name)
    assert (ran.stopped, ran.finished) == (STOPPED[name], False), ran
    assert host.changes() == []


def _run(host: Any, name: str, **given: object) -> Ran:
    program = _program(name, host, **given)
    if program is None:
        pytest.skip(f"nothing here runs {name}")
    return asyncio.run(Bubblewrap().run(program))


def test_memory_of_the_kernel_counts_where_control_groups_are(host: Any) -> None:
    program = _program("memory_sockets.py", host)
    assert program is not None
    limits = Limits(wall=4, memory=64 * MIB, disk=2 * MIB, processes=32)
    ran = asyncio.run(
        Bubblewrap().run(
            Program(steps=program.steps, files=program.files, env=program.env, limits=limits)
        )
    )
    grouped = make_group(8, 64 * MIB) if os.geteuid() == 0 else None
    if grouped is not None:
        grouped.remove()
    assert ran.stopped == ("time" if grouped is None else "memory")


def test_endless_calls_end(host: Any) -> None:
    ran = _run(host, "deep_recursion.py")
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
def test_kept_files_are_files_and_nothing_else(host: Any, name: str, keep: tuple[str, ...]) -> None:
    ran = _run(host, name, keep=(*keep, "../etc/passwd", "/etc/passwd", name))
    assert ran.finished
    assert set(ran.files) == {name}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("terminal.py", "\x1b]0;owned\x07"),
        ("invalid_utf8.py", "\ufffd"),
        ("nul_bytes.c", "a\0b\0\0c"),
        ("huge_line.py", "bytes left out"),
    ],
)
def test_strange_output_is_kept_as_text(host: Any, name: str, says: str) -> None:
    ran = _run(host, name)
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
    ran = asyncio.run(Bubblewrap().run(program))
    assert ran.finished == finished, ran
    assert "hidden.txt'" not in ran.stdout
    assert "caught" not in ran.stdout
    assert finished or "cannot be removed" in ran.stderr
