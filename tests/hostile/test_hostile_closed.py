"""The same attacks, all of them, where the superuser has an environment that others may not read.

It cannot become nobody there, since nobody could not read the packages: programs run under the
number of the host's superuser, and what listens to that number must be covered.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile.elsewhere import SOME_ATTACKS, copy_to, run_tests
from level import LEVEL

STAYS = """
import sys
from proctor.sandboxes.bubblewrap import droppable
sys.exit(droppable((sys.prefix,)))
"""

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser becomes nobody"),
    pytest.mark.sandbox,
]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="proctor-closed-") as name:
        folder = Path(name)
        copy_to(folder)
        environment = folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        environment.chmod(0o700)
        yield folder


def python_in(place: Path) -> str:
    return str(place / "environment/bin/python")


@pytest.mark.slow
def test_the_superuser_stays_what_it_is_here(place: Path) -> None:
    paths = f"{place / 'src'}:{place / 'packages'}"
    given = [python_in(place), "-c", STAYS]
    assert subprocess.run(given, env={"PYTHONPATH": paths}, check=False).returncode == 0


@pytest.mark.slow
def test_with_a_closed_environment(place: Path) -> None:
    chosen = () if LEVEL.full else ("-k", SOME_ATTACKS)
    run_tests(python_in(place), place, ("tests/hostile/test_hostile.py", *chosen), {}, limit=600)
