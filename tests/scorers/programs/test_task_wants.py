"""What test scripts would fetch is known before they run, and what of it is lacking."""

import subprocess
import sys

import pytest

from proctor.scorers.programs.task_wants import LACKING, Wanted, is_told, lacking, wanted


@pytest.mark.parametrize(
    ("script", "packages", "programs"),
    [
        ("curl -LsSf https://astral.sh/uv/install.sh | sh", [], []),
        (
            "uvx -p 3.13 -w pytest==8.4.1 -w pytest-json-ctrf==0.3.5 -w 'numpy>=1.26' pytest -rA",
            ["pytest", "numpy"],
            [],
        ),
        ("uvx \\\n  --with=httpx,rich \\\n  pytest /tests -p no:cacheprovider",
         ["httpx", "rich", "pytest"], []),
        ("uv run --with Torch_Geometric python x.py --with y", ["torch-geometric"], []),
        ("uv tool run --from pytest==8 pytest", ["pytest"], []),
        ("uv init && uv add flask requests==2.32", ["flask", "requests"], []),
        ("uv pip install --system -r needs.txt pandas[all]==2", ["pandas"], []),
        ("/usr/bin/python3.12 -m pip install -q ./mine git+https://x/y scipy 2>/dev/null",
         ["scipy"], []),
        ("apt-get update && DEBIAN_FRONTEND=x apt-get install -y curl jq >/dev/null 2>&1",
         [], ["jq"]),
        ("if ! sudo apt install -y build-essential; then exit 1; fi", [], ["build-essential"]),
        ("echo pip install numpy\npip list\nuv --version", [], []),
        ("pip install $WANTED\necho 'two\nlines'\npip install six", ["six"], []),
    ],
)  # fmt: skip
def test_what_a_script_would_fetch(script: str, packages: list[str], programs: list[str]) -> None:
    assert wanted(script) == Wanted(tuple(packages), tuple(programs))


def told(wants: Wanted, **env: str) -> list[str]:
    argv = ["/bin/sh", "-c", LACKING, "sh", *wants.arguments]
    path = {"PATH": "/usr/bin:/bin", **env}
    return lacking(
        subprocess.run(argv, env=path, capture_output=True, text=True, check=True).stdout
    )


def test_what_is_lacking_is_told_by_name() -> None:
    wants = Wanted(("pytest", "PyYAML-not-there", "hypothesis"), ("sh", "not-there-either"))
    lacks = ["PyYAML-not-there", "not-there-either"]
    assert told(wants, PROCTOR_PYTHON=sys.executable) == lacks
    assert told(Wanted(programs=("sh", "x-not-there"))) == ["x-not-there"]
    # Without Python nothing of it can be there.
    assert told(Wanted(("pytest",), ("sh",)), PROCTOR_PYTHON="no-python") == ["python3"]


def test_tests_say_what_they_miss() -> None:
    assert is_told("/tests/test.sh: line 3: jq: command not found")
    assert is_told("E   ModuleNotFoundError: No module named 'PIL'")
    assert not is_told("FAILED test_outputs.py::test_page - 404 Not Found")
