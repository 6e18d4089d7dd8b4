"""Modules that a suite names: their text with the files that they need, and no others."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from proctor.formats import carried_modules as suite_modules
from proctor.formats.carried_modules import SuiteModules, file_of, is_module_name


def carried(
    folder: Path, files: Mapping[str, str], module: str = "check"
) -> tuple[set[str], list[str]]:
    """Write files, and return which of them travel with a module, and what is warned of."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    modules, warned = SuiteModules(root=folder, home=folder), list[str]()
    path = modules.find(module)
    assert path is not None
    params = modules.params(module, path, warned.append)
    assert params["source"] == files[file_of(module)]
    assert modules.params(module, path, pytest.fail) is params
    return set(params.get("files", {})), warned


@pytest.mark.parametrize(
    ("source", "others", "expected"),
    [
        ("import json, os", {"json.py": "x = 1"}, set()),
        ("import helper", {"helper.py": "import deeper", "deeper.py": ""},
         {"helper.py", "deeper.py"}),
        ("from pack import part", {"pack/__init__.py": "", "pack/part.py": "", "pack/other.py": ""},
         {"pack/__init__.py", "pack/part.py"}),
        ("from pack.part import thing", {"pack/__init__.py": "", "pack/part.py": ""},
         {"pack/__init__.py", "pack/part.py"}),
        ("open('data.txt')", {"data.txt": "1", "unnamed.txt": "2"}, {"data.txt"}),
        ("open(os.path.join('data', 'a.csv'))", {"data/a.csv": "1", "data/b.csv": "2"},
         {"data/a.csv"}),
        ("open('../secret'); open('/etc/passwd')", {}, set()),
        ("import check", {}, set()),
    ],
)  # fmt: skip
def test_what_a_module_needs_travels_with_it(
    tmp_path: Path, source: str, others: dict[str, str], expected: set[str]
) -> None:
    files, warned = carried(tmp_path, {"check.py": source, **others})
    assert files == expected
    assert warned == []


def test_relative_imports_begin_in_the_folder_of_the_module(tmp_path: Path) -> None:
    files, _ = carried(
        tmp_path,
        {
            "pack/check.py": "from . import near\nfrom .. import far",
            "pack/near.py": "",
            "far.py": "",
        },
        "pack.check",
    )
    assert files == {"pack/near.py", "far.py"}


def test_what_cannot_travel_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_modules, "MOST", 10)
    files, warned = carried(
        tmp_path, {"check.py": "open('a'); open('b'); open('c')", "a": "x" * 6, "b": "x" * 6, "c": "x" * 11}
    )  # fmt: skip
    assert files == {"a"}
    assert [("'b'" in warned[0], "together" in warned[0]), "'c'" in warned[1]] == [
        (True, True),
        True,
    ]


def test_a_module_that_is_no_python_travels_alone_and_that_is_told(tmp_path: Path) -> None:
    files, warned = carried(tmp_path, {"check.py": "def (:", "helper.py": ""})
    assert files == set()
    assert warned[0].startswith("check.py is not valid Python (line 1)")


def test_a_module_outside_of_the_root_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "out.py").write_text("")
    root = tmp_path / "suite"
    root.mkdir()
    (root / "link.py").symlink_to(tmp_path / "out.py")
    modules = SuiteModules(root=root, home=root)
    assert modules.find("link") is None
    assert modules.find("none") is None


@pytest.mark.parametrize(
    ("text", "is_one"), [("a", True), ("a.b-c", True), ("a..b", False), ("a/b", False), ("", False)]
)
def test_a_dotted_name_is_a_module(text: str, is_one: bool) -> None:
    assert is_module_name(text) is is_one
