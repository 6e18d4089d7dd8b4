"""The maps for people who change the code: every file and folder that they name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?|[a-z_]+\.py)`")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_place_is_there(page: str) -> None:
    names = NAMED.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(names) >= 15
    places = (ROOT / "src" / "proctor", ROOT)
    assert [name for name in names if not any((place / name).exists() for place in places)] == []


def test_every_folder_is_on_the_map_and_says_what_belongs_there() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    root = ROOT / "src" / "proctor"
    folders = {path.parent for path in root.rglob("__init__.py")} - {root}
    top = sorted(folder.name for folder in folders if folder.parent == root)
    assert [name for name in top if f"src/proctor/{name}/" not in page] == []
    for home in ("engine", "scorers"):
        # The entry of a folder goes on until the next one begins.
        entry = page.partition(f"src/proctor/{home}/")[2].partition("src/proctor/")[0]
        below = sorted(folder.name for folder in folders if folder.parent == root / home)
        assert [name for name in below if name not in entry] == [], home
    silent = [f for f in folders if not (f / "__init__.py").read_text().startswith('"""')]
    assert silent == []
