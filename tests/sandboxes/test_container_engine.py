"""Engines of containers: what is missing is named, and what they do not limit is said."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.sandboxes import container_engine
from proctor.sandboxes.container import Container
from proctor.sandboxes.container_engine import engine_problems, find_engine, mended, unlimited


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a program called podman in the place of all engines."""
    place = tmp_path / "podman"
    monkeypatch.setattr(
        container_engine, "find_program", lambda name: str(place) if name == "podman" else None
    )
    for one in (find_engine, unlimited):
        one.cache_clear()
    yield place
    for one in (find_engine, unlimited):
        one.cache_clear()


def write(place: Path, script: str) -> None:
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)


MAPS = 'Error: command required for rootless mode with multiple IDs: exec: "newuidmap": executable file not found in $PATH'


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (MAPS, "apt-get install uidmap"),
        ("cannot find UID/GID for user: no subuid ranges found", "usermod --add-subuids"),
        ("there might not be enough IDs: insufficient UIDs or GIDs available", "/etc/subuid"),
        ("Error: crun: invalid file system type", 'runtime = "runc"'),
        ("kernel does not support overlay fs: overlay is not supported", "fuse-overlayfs"),
        ("Cannot connect to the Docker daemon at unix:///x. Is it running?", "install podman"),
    ],
)
def test_what_is_missing_is_named(fake: Path, words: str, fix: str) -> None:
    write(fake, f"echo 'level=warning msg=shared' >&2; echo '{words}' >&2; exit 125")
    assert fix in mended(words)
    (problem,) = engine_problems()
    assert problem.startswith(f"podman does not work: {words}")
    assert fix in problem
    (told,) = Container(image=f"never-tried-{len(words)}").problems()
    assert told == problem


@pytest.mark.parametrize(
    ("rootless", "version", "there", "words"),
    [
        (True, "v1", [], "does not limit memory, processors, processes of containers: control"),
        (True, "v2", ["memory", "pids"], "does not limit processors of containers: no such"),
        (True, "v2", ["cpu", "memory", "pids"], ""),
        (False, "v1", ["cpu", "memory", "pids"], ""),
    ],
)
def test_what_is_not_limited_is_said(
    fake: Path, rootless: bool, version: str, there: list[str], words: str
) -> None:
    host = {
        "cgroupVersion": version,
        "cgroupControllers": there,
        "security": {"rootless": rootless},
    }
    write(fake, f"echo '{json.dumps({'host': host})}'")
    assert words in unlimited()
    assert bool(words) == bool(unlimited())
    assert Container().processors_kept_by() == ("nothing" if words else "quota")
    assert [words in lack for lack in Container().lacks()] == [True] * bool(words)
