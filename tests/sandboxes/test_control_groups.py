"""Control groups: made with their limits, named when they bind, removed with what is in them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hostile.own_groups import own_groups
from proctor.core.program import MIB, Ran, Stopped
from proctor.sandboxes import control_groups as groups
from proctor.sandboxes.control_groups import ControlGroup, make_group
from waiting import until

needs_groups = pytest.mark.skipif(
    os.geteuid() != 0 or not groups._bases(), reason="no control groups can be made here"
)


@needs_groups
def test_a_group_holds_its_process_and_goes() -> None:
    group = make_group(7, 64 * MIB)
    assert group is not None
    limits = {
        (folder / file).read_text().strip()
        for folder in group.folders
        for file in ("pids.max", "memory.max", "memory.limit_in_bytes")
        if (folder / file).exists()
    }
    assert "7" in limits
    process = subprocess.Popen(["sleep", "60"], preexec_fn=group.join)  # noqa: PLW1509
    for folder in group.folders:
        assert (folder / "cgroup.procs").read_text().split() == [str(process.pid)]
    group.remove()
    assert process.wait() == -9
    assert own_groups() == []


@pytest.mark.skipif(not groups.limits_processors(), reason="no group limits processors here")
def test_a_group_limits_processor_time() -> None:
    """Let a program use more processor time than its share, and look whether it had to wait."""
    group = make_group(8, 64 * MIB, 0.05)
    assert group is not None
    code = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-S", "-c", code], preexec_fn=group.join, check=True)
    reports = [folder / "cpu.stat" for folder in group.folders]
    text = next(path.read_text() for path in reports if path.exists())
    counts = dict(line.split() for line in text.splitlines())
    assert int(counts["nr_throttled"]) > 0
    group.remove()
    assert own_groups() == []


@needs_groups
@pytest.mark.slow
def test_the_limit_on_processes_binds_the_superuser_and_is_named() -> None:
    group = make_group(4)
    assert group is not None
    code = "import os\nfor _ in range(9):\n  if not os.fork(): import time; time.sleep(2)"
    done = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=group.join, capture_output=True, check=False
    )
    assert b"BlockingIOError" in done.stderr
    assert group.explain(Ran(code=1, step=0, finished=False)).stopped == Stopped.PROCESSES
    group.remove()
    assert own_groups() == []


@needs_groups
def test_the_limit_on_memory_binds_and_is_named() -> None:
    group = make_group(8, 32 * MIB)
    assert group is not None
    if not any((folder / "memory.max").exists() or (folder / "memory.limit_in_bytes").exists()
               for folder in group.folders):  # fmt: skip
        group.remove()
        pytest.skip("no groups for memory here")
    done = subprocess.run(
        [sys.executable, "-c", "x = bytearray(b'x') * (200 * 2**20)"],
        preexec_fn=group.join,
        check=False,
    )
    assert done.returncode == -9
    named = group.explain(Ran(code=-9, step=0, finished=False))
    assert (named.stopped, named.code) == (Stopped.MEMORY, None)
    group.remove()


@pytest.mark.parametrize(
    ("files", "ran", "stopped"),
    [
        ({"pids.events": "max 3\n"}, Ran(code=1, step=0, finished=False), Stopped.PROCESSES),
        ({"pids.events": "max 0\n"}, Ran(code=1, step=0, finished=False), None),
        ({"pids.events": "max 3\n"}, Ran(code=0, step=0, finished=True), None),
        (
            {"memory.events": "low 0\nmax 9\noom 1\noom_kill 1\n"},
            Ran(code=-9, step=0, finished=False),
            Stopped.MEMORY,
        ),
        (
            {"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"},
            Ran(code=None, step=0, finished=False, stopped=Stopped.TIME),
            Stopped.MEMORY,
        ),
        (
            {"memory.events": "oom_kill 1\n"},
            Ran(code=None, step=0, finished=False, stopped=Stopped.OUTPUT),
            Stopped.OUTPUT,
        ),
        ({}, Ran(code=-9, step=0, finished=False), None),
    ],
)
def test_what_the_kernel_counted_is_named(
    tmp_path: Path, files: dict[str, str], ran: Ran, stopped: Stopped | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert ControlGroup((tmp_path,)).explain(ran).stopped == stopped


def test_only_what_was_counted_since_is_named(tmp_path: Path) -> None:
    group = ControlGroup((tmp_path,))
    (tmp_path / "memory.events").write_text("oom_kill 2\n")
    (tmp_path / "pids.events").write_text("max 3\n")
    assert group.events() == (2, 3)
    failed = Ran(code=-9, step=0, finished=False)
    assert group.explain(failed, (2, 3)).stopped is None
    assert group.explain(failed, (1, 3)).stopped == Stopped.MEMORY
    assert group.explain(failed, (2, 2)).stopped == Stopped.PROCESSES


LAYOUTS = {
    "first": (
        ("pids.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes",
         "memory.kmem.tcp.limit_in_bytes"),
        {"pids.max": "9", "memory.limit_in_bytes": "4096", "memory.memsw.limit_in_bytes": "4096",
         "memory.kmem.tcp.limit_in_bytes": "4096"},
    ),
    "second": (
        ("pids.max", "memory.max", "memory.swap.max"),
        {"pids.max": "9", "memory.max": "4096", "memory.swap.max": "0"},
    ),
    "second, without accounting of swap": (
        ("pids.max", "memory.max"), {"pids.max": "9", "memory.max": "4096"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_limits_are_written_as_each_layout_has_them(tmp_path: Path, layout: str) -> None:
    files, written = LAYOUTS[layout]
    for name in files:
        (tmp_path / name).write_text("max")
    ControlGroup((tmp_path,)).limit(9, 4096)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == written


@needs_groups
@pytest.mark.parametrize("sizes", [(64, 256, 32), (32, 32, 512)])
def test_limits_can_be_set_anew_upwards_and_downwards(sizes: tuple[int, ...]) -> None:
    group = make_group(7, 128 * MIB)
    assert group is not None
    try:
        for size in sizes:
            group.limit(size, size * MIB)
            shown = [
                (folder / file).read_text().strip()
                for folder in group.folders
                for file in ("pids.max", "memory.max", "memory.limit_in_bytes",
                             "memory.memsw.limit_in_bytes")
                if (folder / file).exists()
            ]  # fmt: skip
            assert set(shown) <= {str(size), str(size * MIB)}, shown
    finally:
        group.remove()


@needs_groups
def test_whoever_has_the_doors_open_may_join() -> None:
    group = make_group(7, 64 * MIB)
    assert group is not None
    doors = group.doors()
    script = f"import os\nfor door in {doors}: os.write(door, b'0')\nos.read(0, 1)"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", script],
        stdin=subprocess.PIPE,
        pass_fds=doors,
        user=65534 if _readable_by_all() else None,
    )
    try:
        for door in doors:
            os.close(door)
        for folder in group.folders:
            joined, members = folder / "cgroup.procs", [str(process.pid)]
            until(lambda file=joined, those=members: file.read_text().split() == those)
    finally:
        process.communicate(b"x")
        group.remove()


def _readable_by_all() -> bool:
    parents = Path(os.path.realpath(sys.executable)).parents
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in parents)


@pytest.mark.parametrize(
    ("number", "bases", "says"),
    [
        (1000, ("memory",), "only the superuser makes control groups here"),
        (0, (), "no control group can be made here"),
        (0, ("processes",), "control groups do not limit memory here"),
        (0, ("memory", "processes"), ""),
    ],
)
def test_what_is_lacking_is_said(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    number: int,
    bases: tuple[str, ...],
    says: str,
) -> None:
    files = {"memory": "memory.max", "processes": "pids.max"}
    monkeypatch.setattr(os, "geteuid", lambda: number)
    monkeypatch.setattr(groups, "_bases", lambda: tuple(tmp_path / base for base in bases))
    monkeypatch.setattr(groups, "_has", lambda base, file: file == files[base.name])
    assert groups.lacking() == says


def test_no_group_where_none_can_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(groups, "ROOT", tmp_path)
    groups._bases.cache_clear()
    try:
        assert make_group(5) is None
    finally:
        groups._bases.cache_clear()


def test_groups_of_dead_graders_are_swept(tmp_path: Path) -> None:
    alive, dead = tmp_path / f"proctor-{os.getpid()}-0", tmp_path / "proctor-999999999-0"
    alive.mkdir()
    dead.mkdir()
    groups._sweep(tmp_path)
    assert (alive.exists(), dead.exists()) == (True, False)
