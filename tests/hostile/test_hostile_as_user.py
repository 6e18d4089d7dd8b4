"""The same attacks on a grader that is an ordinary user; `make full` tries all of them."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile.elsewhere import SOME_ATTACKS, copy_to, readable_python, run_tests
from level import LEVEL

USER = 61_437
"""A number that no account has."""
SANDBOX = "limit or left_behind or files or sees or nobody or steps"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="the tests beside this one run as a user already"),
    pytest.mark.sandbox,
]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="proctor-user-") as name:
        folder = Path(name)
        copy_to(folder)
        os.chown(folder / "home", USER, USER)
        yield folder


@pytest.mark.parametrize(
    "given",
    [
        ("tests/hostile/test_hostile.py", *(() if LEVEL.full else ("-k", SOME_ATTACKS))),
        ("tests/sandboxes/test_bubblewrap.py", "-k", SANDBOX),
        ("tests/sandboxes/test_warm_python.py",),
        ("tests/sandboxes/test_confined.py",),
        ("tests/sandboxes/test_started.py",),
        ("tests/sandboxes/test_prebuilt.py",),
    ],
    ids=["hostile", "sandboxes", "warm", "confined", "started", "prebuilt"],
)
def test_as_an_ordinary_user(place: Path, given: tuple[str, ...]) -> None:
    python = readable_python()
    if python is None:
        pytest.skip("no Python of this version that another user may run")
    who = {"user": USER, "group": USER, "extra_groups": []}
    run_tests(python, place, given, who, limit=600)
