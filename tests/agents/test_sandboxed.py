"""Commands in a sandbox: what they see, what comes back, and limits that are no crash."""

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.process import Broken, NoAnswer
from proctor.agents.sandboxed import CODE, ERR, OUT, SandboxedSession, led_out, needed
from proctor.contracts.agent import Workspace
from proctor.core.program import Ran
from proctor.core.suite import Case
from proctor.io.folder_archive import ARCHIVE


def session(folder: Path, **more: Any) -> SandboxedSession:
    case = Case(id="c", messages=(), criteria=())
    workspace = Workspace(case=case, index=0, folder=folder)
    return SandboxedSession(workspace=workspace, timeout=5.0, argv=("run", "it's"), **more)


def ran(archive: bytes | None, stderr: str = "") -> Ran:
    files = {} if archive is None else {ARCHIVE: archive}
    return Ran(code=0, step=1, finished=True, files=files, stderr=stderr)


def archive(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo({"out": OUT, "err": ERR, "code": CODE}.get(name, name))
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("code", "status"), [(b"0\n", 0), (b"3\n", 3), (b"137\n", -9), (b"odd", 1), (b"", 1)]
)
def test_how_a_command_ended_is_told_by_its_own_file(
    tmp_path: Path, code: bytes, status: int
) -> None:
    packed = archive(out=b"reply", err=b"words", code=code, kept=b"x")
    assert session(tmp_path)._back(ran(packed)) == (b"reply", b"words", status)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]


@pytest.mark.parametrize(
    ("files", "words"),
    [({"out": b"x" * 11, "code": b"0"}, "more output"), ({"code": b"153"}, "more output")],
)
def test_too_much_output_is_a_limit_and_no_crash(
    tmp_path: Path, files: dict[str, bytes], words: str
) -> None:
    with pytest.raises(NoAnswer, match=words):
        session(tmp_path, output=10)._back(ran(archive(**files)))


def test_a_folder_that_does_not_come_back_is_told(tmp_path: Path) -> None:
    with pytest.raises(Broken, match="did not come back"):
        session(tmp_path)._back(ran(None, "why"))
    with pytest.raises(NoAnswer, match="cannot be brought back"):
        session(tmp_path)._back(ran(b"no archive"))


def test_the_command_is_quoted_and_its_limits_are_within_the_turn(tmp_path: Path) -> None:
    program = session(tmp_path, processes=7)._program({"a": b"1"}, b"in")
    script = program.steps[0].argv[-1]
    assert script.startswith("run 'it'\"'\"'s' >/tmp/o 2>/tmp/e;")
    assert (program.limits.wall, program.limits.processes) == (4.0, 7)
    assert (program.stdin, program.keep) == (b"in", (ARCHIVE,))
    assert program.env["PROCTOR_SESSION"]


def test_a_link_out_of_the_folder_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("s")
    (inside / "own").write_text("x")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "near").symlink_to(inside / "own")
    monkeypatch.chdir(inside)
    (message,) = led_out(["link", "near", "own", "gone", str(tmp_path / "secret")])
    assert message.startswith("link is a link that leads out")


def test_a_command_sees_its_program_and_the_files_it_names(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    file.write_text("x")
    paths = needed(["sh", str(file), "relative", "/no/such/file"], [str(tmp_path)])
    assert paths[:2] == [str(tmp_path.resolve()), str(file)]
    assert len(paths) == 3
    assert paths[2].endswith("sh")
