"""Dependencies of a user's code: the text of its module, and everything that it uses.

Modules that are not installed are read and hashed together with what they import from the same
places and with the files they name; installed packages count by their version. Contents and
relative names count, so that neither the folder nor the age of a file makes a difference.
"""

import ast
import hashlib
import os
import platform
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from proctor.core.fingerprint import digest
from proctor.io.search_paths import find_installed, installed_versions, is_installed

MOST_FILES = 2000
"""Maximum number of files of one plugin; of more, the first in order count."""
MOST_LOOKED_AT = 20_000
"""Maximum number of files scanned when code searches a whole tree."""
_LISTING = frozenset({
    "glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "walk", "iter_modules",
    "walk_packages",
})  # fmt: skip
"""Functions that find files without naming them."""
_DEEP = frozenset({"rglob", "walk", "recursive"})
_NOBODYS = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
_FINDING_MODULES = frozenset({"iter_modules", "walk_packages"})
_PLACES = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[a-zA-Z]")
"""Placeholders of ``format`` and ``%``."""
_MODULE_PATTERN = re.compile(r"[\w*]+(\.[\w*]+)+")
_WHOLE = frozenset({"asdict", "astuple", "fields", "vars", "__dict__", "__slots__"})
"""Names by which code accesses an object without naming its parts."""
_PARTS = frozenset({"case", "attempt"})
_OURS = "proctor"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """Hash of a plugin's source, and what the source reveals of its needs."""

    key: str
    looks_at: frozenset[str]
    """Which of ``case`` and ``attempt`` it may read beyond what score keys cover anyway."""
    ours: frozenset[str]
    """The modules of Proctor that it imports."""
    writes: frozenset[str] = frozenset()
    """Names that it writes to; a parameter among them is no input."""


LENT_SOURCE = PluginSource(key="", looks_at=frozenset({"case", "attempt"}), ours=frozenset())
"""That of a scorer whose name says what its source is; it may look at everything."""


def source_of(modules: Iterable[str]) -> PluginSource:
    """Return the source of modules, without importing anything."""
    names = sorted(set(modules))
    closure = _Closure(own=frozenset(name.partition(".")[0] for name in names))
    for name in names:
        closure.take_module(tuple(name.split(".")))
    closure.read()
    seen = closure.names
    return PluginSource(
        key=digest(
            "plugin",
            ".".join(platform.python_version_tuple()[:2]),
            sorted(closure.files.items()),
            sorted(installed_versions(closure.packages).items()),
        ),
        looks_at=_PARTS if seen & _WHOLE else _PARTS & seen,
        ours=frozenset(closure.ours),
        writes=frozenset(closure.writes),
    )


def named_files(
    params: Mapping[str, Any], folders: Sequence[str], writes: frozenset[str] = frozenset()
) -> str:
    """Return one hash of the files that parameters name; empty if there are none."""
    digest_by_text: dict[str, str] = {}
    for text in _texts_in({name: value for name, value in params.items() if name not in writes}):
        if not _may_name_a_file(text):
            continue
        for folder in folders:
            path = Path(folder, text).expanduser()
            if path.is_file():
                digest_by_text[text] = _file_digest(path)
                break
    return digest("files", sorted(digest_by_text.items())) if digest_by_text else ""


@dataclass(frozen=True, slots=True)
class _Module:
    """A file of code, with the folder its name begins in and the package it belongs to."""

    path: Path
    root: Path
    package: tuple[str, ...]


@dataclass
class _Closure:
    """Transitive dependencies of a module, from its text and the texts of its imports."""

    own: frozenset[str]
    """Modules that are read even if they are installed."""
    files: dict[str, str] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    ours: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    _waiting: list[_Module] = field(default_factory=list)
    _roots: dict[str, tuple[Path, ...]] = field(default_factory=dict)

    def take_module(self, parts: tuple[str, ...]) -> None:
        """Add a module by its full name; the last part may also be a member of it."""
        if parts[0] == _OURS:
            self.ours.add(".".join(parts))
        elif parts[0] not in sys.stdlib_module_names:
            for root in self._roots_of(parts[0]):
                self._take_below(root, parts)

    def read(self) -> None:
        """Read the added files, and their dependencies in turn."""
        while self._waiting and len(self.files) < MOST_FILES:
            self._read(self._waiting.pop())

    def _roots_of(self, top: str) -> tuple[Path, ...]:
        """Return the folders that contain a top-level module; none if it is installed."""
        if top not in self._roots:
            self._roots[top] = self._looked_up(top)
        return self._roots[top]

    def _looked_up(self, top: str) -> tuple[Path, ...]:
        spec = find_installed(top)
        if spec is None:
            return ()
        places = [Path(place) for place in spec.submodule_search_locations or ()]
        if not places and spec.origin and os.path.isabs(spec.origin):
            places = [Path(spec.origin)]
        if top not in self.own and any(is_installed(str(place)) for place in places):
            self.packages.add(top)
            return ()
        return tuple(place.parent for place in places)

    def _take_below(self, root: Path, parts: tuple[str, ...]) -> None:
        for depth in range(1, len(parts) + 1):
            place = root.joinpath(*parts[:depth])
            self._take(place / "__init__.py", root, parts[:depth])
            self._take(place.with_name(f"{place.name}.py"), root, parts[: depth - 1])
            for suffix in EXTENSION_SUFFIXES:
                self._take(place.with_name(place.name + suffix), root, parts[: depth - 1])

    def _take(self, path: Path, root: Path, package: tuple[str, ...]) -> None:
        """Add a file once, and queue it for reading if it is a module."""
        real = os.path.realpath(path)
        if real in self._seen or not os.path.isfile(real) or len(self.files) >= MOST_FILES:
            return
        self._seen.add(real)
        self.files[_name(path, root)] = _file_digest(path)
        if path.suffix == ".py":
            self._waiting.append(_Module(path, root, package))

    def _read(self, module: _Module) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(module.path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for parts in _imports(tree, module.package):
            self.take_module(parts)
            if parts[0] in sys.stdlib_module_names:
                # A file beside the module takes precedence over the standard library.
                self._take_below(module.root, parts)
        names = _names_in(tree)
        self.names |= names & (_PARTS | _WHOLE)
        self.writes |= _written_names(tree)
        texts = sorted(text for text in _texts_of(tree) if _may_name_a_file(text))
        self.names |= _PARTS & set(texts)
        for text in texts:
            parts = tuple(text.split("."))
            if all(part.isidentifier() for part in parts) and not _is_common(parts):
                self._take_below(module.root, parts)
        patterns = _patterns_of(tree, texts)
        if names & _LISTING:
            patterns |= {text for text in texts if "*" in text or "?" in text}
        self._take_named(module, texts, sorted(patterns), names)
        self._take_derived(module, texts, names)
        if names & _FINDING_MODULES:
            for parts in _imports(tree, module.package):
                for path in sorted(_globbed(module.root.joinpath(*parts), "**/*.py")):
                    self._take(path, module.root, _package(path, module.root))

    def _take_derived(self, module: _Module, texts: list[str], names: set[str]) -> None:
        """Add files with the module's own name and another ending."""
        for text in texts if "with_suffix" in names else ():
            if _is_ending(text):
                self._take(module.path.with_suffix(text), module.root, module.package)

    def _take_named(
        self, module: _Module, texts: list[str], patterns: list[str], names: set[str]
    ) -> None:
        """Add the files that texts name, also with folder and file named separately."""
        places = list(dict.fromkeys([module.path.parent, module.root]))
        # Code that uses its own location opens nothing in the working directory.
        if "__file__" not in names and not is_installed(str(module.root)):
            with suppress(FileNotFoundError):
                places.append(Path.cwd())
        deep = bool(names & _DEEP)
        for place in places:
            for text in texts:
                path = place / text
                if os.path.isfile(path):
                    self._take(path, module.root, module.package)
                elif os.path.isdir(path) and path not in places and len(places) < MOST_FILES:
                    places.append(path)
                    if names & _LISTING:
                        self._take_matching(path, ["*"], module, deep=deep)
            self._take_matching(place, patterns, module, deep=deep)

    def _take_matching(
        self, place: Path, patterns: Sequence[str], module: _Module, *, deep: bool
    ) -> None:
        paths = [path for pattern in patterns for path in _globbed(place, pattern)]
        if deep and patterns:
            paths += _below(place, patterns)
        for path in sorted(paths):
            self._take(path, module.root, module.package)


def _imports(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the full names of the modules that a module of a package may import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = package[: len(package) - (node.level - 1)] + base
            for alias in node.names:
                parts = base if alias.name == "*" else (*base, alias.name)
                if parts:
                    yield parts


def _patterns_of(tree: ast.AST, texts: Iterable[str]) -> set[str]:
    """Return glob patterns for texts with placeholders, or with only an ending."""
    patterns = {_PLACES.sub("*", text) for text in texts if "{" in text or "%" in text}
    patterns |= {f"*{text}" for text in texts if _is_ending(text)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "*" for part in node.values]
            text = "".join(map(str, parts))
            patterns.add(text)
            if _MODULE_PATTERN.fullmatch(text):
                patterns.add(f"{text.replace('.', '/')}.py")
    simplified = (re.sub(r"\*+", "*", text) for text in patterns)
    return {text for text in simplified if "*" in text and _may_name_a_file(text) and _tells(text)}


def _tells(pattern: str) -> bool:
    """Tell whether a pattern is specific enough not to match everything."""
    return any(letter.isalnum() for letter in pattern) and not pattern.startswith(("/", "~"))


def _is_ending(text: str) -> bool:
    return re.fullmatch(r"\.\w{1,10}", text) is not None


def _package(path: Path, root: Path) -> tuple[str, ...]:
    return path.parent.relative_to(root).parts


def _names_in(tree: ast.AST) -> set[str]:
    """Return the names and attributes that code uses."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.MatchClass):
            names.update(node.kwd_attrs)
    return names


def _written_names(tree: ast.AST) -> set[str]:
    """Return the names in calls that open something for writing."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_writing(node):
            names |= _names_in(node)
    return names


def _is_writing(call: ast.Call) -> bool:
    name = ""
    if isinstance(call.func, ast.Attribute):
        name = call.func.attr
    elif isinstance(call.func, ast.Name):
        name = call.func.id
    if name in ("write_text", "write_bytes", "touch"):
        return True
    modes = [*call.args, *(keyword.value for keyword in call.keywords)]
    return name == "open" and any(
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and re.fullmatch(r"[rbt]*[wax+][bt+]*", mode.value) is not None
        for mode in modes
    )


def _texts_of(tree: ast.AST) -> set[str]:
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _texts_in(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)


def _may_name_a_file(text: str) -> bool:
    """Tell whether a text could be a file name."""
    return 0 < len(text) <= 255 and text.isprintable() and text.strip(". /") != ""


def _is_common(parts: tuple[str, ...]) -> bool:
    return parts[0] in sys.stdlib_module_names or parts[0] == _OURS


def _globbed(place: Path, pattern: str) -> Iterator[Path]:
    """Yield the files that a pattern matches; none for an invalid or absolute one."""
    try:
        yield from (path for path in place.glob(pattern) if path.is_file())
    except (ValueError, NotImplementedError, OSError):
        return


def _below(place: Path, patterns: Sequence[str]) -> Iterator[Path]:
    """Yield matching files anywhere below a folder, up to a limit."""
    looked_at = 0
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(
            name for name in folders if name not in _NOBODYS and not name.startswith(".")
        )
        looked_at += len(files)
        if looked_at > MOST_LOOKED_AT:
            return
        for name in files:
            if any(fnmatch(name, pattern.rpartition("/")[2]) for pattern in patterns):
                yield Path(folder, name)


def _name(path: Path, root: Path) -> str:
    """Return a file's name relative to its module's root, or its base name."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name


def _file_digest(path: Path) -> str:
    """Hash a file of any size; line endings of a text do not matter."""
    try:
        with path.open("rb") as file:
            if path.suffix == ".py":
                return hashlib.blake2b(
                    file.read().replace(b"\r\n", b"\n"), digest_size=16
                ).hexdigest()
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return "unreadable"
