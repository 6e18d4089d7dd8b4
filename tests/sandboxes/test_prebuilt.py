"""What is made once for many programs: when, by whom it can be changed, and when it goes."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from proctor.core.program import AID, Program, Ran, Step
from proctor.sandboxes import prebuilt
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.sandboxes.prebuilt import WORTH, Aids

MADE = Ran(code=0, step=0, finished=True, files={"made": b"once"})
AID_PROGRAM = Program(
    steps=(Step(argv=("sh", "-c", "echo once >made")),), files={"a": b"1"}, keep=("made",)
)


def folders(given: Ran | None = MADE, asks: int = WORTH + 3) -> tuple[list[str | None], int]:
    """Ask for an aid several times; return what came, and how often it was made."""
    runs = 0

    async def make(_: Program) -> Ran:
        nonlocal runs
        runs += 1
        assert given is not None
        return given

    async def ask() -> list[str | None]:
        held = Aids(run=make)
        found = [await held.folder(AID_PROGRAM if given else None) for _ in range(asks)]
        for folder in filter(None, found):
            assert Path(folder, "made").read_bytes() == b"once"
            assert os.stat(folder).st_mode & 0o005 == 0o005
        held.close()
        assert not any(os.path.exists(folder) for folder in filter(None, found))
        return found

    return asyncio.run(ask()), runs


def test_it_is_made_once_when_it_is_worth_it_and_removed() -> None:
    found, runs = folders()
    assert found[:WORTH] == [None] * WORTH
    assert len(set(found[WORTH:])) == 1
    assert None not in found[WORTH:]
    assert runs == 1


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        (None, 0),
        (Ran(code=1, step=0, finished=False, files={"made": b""}), 1),
        (Ran(code=0, step=0, finished=True, files={}), 1),
    ],
    ids=["none is wanted", "it failed", "a file is missing"],
)
def test_programs_go_without(given: Ran | None, runs: int) -> None:
    found, made = folders(given)
    assert found == [None] * len(found)
    assert made == runs


def test_a_disk_without_room_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert folders()[0] == [None] * (WORTH + 3)


def test_whoever_asks_while_it_is_made_goes_without() -> None:
    async def ask() -> list[str | None]:
        held: Aids
        inner: list[str | None] = []

        async def make(_: Program) -> Ran:
            inner.append(await held.folder(AID_PROGRAM))
            return MADE

        held = Aids(run=make)
        for _ in range(WORTH + 1):
            await held.folder(AID_PROGRAM)
        held.close()
        return inner

    assert asyncio.run(ask()) == [None]


@pytest.mark.sandbox
class TestInTheSandbox:
    """What programs can do with an aid."""

    @pytest.fixture(autouse=True)
    def at_once(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(prebuilt, "WORTH", 0)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        tmp_path.chmod(0o755)

    def run(self, script: str, **given: Any) -> Ran:
        async def once() -> Ran:
            sandbox = Bubblewrap()
            try:
                steps = (Step(argv=("sh", "-c", script)),)
                return await sandbox.run(Program(steps=steps, aid=AID_PROGRAM, **given))
            finally:
                await sandbox.close()

        return asyncio.run(once())

    def test_it_can_be_read(self, tmp_path: Path) -> None:
        assert self.run(f"cat {AID}/made; ls {AID}").stdout == "once\nmade\n"
        assert list(tmp_path.glob("proctor-aid-*")) == []

    @pytest.mark.parametrize(
        "attack",
        [
            f"echo changed >{AID}/made",
            f"rm -f {AID}/made",
            f"mv {AID}/made {AID}/other",
            f"touch {AID}/more",
            f"chmod 777 {AID}",
            f"ln {AID}/made here",
        ],
    )
    def test_it_cannot_be_changed(self, attack: str) -> None:
        ran = self.run(f"{attack}; echo status $?; cat {AID}/made; ls {AID}")
        assert "status 0" not in ran.stdout
        assert ran.stdout.endswith("once\nmade\n"), ran
