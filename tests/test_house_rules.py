"""The house rules that no linter knows."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# Files that are given to Proctor, not tests.
GIVEN = (ROOT / "tests" / "broken", ROOT / "tests" / "hostile" / "programs")
TESTS = [
    path
    for path in sorted((ROOT / "tests").rglob("*.py"))
    if not any(path.is_relative_to(folder) for folder in GIVEN)
]
# Files above 600 lines, each with the reason why it is still one thought.
LONG = {
    "src/proctor/scorers/programs/launchers/joined.py": "both ends of one protocol, laid into a sandbox as one file",
}
FORBIDDEN = {"utils", "util", "helpers", "common", "misc", "base", "manager", "handler"}
# A path of the machine it was written on. /tmp is everywhere: programs in tests may name it.
MACHINE = re.compile(r"(?<![\w/.])/(?:work|root|home)/\w")


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def opening(path: Path) -> str:
    """Return the first line of a file's docstring; empty where it does not begin with one."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith('"""'):
        return ""
    return text.removeprefix('"""').split("\n")[0].removesuffix('"""')


def test_every_file_opens_with_one_line_that_says_what_it_is_for() -> None:
    found = {str(path.relative_to(ROOT)): opening(path) for path in SOURCES + TESTS}
    assert {
        path: first for path, first in found.items() if not first.endswith((".", "alone", ":"))
    } == {}


def test_long_files_say_why() -> None:
    found = {str(p.relative_to(ROOT)) for p in SOURCES + TESTS if lines(p) > 600}
    assert found <= LONG.keys()
    assert all((ROOT / name).exists() for name in LONG)


def test_no_file_is_called_by_a_name_that_says_nothing() -> None:
    assert [path for path in SOURCES + TESTS if path.stem in FORBIDDEN] == []


def test_no_path_of_one_machine_is_written_down() -> None:
    suffixes = {".py", ".md", ".toml", ".yaml", ".json", ".jsonl", ".csv"}
    folders = ["src", "tests", "docs", "examples", "benchmarks", ".ci"]
    files = [p for name in folders for p in (ROOT / name).rglob("*") if p.suffix in suffixes]
    files += [p for p in ROOT.iterdir() if p.suffix in suffixes or p.name == "Makefile"]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in files
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
        )
        if MACHINE.search(line)
    ]
    assert found == []


def test_the_papers_are_there() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"):
        assert (ROOT / name).read_text(encoding="utf-8").strip(), name
    assert (ROOT / "src" / "proctor" / "py.typed").exists()


def test_the_exception_tree_is_drawn_whole() -> None:
    tree = ast.parse((ROOT / "src" / "proctor" / "errors.py").read_text(encoding="utf-8"))
    drawn = ast.get_docstring(tree) or ""
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef) and n.name != "Problem"}
    assert {name for name in classes if name not in drawn} == set()


def test_no_two_modules_have_a_class_of_the_same_name() -> None:
    """``proctor.bench.Scorer`` is the one that users of Arthur Bench know by this name."""
    homes: dict[str, set[str]] = {}
    for path in SOURCES:
        # What runs inside the sandbox, or in an agent's process, is no module of the package.
        if {"launchers", "launcher"} & {*path.parts} or path.parent.name == "sandboxes":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(str(path.relative_to(ROOT)))
    assert {name for name, paths in homes.items() if len(paths) > 1} <= {"Scorer"}
