"""A store that is deleted while a run goes on: the run ends and says so."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer
from waiting import PATIENCE, until

SUITE = "name: many\ncases:\n" + "".join(
    f"  - id: c{n}\n    ask: Question {n}?\n    criteria: word\n" for n in range(60)
)


def deleted(folder: Path) -> None:
    shutil.rmtree(folder)


def journal_deleted(folder: Path) -> None:
    (folder / "proctor.db-wal").unlink()


@pytest.mark.parametrize("harm", [deleted, journal_deleted])
@pytest.mark.slow
def test_the_run_ends_and_names_the_file(cli: Any, harm: Callable[[Path], None]) -> None:
    cli.write("suite.yaml", SUITE)
    folder = cli.folder / ".proctor"
    with FakeServer("a word", latency=0.5) as server:
        args = ("run", "suite.yaml", "--model", f"openai:m@{server.url}", "--concurrency", "2")
        with subprocess.Popen(
            cli.command(*args), cwd=cli.folder, env=cli.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            until(lambda: len(server.calls) >= 4)
            assert process.poll() is None
            harm(folder)
            _, said = process.communicate(timeout=PATIENCE)
        asked = len(server.calls)
    assert process.returncode == 2, said
    assert "Traceback" not in said
    assert "proctor.db" in said
    assert "while it was in use" in said
    assert "fix:" in said
    assert asked < 60, "nobody was asked any more"
    if harm is deleted:
        assert not folder.exists()
