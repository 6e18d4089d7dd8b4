"""The house rules that no linter knows."""

import ast
import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

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
    "src/proctor/cli/options.py": "the options that commands share, each written once",
    "src/proctor/formats/native/case.py": "the keys of a case and how each is read, side by side",
    "src/proctor/scorers/programs/launchers/joined.py": "both ends of one protocol, laid into a sandbox as one file",
}
# Words that begin an order, not the name of a thing.
IMPERATIVES = {
    "Be", "Collect", "Compute", "Describe", "Gather", "Give", "Hold", "Keep", "Let", "Look", "Make", "Pass",
    "Put", "Read", "Remember", "Return", "Say", "Take", "Talk", "Tell", "Watch", "Write",
}  # fmt: skip
# Classes that are described otherwise: scorers in `proctor list scorers`, and verdicts, whose
# descriptions are part of what judges are asked, and so of the keys of stored calls.
SCORERS_AND_VERDICTS = {
    "Scorer",
    "TextScorer",
    "Handled",
    "BaseModel",
    "_Strict",
    "ClarifyVerdict",
    "FataLastVerdict",
}
# Programs that run inside a sandbox: their text is what was tried there.
IN_SANDBOXES = {
    "limits_watch",
    "supervise",
    "warm_supervisor",
    "zygote",
    "confined",
    "function_call",
}
# Names that say how a value came about, and not what it is.
PRIVATE_VOCABULARY = {"found", "made", "known", "said", "asked", "held", "given"}
# Where such a name is a key that others read: of the JSON API, of files and tables, of a verdict.
INTERFACES = {
    "src/proctor/core/comparison.py: asked",
    "src/proctor/engine/transfer/rows.py: asked",
    "src/proctor/origins/askbench/dialogue.py: given",
    "src/proctor/testing/server.py: said",
    "src/proctor/web/pages/case_models.py: asked",
    "src/proctor/web/pages/compare.py: asked",
    "src/proctor/web/pages/search_results.py: found",
    "src/proctor/web/pages/run.py: asked",
}
FORBIDDEN = {"utils", "util", "helpers", "common", "misc", "base", "manager", "handler"}
# A path of the machine it was written on. /tmp is everywhere: programs in tests may name it.
MACHINE = re.compile(r"(?<![\w/.])/(?:work|root|home)/\w")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def opening(path: Path) -> str:
    """Return the first line of a file's docstring; empty where it does not begin with one."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith('"""'):
        return ""
    return text.removeprefix('"""').split("\n")[0].removesuffix('"""')


@dataclass(frozen=True)
class ClassDefinition:
    """A class as it is written, with what its module imports."""

    path: Path
    node: ast.ClassDef
    imports: dict[str, str]

    def public_methods(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Return the methods that others may call; those of a private class are nobody's."""
        return [
            statement
            for statement in self.node.body
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
            and not statement.name.startswith("_")
            and not self.node.name.startswith("_")
            and not any(
                isinstance(decorator, ast.Attribute) and decorator.attr in {"setter", "deleter"}
                for decorator in statement.decorator_list
            )
        ]

    def base_names(self) -> list[str]:
        """Return the bases as they are written, without their type arguments."""
        return [
            ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
            for base in self.node.bases
        ]


def class_definitions(paths: list[Path]) -> dict[str, list[ClassDefinition]]:
    """Return the classes of modules by name; programs that run elsewhere are no modules."""
    definitions: dict[str, list[ClassDefinition]] = {}
    for path in paths:
        if {"launchers", "launcher"} & {*path.parts}:
            continue
        imports: dict[str, str] = {}
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                imports |= {alias.asname or alias.name: alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imports |= {a.asname or a.name: f"{node.module}:{a.name}" for a in node.names}
            elif isinstance(node, ast.ClassDef):
                definition = ClassDefinition(path, node, imports)
                definitions.setdefault(node.name, []).append(definition)
    return definitions


def overrides(
    method: str, definition: ClassDefinition, package: dict[str, list[ClassDefinition]]
) -> bool:
    """Tell whether a class inherits a method of this name."""
    for name in definition.base_names():
        last = name.rsplit(".", 1)[-1]
        for base in package.get(last, ()):
            if base.node is not definition.node and (
                any(getattr(statement, "name", "") == method for statement in base.node.body)
                or overrides(method, base, package)
            ):
                return True
        if last not in package and hasattr(foreign_class(name, definition.imports), method):
            return True
    return False


def foreign_class(name: str, imports: dict[str, str]) -> object:
    """Return a base class of another package; ``object`` where it is none that can be named."""
    module, _, rest = name.rpartition(".")
    target = imports.get(module, "") + ":" + rest if module else imports.get(name, ":")
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute, object) if module else object


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


def names_bound_in(tree: ast.Module) -> set[str]:
    """Return every name that a module binds: variables, arguments, attributes, definitions."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


@pytest.mark.parametrize(
    "source",
    ["found = 1", "def work(known): ...", "def _asked(): ...", "class Given: ...",
     "self.made = 1", "[said for said in ()]", "(held := 1)", "KNOWN: int = 1"],
)  # fmt: skip
def test_a_private_word_is_seen_wherever_it_is_bound(source: str) -> None:
    assert private_words(ast.parse(source))
    assert not private_words(ast.parse("known_keys = lookup.found('given')"))


def private_words(tree: ast.Module) -> set[str]:
    """Return the names of the private vocabulary that a module binds."""
    return {name for name in names_bound_in(tree) if name.strip("_").lower() in PRIVATE_VOCABULARY}


@pytest.mark.slow
def test_names_say_what_a_thing_is() -> None:
    bound = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in private_words(parsed(path))
    }
    assert bound == INTERFACES


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


@pytest.mark.slow
def test_no_two_modules_have_a_class_of_the_same_name() -> None:
    """``proctor.bench.Scorer`` is the one that users of Arthur Bench know by this name."""
    homes: dict[str, set[str]] = {}
    for path in SOURCES:
        # What runs inside the sandbox, or in an agent's process, is no module of the package.
        if {"launchers", "launcher"} & {*path.parts} or path.parent.name == "sandboxes":
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(str(path.relative_to(ROOT)))
    assert {name for name, paths in homes.items() if len(paths) > 1} <= {"Scorer"}


@pytest.mark.slow
def test_every_public_method_that_overrides_nothing_says_what_it_does() -> None:
    package = class_definitions(SOURCES)
    undocumented = [
        f"{definition.path.relative_to(ROOT)}:{method.lineno} {name}.{method.name}"
        for name, definitions in package.items()
        for definition in definitions
        for method in definition.public_methods()
        if not ast.get_docstring(method) and not overrides(method.name, definition, package)
    ]
    assert undocumented == []


def test_a_method_without_a_docstring_is_an_override_or_reported(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "import logging\n"
        "class Contract:\n"
        "    def run(self):\n"
        "        'Run.'\n"
        "class Between(Contract): pass\n"
        "class Plugin(Between, logging.Handler):\n"
        "    def run(self): pass\n"
        "    def emit(self, record): pass\n"
        "    def extra(self): pass\n"
        "    def _own(self): pass\n"
    )
    package = class_definitions([module])
    [plugin] = package["Plugin"]
    assert [method.name for method in plugin.public_methods()] == ["run", "emit", "extra"]
    assert [
        method.name
        for method in plugin.public_methods()
        if not overrides(method.name, plugin, package)
    ] == ["extra"]


@pytest.mark.slow
def test_a_class_is_described_by_what_it_is() -> None:
    described = {
        f"{definition.path.relative_to(ROOT)} {name}": ast.get_docstring(definition.node) or "-"
        for name, definitions in class_definitions(SOURCES).items()
        for definition in definitions
        if definition.path.stem not in IN_SANDBOXES
        and not SCORERS_AND_VERDICTS & {*definition.base_names()}
    }
    assert len(described) > 500
    orders = [place for place, text in described.items() if text.split()[0] in IMPERATIVES]
    assert orders == []
