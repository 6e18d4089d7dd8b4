"""What works after ``pip install .``, without any extra."""

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest

COMMANDS = """
import json, sys
sys.argv = ["proctor"]
{imports}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""
PARTS = {
    "the pages": "import uvicorn, proctor.web.app, proctor.cli.serving",
    "the command line": "import proctor.cli.main, proctor.engine.run.evaluate, proctor.store.store",
}


def installed_with(distribution: str, known: set[str]) -> set[str]:
    """Return the distributions that one needs without its extras."""
    try:
        lines = requires(distribution) or []
    except PackageNotFoundError:
        return known
    for line in lines:
        if "extra ==" in line:
            continue
        name = re.split(r"[\s;<>=!~\[(]", line, maxsplit=1)[0].lower().replace("_", "-")
        if name not in known:
            known.add(name)
            installed_with(name, known)
    return known


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_needs_no_extra(part: str) -> None:
    code = COMMANDS.format(imports=PARTS[part])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    owners = packages_distributions()
    base = installed_with("proctor", {"proctor"})
    needed = {
        module: {owner.lower().replace("_", "-") for owner in owners[module]}
        for module in json.loads(done.stdout)
        if module in owners
    }
    assert {module for module, names in needed.items() if not names & base} <= {
        "google",
        "_distutils_hack",
    }
    assert {"starlette", "jinja2"} <= base


def test_every_extra_is_listed_for_newcomers() -> None:
    from importlib.metadata import metadata
    from pathlib import Path

    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
    for_developers = {"test", "browser", "object-store", "peers", "dev"}
    extras = set(metadata("proctor").get_all("Provides-Extra") or ()) - for_developers - {"web"}
    assert {extra for extra in extras if f"`{extra}`" not in readme} == set()
