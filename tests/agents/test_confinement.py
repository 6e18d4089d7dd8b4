"""What a confined agent sees and reaches."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.agents.confinement import Surroundings, confined, find_bwrap, places_of

pytestmark = pytest.mark.sandbox


def inside(tmp_path: Path, script: str) -> str:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "secret.txt").write_text("s")
    around = Surroundings(
        folder=tmp_path / "work", home=tmp_path / "home", env={"HOME": str(tmp_path / "home")}
    )
    command = confined(["/bin/sh", "-c", script], around)
    done = subprocess.run(
        command, capture_output=True, text=True, env=dict(around.env), check=False, timeout=60
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo kept > here && cat here", "kept"),
        ("cat ../secret.txt", "No such file"),
        ("env; tr '\\0' ' ' < /proc/1/environ; echo end", "end"),
        ("id -u", "1000"),
        ("exit 7", ""),
        ("touch /usr/x", "Read-only"),
    ],
)
def test_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the-real-key")
    said = inside(tmp_path, script)
    assert words in said
    assert "the-real-key" not in said


def test_only_loopback_of_its_own_is_there(tmp_path: Path) -> None:
    look = "import socket; print(sorted(n for _, n in socket.if_nameindex()))"
    said = inside(tmp_path, f'{os.path.realpath(sys.executable)} -c "{look}"')
    assert said.strip() == "['lo']"


def test_a_program_from_npm_needs_all_its_packages(tmp_path: Path) -> None:
    assert find_bwrap()
    package = tmp_path / "node_modules" / "p"
    package.mkdir(parents=True)
    (package / "cli.js").write_text("")
    link = tmp_path / "bin"
    link.symlink_to(package / "cli.js")
    assert places_of(str(link))[:2] == [str(link), str(tmp_path / "node_modules")]
