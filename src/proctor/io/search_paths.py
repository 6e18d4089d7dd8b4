"""Where modules, programs and libraries are looked for: in no folder that a suite may lie in.

Suites are examined in the folders they came in. A file there that is called like a module or a
program that Proctor uses must not be taken for it, so nothing is looked for in a working directory
unless the person has said so.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import CodeType

OWN_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that holds this very package."""
MODULES = "PYTHONPATH"
SEARCHED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables with folders; an entry that is empty or relative means the working directory."""
_left_out: list[str] = []
"""Folders that the person's PYTHONPATH names by their place in the working directory."""
_trusted: list[str] = []
"""Folders that the person has let this process import from."""
_STANDARD = os.path.dirname(os.path.abspath(os.__file__))
"""The folder of Python's own modules."""
_INSTALLED_IN = frozenset({"site-packages", "dist-packages"})


def forget_working_directory() -> None:
    """Take the working directory off all search paths of this process, however it came there.

    ``python -m`` and ``python -c`` put it first on the path of modules; a variable holds it where
    an entry is empty, which is mostly a slip, or relative.
    """
    relative = _relative_entries(os.environ.get(MODULES, ""))
    unwanted = {_absolute(entry) for entry in relative}
    if sys.path and _absolute(sys.path[0]) == _absolute("") and not _is_own_home(sys.path[0]):
        del sys.path[0]
    sys.path[:] = [
        entry
        for entry in sys.path
        if _is_own_home(entry) or (os.path.isabs(entry) and entry not in unwanted)
    ]
    named = (_absolute(entry) for entry in relative if entry)
    _left_out.extend(folder for folder in dict.fromkeys(named) if folder not in _left_out)
    if MODULES in os.environ:
        os.environ[MODULES] = absolute_modules()
    for name in set(SEARCHED) & os.environ.keys():
        # An empty path would again mean the working directory; without one there is a default.
        os.environ[name] = absolute_entries(os.environ[name])
        if not os.environ[name]:
            del os.environ[name]


def trust_folders(folders: Iterable[str]) -> None:
    """Let this process import from folders, first of all; the person has said that it may."""
    entries = [*dict.fromkeys([*map(_absolute, folders), *_left_out])]
    sys.path[:] = [*entries, *(entry for entry in sys.path if entry not in entries)]
    import_from_text(entries)


def import_from_text(folders: Iterable[str]) -> None:
    """Let modules in and below folders be made of their text each time they are imported.

    Python keeps compiled modules and tells by a file's time and size whether they are still good:
    an edit of the same second and size would run the old code under the key of the new text.
    """
    _trusted.extend(folder for folder in folders if folder not in _trusted)
    if _finder_of_texts not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder_of_texts)
    for entry in [*sys.path_importer_cache]:
        if _is_trusted(entry):
            del sys.path_importer_cache[entry]


def trusted_folders() -> list[str]:
    """Return the folders that the person has let this process import from, in order."""
    return [*_trusted]


@contextmanager
def importing_from(folder: str) -> Iterator[None]:
    """Import from a folder before all others for a while; afterwards only what is nowhere else.

    This is for an agent that its person wants in this very process: what it imports later is still
    found, and no file beside it takes the place of a module that is installed.
    """
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)


def absolute_entries(path: str) -> str:
    """Return a search path without the entries that depend on a working directory."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))


def absolute_modules() -> str:
    """Return the person's PYTHONPATH without what depends on a working directory."""
    entries = os.environ.get(MODULES, "").split(os.pathsep)
    whole = [
        _absolute(entry)
        for entry in entries
        if os.path.isabs(entry) or (entry and _is_own_home(entry))
    ]
    return os.pathsep.join(dict.fromkeys(whole))


def agent_modules() -> str:
    """Return the person's PYTHONPATH for an agent, which works in another folder than Proctor.

    What is relative is meant from where Proctor was started. An empty entry would be the folder
    that the files of a case lie in.
    """
    entries = os.environ.get(MODULES, "").split(os.pathsep)
    whole = [_absolute(entry) for entry in entries if entry]
    return os.pathsep.join(dict.fromkeys([*whole, *_left_out]))


def path_for_workers(*, allow_import: bool) -> list[str]:
    """Return where a process that works for this one imports from."""
    if allow_import:
        return [_absolute(entry) for entry in sys.path]
    return installed_path()


def installed_path() -> list[str]:
    """Return where installed packages are looked for."""
    return [entry for entry in sys.path if os.path.isabs(entry)]


def find_installed(name: str) -> ModuleSpec | None:
    """Find the package that a dotted name begins with, without importing anything."""
    top = name.partition(".")[0]
    if not top.isidentifier():
        return None
    for finder in sys.meta_path:
        if finder is PathFinder:
            spec = PathFinder.find_spec(top, installed_path())
        else:
            look = getattr(finder, "find_spec", None)
            spec = look(top, None) if look is not None else None
        if spec is not None:
            return spec
    return None


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution; none where there is none of that name."""
    from importlib.metadata import distributions

    distribution = next(iter(distributions(name=name, path=installed_path())), None)
    return distribution.version if distribution is not None else None


def is_installed(path: str) -> bool:
    """Tell whether a file or folder belongs to an installed package or to Python itself."""
    # Finders of modules ask this, so it must import nothing.
    return not _INSTALLED_IN.isdisjoint(path.split(os.sep)) or _is_below(path, _STANDARD)


def installed_versions(modules: Iterable[str]) -> dict[str, str]:
    """Return the versions of the distributions that modules belong to, by the modules' names."""
    by_module = {name: installed_version(name) for name in modules}
    if not all(by_module.values()):
        from importlib.metadata import packages_distributions

        homes = packages_distributions()
        for name in [name for name, version in by_module.items() if version is None]:
            versions = [installed_version(home) or "" for home in sorted(set(homes.get(name, ())))]
            by_module[name] = " ".join(versions)
    return {name: version or "" for name, version in by_module.items()}


def installed_entry_points(group: str) -> "dict[str, EntryPoint]":
    """Return what installed distributions offer to others under the name of a group."""
    offering = [folder for folder in installed_path() if _offers(folder, group)]
    if not offering:
        return {}
    from importlib.metadata import distributions

    entry_points: dict[str, EntryPoint] = {}
    for distribution in distributions(path=offering):
        for entry in distribution.entry_points.select(group=group):
            entry_points.setdefault(entry.name, entry)
    return entry_points


def _offers(folder: str, group: str) -> bool:
    """Tell whether some distribution in a folder may offer a group.

    To read the descriptions of all distributions takes a small command longer than its work.
    """
    try:
        entries = list(os.scandir(folder))
    except NotADirectoryError:
        return True  # an archive, say
    except OSError:
        return False
    for entry in entries:
        if not entry.name.endswith((".dist-info", ".egg-info", ".egg")):
            continue
        if entry.name.endswith(".egg"):
            return True
        try:
            with open(os.path.join(entry.path, "entry_points.txt"), "rb") as file:
                if group.encode() in file.read():
                    return True
        except OSError:
            continue
    return False


class _TextLoader(SourceFileLoader):
    """A loader that compiles the text of a module and keeps nothing of it."""

    def get_code(self, fullname: str) -> "CodeType":
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _finder_of_texts(path: str) -> FileFinder:
    if not os.path.isdir(path) or not _is_trusted(path):
        raise ImportError(f"{path} is no folder that the person lets us import from", path=path)
    return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_TextLoader, [".py"]))


def _is_trusted(path: str) -> bool:
    """Tell whether a folder is one that was let in, or lies below one, and is not installed."""
    path = _absolute(path)
    if _is_below(path, OWN_HOME) or is_installed(path):
        return False
    return any(_is_below(path, folder) for folder in _trusted)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _relative_entries(variable: str) -> list[str]:
    entries = variable.split(os.pathsep) if variable else []
    return [entry for entry in entries if not os.path.isabs(entry) and not _is_own_home(entry)]


def _is_own_home(entry: str) -> bool:
    return _absolute(entry) == OWN_HOME


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)
    except FileNotFoundError:  # the working directory was removed: nothing is in it
        return os.path.join(os.sep, "nowhere", path)
