"""Every module with logic of its own has a test at the mirrored place: named for it, or importing it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "proctor"
# Commands are tested as users call them, in tests/e2e; migrations on old stores, in tests/upgrade;
# what runs inside a sandbox or an agent's process is no module of the package, nor is what
# `proctor init` writes, which tests/starter runs as users do.
ELSEWHERE = ("cli", "migrations", "launchers", "launcher", "templates")
# A command that an origin brings along, by the name that users call it: tests/e2e/test_NAME_cli.py.
COMMANDS = {
    f"origins/{origin}/command.py": name
    for origin, name in (
        ("arthur", "bench"),
        ("askbench", "askbench"),
        ("colossal", "colossal"),
        ("infibench", "infibench"),
        ("taskweaver", "taskweaver"),
    )
}
# Programs that run by themselves inside a sandbox, as launchers do. They are one with its
# namespaces and limits: tests/hostile and tests/sandboxes reach them with programs that attack them.
IN_SANDBOXES = {
    f"sandboxes/{name}.py" for name in ("door", "supervise", "warm_supervisor", "zygote")
}
DECIDES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Try,
    ast.IfExp,
    ast.Match,
    ast.comprehension,
)
IMPORTED = re.compile(r"^ *(?:from|import) (proctor[\w.]*)(?: import (\([^)]*\)|[^\n]*))?", re.M)
ENOUGH = 3
"""With fewer branches and loops, a module has no logic of its own."""


def has_logic(path: Path) -> bool:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return sum(isinstance(node, DECIDES) for node in nodes) >= ENOUGH


def imports(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, by full names."""
    found: set[str] = set()
    for module, names in IMPORTED.findall(path.read_text(encoding="utf-8")):
        found |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
    return found


def without_own_test() -> set[str]:
    """Return the modules with logic that no test in the folder of the same name is about."""
    tested: dict[Path, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        place = path.parent.relative_to(ROOT / "tests")
        tested.setdefault(place, set()).update(imports(path), [path.stem])
    missing = set()
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if path.stem.startswith("__") or {*place.parts} & {*ELSEWHERE}:
            continue
        name = ".".join(("proctor", *place.with_suffix("").parts))
        own = {name, f"test_{path.stem}", f"test_{place.parent.name}_{path.stem}"}
        if not own & tested.get(place.parent, set()) and has_logic(path):
            missing.add(place.as_posix())
    return missing


def test_a_module_with_logic_has_a_test_at_the_mirrored_place() -> None:
    missing = without_own_test() - COMMANDS.keys() - IN_SANDBOXES
    assert sorted(missing) == [], "write a test for it in the folder of the same name"


def test_a_command_of_an_origin_is_tested_as_users_call_it() -> None:
    commands = {
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("origins/*/command.py")
    }
    assert commands == {*COMMANDS}
    for name in COMMANDS.values():
        path = ROOT / "tests" / "e2e" / f"test_{name}_cli.py"
        assert f'"{name}"' in path.read_text(encoding="utf-8"), path.name


def test_a_program_inside_a_sandbox_is_imported_by_nothing_of_the_package() -> None:
    programs = {f"proctor.{place[:-3].replace('/', '.')}" for place in IN_SANDBOXES}
    assert all((PACKAGE / place).is_file() for place in IN_SANDBOXES)
    importing = [path.name for path in PACKAGE.rglob("*.py") if imports(path) & programs]
    assert importing == []
