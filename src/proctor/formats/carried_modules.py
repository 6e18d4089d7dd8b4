"""Python modules that a suite names: their text, and the files beside them that they need."""

import ast
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from proctor.core.suite import Json
from proctor.errors import SuiteError
from proctor.io.text_files import inside, normal_newlines, read_text, unusable_name

MOST = 1024 * 1024
"""Characters of all files beside a module together."""
FOLDERS = 50

Warn = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SuiteModules:
    """The modules that a suite names, each read once."""

    root: Path
    """No file outside this folder is read."""
    home: Path
    """The folder that dotted names begin in, and from where functions open their files."""
    params_by_file: dict[tuple[Path, Path, str], dict[str, Json]] = field(default_factory=dict)

    def find(self, module: str) -> Path | None:
        """Return the file of a module, seen from the home folder; none where there is none."""
        path = inside(self.root, self.home, file_of(module))
        return path if path is not None and os.path.isfile(path) else None

    def params(self, module: str, path: Path, warn: Warn) -> dict[str, Json]:
        """Return ``source`` and ``files`` of a module, warning of what cannot be carried."""
        key = (self.home, path, module)
        if key not in self.params_by_file:
            self.params_by_file[key] = self._read(module, path, warn)
        return self.params_by_file[key]

    def _read(self, module: str, path: Path, warn: Warn) -> dict[str, Json]:
        source = normal_newlines(read_text(path))
        beside = _Beside(
            root=self.root,
            home=_Place(self.home, PurePosixPath()),
            own=_Place(path.parent, PurePosixPath(*module.split(".")[:-1])),
            warn=warn,
        )
        beside.seen.add(os.path.realpath(path))
        beside.look(source, path, beside.own)
        return {"source": source, **({"files": beside.files} if beside.files else {})}


def is_module_name(text: str) -> bool:
    """Tell whether a text is the dotted name of a module."""
    return re.fullmatch(r"[\w-]+(\.[\w-]+)*", text) is not None


def file_of(module: str) -> str:
    """Return the path of a module's file, as seen from the folder its name begins in."""
    return module.replace(".", "/") + ".py"


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder, and its name in the folder where the function will run."""

    folder: Path
    name: PurePosixPath


@dataclass(kw_only=True)
class _Beside:
    """The files that a module needs: imports, and files named in its texts."""

    root: Path
    home: _Place
    """The folder that dotted names and relative paths begin in."""
    own: _Place
    """The folder of the module."""
    warn: Warn
    files: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    size: int = 0

    def look(self, text: str, path: Path, here: _Place) -> None:
        """Take the files that one module needs, and what those need in turn."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            where = f" (line {line})" if line else ""
            message = getattr(error, "msg", None) or error
            self.warn(f"{path.name} is not valid Python{where}: {message}")
            return
        for place, parts in self._imports(tree, here):
            self._take_module(place, parts)
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        self._take_named({text for text in texts if isinstance(text, str) and _is_name(text)})

    def _imports(self, tree: ast.AST, here: _Place) -> Iterator[tuple[_Place, tuple[str, ...]]]:
        """Yield where each imported module may lie, and its name from there."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._absolute(tuple(alias.name.split(".")))
            elif isinstance(node, ast.ImportFrom):
                base = tuple(node.module.split(".")) if node.module else ()
                place = here
                for _ in range(node.level - 1):
                    place = _Place(place.folder.parent, place.name.parent)
                for alias in node.names:
                    parts = (*base, alias.name)
                    if node.level:
                        yield place, parts
                    else:
                        yield from self._absolute(parts)

    def _absolute(self, parts: tuple[str, ...]) -> Iterator[tuple[_Place, tuple[str, ...]]]:
        package = self.own.name.parts
        if package and parts[: len(package)] == package:
            yield self.own, parts[len(package) :]
        if parts[0] not in sys.stdlib_module_names:
            yield self.home, parts
            yield self.own, parts

    def _take_module(self, place: _Place, parts: tuple[str, ...]) -> None:
        """Take a module with its packages; the last name may also be something inside it."""
        for depth in range(1, len(parts) + 1):
            stem = "/".join(parts[:depth])
            self._take(place, f"{stem}/__init__.py")
            self._take(place, f"{stem}.py")

    def _take_named(self, names: set[str]) -> None:
        """Take the files that texts name, also where folder and file are named apart."""
        places = [self.own, self.home]
        for place in places:
            for name in sorted(names):
                if os.path.isfile(place.folder / name):
                    self._take(place, name)
                elif len(places) < FOLDERS and os.path.isdir(place.folder / name):
                    inner = _Place(place.folder / name, place.name / name)
                    places += [inner] if inner not in places else []

    def _take(self, place: _Place, name: str) -> None:
        path = inside(self.root, place.folder, name)
        if path is None or not os.path.isfile(path) or os.path.realpath(path) in self.seen:
            return
        self.seen.add(os.path.realpath(path))
        try:
            text = read_text(path, limit=MOST)
        except SuiteError as error:
            self._left_out(path, error.problems[0].message)
            return
        if self.size + len(text) > MOST:
            self._left_out(path, f"all files beside a module may have {MOST:,} characters together")
            return
        self.size += len(text)
        inner = place.name / name
        self.files[str(inner)] = text
        if path.suffix == ".py":
            self.look(text, path, _Place(path.parent, inner.parent))

    def _left_out(self, path: Path, why: str) -> None:
        self.warn(f"the function will not find the file {path.name!r}: {why}")


def _is_name(text: str) -> bool:
    """Tell whether a text may name a file below a folder."""
    if unusable_name(text) or len(text) > 255 or "\n" in text or text.startswith("/"):
        return False
    return not set(PurePosixPath(text).parts) <= {"."} and ".." not in text.split("/")
