"""Stores that earlier versions wrote, each in a folder with the files that it was made from."""

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
VERSIONS = sorted(path.name for path in HERE.glob("v*_*_*"))


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def old_files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    shutil.copytree(HERE / "files", folder)
    return folder


@pytest.fixture
def sqlite_store(version: str, old_files: Path) -> str:
    place = old_files / "proctor.db"
    place.write_bytes(gzip.decompress((HERE / version / "store.db.gz").read_bytes()))
    return str(place)


@pytest.fixture
def postgresql_store(version: str) -> Iterator[str]:
    import pgserver

    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        running = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            psql = Path(pgserver.__file__).parent / "pginstall" / "bin" / "psql"
            dump = gzip.decompress((HERE / version / "store.sql.gz").read_bytes())
            subprocess.run(
                [str(psql), "--quiet", "--set", "ON_ERROR_STOP=1", running.get_uri()],
                input=dump, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            yield running.get_uri()
        finally:
            running.cleanup()


@pytest.fixture
def command(proctor: str, old_files: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Call `proctor` in the folder of the old files, without any model server."""
    environment = {name: value for name, value in os.environ.items() if "PROCTOR" not in name}

    def call(*args: str, store: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [proctor, *args, "--store", store],
            cwd=old_files, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return call


@pytest.fixture(scope="session")
def written() -> Any:
    """Give the module that says which commands wrote the stores."""
    sys.path.insert(0, str(HERE))
    try:
        import write_store
    finally:
        sys.path.remove(str(HERE))
    return write_store
