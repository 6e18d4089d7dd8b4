"""The toolchains of this machine: what is there, in which version, and what programs see of it."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from proctor.scorers.languages_row import Language
from proctor.scorers.languages_table import LANGUAGES, TYPESCRIPT

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
PATH = "/usr/local/bin:/usr/bin:/bin"
NODE = ("javascript", "typescript")
R_LIBRARIES = ("/usr/lib/R/library", "/usr/lib/R/site-library", "/usr/local/lib/R/site-library",
               "/usr/lib64/R/library", "/usr/share/R/library")  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*|\d+-(?!Bit)\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """Hold what this machine has for a language."""

    names: Mapping[str, str] = field(default_factory=dict)
    """What the commands of the table are called here."""
    path: str = PATH
    needs: tuple[str, ...] = ()
    """Folders outside of the system's own that a program must see."""
    modules: tuple[str, ...] = ()
    """Folders of npm packages."""
    typescript: str = ""
    missing: tuple[str, ...] = ()

    def command(self, argv: Iterable[str]) -> tuple[str, ...]:
        """Return a command of the table as it is called here."""
        parts = (part.replace(TYPESCRIPT, self.typescript) for part in argv)
        return tuple(self.names.get(part, part) for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Describe a language to a person."""

    name: str
    aliases: tuple[str, ...]
    available: bool
    version: str
    install: str
    tested: bool


def listed() -> list[Listed]:
    """Describe all languages, with what this machine has for them."""
    rows = []
    for language in LANGUAGES:
        available = not toolchain(language).missing
        rows.append(
            Listed(
                name=language.name,
                aliases=language.aliases,
                available=available,
                version=version(language) if available else "",
                install=language.install,
                tested=language.tested,
            )
        )
    return rows


def toolchain(language: Language) -> Toolchain:
    """Find the toolchain of a language on this machine."""
    environment = os.environ
    return _find(
        language.name, environment.get("PATH", ""), environment.get("NODE_PATH", ""), os.getcwd()
    )


def version(language: Language) -> str:
    """Return the version of a language's toolchain; empty where it does not say."""
    return _version(language.name, os.environ.get("PATH", ""), toolchain(language).typescript)


def lacking(language: Language, texts: Iterable[str]) -> list[str]:
    """Return the packages that texts of a suite ask for and this machine does not have."""
    modules = toolchain(language).modules
    return [name for name in _wanted(language, texts) if not _has(language.name, name, modules)]


def loaded(language: Language, texts: Iterable[str]) -> list[str]:
    """Return the packages that texts of a suite ask for and this machine has."""
    modules = toolchain(language).modules
    wanted = [name for name in _wanted(language, texts) if name not in _node_builtins()]
    return [name for name in wanted if _has(language.name, name, modules)]


def _wanted(language: Language, texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for text in texts for name in _asked(language, text)))


@cache
def _find(name: str, path: str, node_path: str, cwd: str) -> Toolchain:
    language = next(row for row in LANGUAGES if row.name == name)
    if language.tools[0][0] == "python3":
        return Toolchain(path=f"{sys.prefix}/bin:{PATH}", needs=(sys.prefix,))
    names, folders, missing = {}, [], []
    needs = [folder for folder in language.needs if os.path.isdir(folder)]
    for choice in language.tools:
        found = _which(choice, path)
        if not found:
            missing.append(choice[0])
            continue
        tool = Path(_rust(found) if choice[0] == "rustc" else found)
        if not _of_system(str(tool)):
            tool = Path(os.path.realpath(tool))
            folders.append(str(tool.parent))
            needs.append(_home_of(tool))
        names[choice[0]] = tool.name
    modules: tuple[str, ...] = ()
    typescript = ""
    if name in NODE and not missing:
        modules = tuple(_modules(path, node_path, cwd))
        typescript = next((f"{m}/typescript" for m in modules if _is_typescript(m)), "")
        if name == "typescript" and not typescript:
            missing.append("the npm package typescript")
        needs += [folder for folder in modules if not _of_system(folder)]
    return Toolchain(
        names=names,
        path=":".join([*dict.fromkeys(folders), PATH]),
        needs=tuple(dict.fromkeys(needs)),
        modules=modules,
        typescript=typescript,
        missing=tuple(missing),
    )


def _which(choice: Iterable[str], path: str) -> str:
    return next((found for tool in choice if (found := shutil.which(tool, path=path))), "")


def _rust(found: str) -> str:
    """Return the compiler itself where what was found only chooses among several."""
    sysroot = _said([found, "--print", "sysroot"]).strip()
    own = f"{sysroot}/bin/rustc"
    return own if os.access(own, os.X_OK) else found


def _of_system(path: str) -> bool:
    return any(path == root or path.startswith(root + "/") for root in SYSTEM)


def _home_of(tool: Path) -> str:
    """Return the folder that a tool was installed in, or the tool alone where that is too much."""
    prefix = tool.parent.parent
    private = {Path("/"), Path.home(), Path.home() / ".local"}
    return str(prefix) if tool.parent.name == "bin" and prefix not in private else str(tool)


def _modules(path: str, node_path: str, cwd: str) -> Iterator[str]:
    """Yield the folders that may hold npm packages, the nearest first."""
    node = os.path.realpath(_which(("node", "nodejs"), path))
    folders = [*filter(None, node_path.split(":")), f"{cwd}/node_modules"]
    if compiler := shutil.which("tsc", path=path):
        folders.append(str(Path(os.path.realpath(compiler)).parents[2]))
    folders += [str(Path(node).parent.parent / "lib" / "node_modules")]
    folders += ["/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs"]
    there = [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]
    if not any(_is_typescript(folder) for folder in there) and (
        npm := shutil.which("npm", path=path)
    ):
        there.append(_said([npm, "root", "-g"]).strip())
    yield from (folder for folder in dict.fromkeys(there) if os.path.isdir(folder))


def _is_typescript(folder: str) -> bool:
    return os.path.isfile(f"{folder}/typescript/package.json")


@cache
def _version(name: str, path: str, typescript: str) -> str:
    language = next(row for row in LANGUAGES if row.name == name)
    if name == "python":
        return platform.python_version()
    if name == "sql":
        import sqlite3

        return sqlite3.sqlite_version
    if name == "typescript":
        with open(f"{typescript}/package.json", encoding="utf-8") as file:
            return str(json.load(file).get("version", ""))
    tool = _which(language.tools[0], path)
    numbers = _NUMBER.findall(_said([tool, *language.version], both=True))
    return numbers[0] if numbers else ""


def _said(argv: list[str], *, both: bool = False) -> str:
    """Return what a command of this machine's own prints; nothing if it does not work."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return done.stdout + (done.stderr if both else "")


def _asked(language: Language, text: str) -> Iterator[str]:
    """Yield the packages that a text loads where it begins to run."""
    if language.name == "python":
        for line in re.finditer(r"^(?:import|from)\s+([A-Za-z_]\w*)", text, re.M):
            yield line[1]
    elif language.name in NODE:
        for line in re.finditer(r"\brequire\(\s*['\"]([^.'\"/:][^'\":]*)['\"]\s*\)", text):
            yield line[1]
    elif language.name == "r":
        for line in re.finditer(r"^\s*library\(\s*['\"]?([\w.]+)", text, re.M):
            yield line[1]


@cache
def _has(language: str, name: str, modules: tuple[str, ...]) -> bool:
    if language == "python":
        return name in sys.stdlib_module_names or name == "program" or find_spec(name) is not None
    if language == "r":
        return name == "assert" or any(os.path.isdir(f"{at}/{name}") for at in R_LIBRARIES)
    package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
    there = any(os.path.isdir(f"{folder}/{package}") for folder in modules)
    return there or package in _node_builtins()


@cache
def _node_builtins() -> frozenset[str]:
    script = "console.log(require('module').builtinModules.join(' '))"
    return frozenset(_said(["node", "-e", script]).split())
