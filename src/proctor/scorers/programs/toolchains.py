"""The toolchains of this machine: what is there, in which version, and what programs see of it."""

import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from proctor.contracts.scorer import LanguageSupport
from proctor.io.child_processes import find_program, probe
from proctor.io.search_paths import find_installed
from proctor.scorers.programs.language import Language
from proctor.scorers.programs.language_table import LANGUAGES, TYPESCRIPT
from proctor.scorers.programs.npm_folders import (
    has_typescript,
    left_out_words,
    npm_folders,
    package_version,
)
from proctor.scorers.programs.python_packages import package_versions

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
PATH = "/usr/local/bin:/usr/bin:/bin"
NODE = ("javascript", "typescript")
R_LIBRARIES = ("/usr/lib/R/library", "/usr/lib/R/site-library", "/usr/local/lib/R/site-library",
               "/usr/lib64/R/library", "/usr/share/R/library")  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*|\d+-(?!Bit)\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """The tools that this machine has for a language."""

    names: Mapping[str, str] = field(default_factory=dict)
    """What the commands of the table are called here."""
    path: str = PATH
    needs: tuple[str, ...] = ()
    """Folders outside of the system's own that a program must see."""
    modules: tuple[str, ...] = ()
    """Folders of npm packages."""
    typescript: str = ""
    missing: tuple[str, ...] = ()
    left_out: str = ""
    """What is said of npm packages that are there and not shown to programs."""

    def command(self, argv: Iterable[str]) -> tuple[str, ...]:
        """Return a command of the table as it is called here."""
        parts = (part.replace(TYPESCRIPT, self.typescript) for part in argv)
        return tuple(self.names.get(part, part) for part in parts)


def listed() -> list[LanguageSupport]:
    """Describe all languages, with what this machine has for them."""
    rows = []
    for language in LANGUAGES:
        available = not toolchain(language).missing
        rows.append(
            LanguageSupport(
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
    return [name for name in _requested(language, texts) if not _has(language.name, name, modules)]


def loaded(language: Language, texts: Iterable[str]) -> list[str]:
    """Return the packages that texts of a suite ask for and this machine has."""
    modules = toolchain(language).modules
    requested = [name for name in _requested(language, texts) if name not in _node_builtins()]
    return [name for name in requested if _has(language.name, name, modules)]


def package_versions_of(language: Language, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the packages that texts of a suite ask for, with their versions on this machine."""
    names = loaded(language, texts)
    if language.name == "python":
        return package_versions(names)
    if language.name == "r":
        return tuple(f"{name} {_r_version(name)}" for name in names)
    folders = toolchain(language).modules
    return tuple(f"{name} {_npm_version(name, folders)}" for name in map(_npm_package, names))


def _npm_package(name: str) -> str:
    """Return the package that a name of a module belongs to."""
    return "/".join(name.split("/")[: 2 if name.startswith("@") else 1])


@cache
def _npm_version(package: str, folders: tuple[str, ...]) -> str:
    versions = (package_version(f"{folder}/{package}") for folder in folders)
    return next(filter(None, versions), "")


@cache
def _r_version(name: str) -> str:
    for library in R_LIBRARIES:
        with suppress(OSError):
            text = Path(library, name, "DESCRIPTION").read_text(encoding="utf-8", errors="replace")
            if match := re.search(r"^Version:\s*(\S+)", text, re.M):
                return match[1]
    return ""


def _requested(language: Language, texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for text in texts for name in _loaded_by(language, text)))


@cache
def _find(name: str, path: str, node_path: str, cwd: str) -> Toolchain:
    language = next(row for row in LANGUAGES if row.name == name)
    if language.tools[0][0] == "python3":
        return Toolchain(path=f"{sys.prefix}/bin:{PATH}", needs=(sys.prefix,))
    names, folders, missing = {}, [], []
    needs = [folder for folder in language.needs if os.path.isdir(folder)]
    for choice in language.tools:
        program = find_program(*choice, path=path)
        if not program:
            missing.append(choice[0])
            continue
        tool = Path(_rust(program) if choice[0] == "rustc" else program)
        if not _of_system(str(tool)):
            tool = Path(os.path.realpath(tool))
            folders.append(str(tool.parent))
            needs.append(_home_of(tool, cwd))
        names[choice[0]] = tool.name
    modules: tuple[str, ...] = ()
    typescript = left_out = ""
    if name in NODE and not missing:
        left_out = left_out_words(cwd)
        node = find_program("node", "nodejs", path=path)
        modules = tuple(npm_folders(node, path=path, node_path=node_path, cwd=cwd))
        typescript = next((f"{m}/typescript" for m in modules if has_typescript(m)), "")
        if name == "typescript" and not typescript:
            missing.append(f"the npm package typescript{left_out}")
        needs += [folder for folder in modules if not _of_system(folder)]
    return Toolchain(
        names=names,
        path=":".join([*dict.fromkeys(folders), PATH]),
        needs=tuple(dict.fromkeys(needs)),
        modules=modules,
        typescript=typescript,
        missing=tuple(missing),
        left_out=left_out,
    )


def _rust(program: str) -> str:
    """Return the compiler itself where what was found only chooses among several."""
    sysroot = probe([program, "--print", "sysroot"]).stdout.strip()
    own = f"{sysroot}/bin/rustc"
    return own if os.path.isabs(sysroot) and os.access(own, os.X_OK) else program


def _of_system(path: str) -> bool:
    return any(path == root or path.startswith(root + "/") for root in SYSTEM)


def _home_of(tool: Path, cwd: str) -> str:
    """Return the folder that a tool was installed in, or the tool alone where that is too much.

    It is too much where a person's own files are in it, or the suite and its answers.
    """
    prefix = tool.parent.parent
    inside = (Path.home(), Path.home() / ".local", Path(os.path.realpath(cwd)))
    private = any(place.is_relative_to(prefix) for place in inside)
    return str(prefix) if tool.parent.name == "bin" and not private else str(tool)


@cache
def _version(name: str, path: str, typescript: str) -> str:
    language = next(row for row in LANGUAGES if row.name == name)
    if name == "python":
        return platform.python_version()
    if name == "sql":
        import sqlite3

        return sqlite3.sqlite_version
    if name == "typescript":
        return package_version(typescript)
    result = probe([find_program(*language.tools[0], path=path), *language.version])
    numbers = _NUMBER.findall(result.stdout + result.stderr)
    return numbers[0] if numbers else ""


def _loaded_by(language: Language, text: str) -> Iterator[str]:
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
        built_in = name in sys.stdlib_module_names or name == "program"
        return built_in or find_installed(name) is not None
    if language == "r":
        return name == "assert" or any(os.path.isdir(f"{at}/{name}") for at in R_LIBRARIES)
    package = _npm_package(name)
    there = any(os.path.isdir(f"{folder}/{package}") for folder in modules)
    return there or package in _node_builtins()


@cache
def _node_builtins() -> frozenset[str]:
    script = "console.log(require('module').builtinModules.join(' '))"
    return frozenset(probe([find_program("node", "nodejs"), "-e", script]).stdout.split())
