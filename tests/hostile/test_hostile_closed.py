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

from hostile.elsewhere import copy_to, run_tests
from proctor.sandboxes.bubblewrap import Bubblewrap

ALL = "PROCTOR_LANGUAGES_WANTED" in os.environ
SOME = (
    "write_proc or mark_host or proc_sys or kernel_memory or sys_files or fork_bomb.py"
    " or open_supervisor or read_first or see_others or claim_on_every or warm_interpreter or host_is"
)
STAYS = """
import sys
from proctor.sandboxes.bubblewrap import droppable
sys.exit(droppable((sys.prefix,)))
"""

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser becomes nobody"),
    pytest.mark.skipif(bool(list(Bubblewrap().problems())), reason="bubblewrap does not work here"),
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


@pytest.mark.long
def test_the_superuser_stays_what_it_is_here(place: Path) -> None:
    paths = f"{place / 'src'}:{place / 'packages'}"
    given = [python_in(place), "-c", STAYS]
    assert subprocess.run(given, env={"PYTHONPATH": paths}, check=False).returncode == 0


@pytest.mark.long
def test_with_a_closed_environment(place: Path) -> None:
    chosen = () if ALL else ("-k", SOME)
    run_tests(python_in(place), place, ("tests/hostile/test_hostile.py", *chosen), {}, limit=600)
