"""Where modules, programs and libraries are looked for: in no folder that a suite may lie in.

Suites are examined in the folders they came in. A file there that is called like a module or a
program that Proctor uses must not be taken for it, so nothing is looked for in a working directory
unless the person has said so.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OWN_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder that holds this very package."""
MODULES = "PYTHONPATH"
SEARCHED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables with folders; an entry that is empty or relative means the working directory."""
_left_out: list[str] = []
"""Folders that the person's PYTHONPATH names by their place in the working directory."""


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
    wanted = [*dict.fromkeys([*map(_absolute, folders), *_left_out])]
    sys.path[:0] = [folder for folder in wanted if folder not in sys.path]


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
            found = PathFinder.find_spec(top, installed_path())
        else:
            look = getattr(finder, "find_spec", None)
            found = look(top, None) if look is not None else None
        if found is not None:
            return found
    return None


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution; none where there is none of that name."""
    from importlib.metadata import distributions

    found = next(iter(distributions(name=name, path=installed_path())), None)
    return found.version if found is not None else None


def installed_entry_points(group: str) -> "dict[str, EntryPoint]":
    """Return what installed distributions offer to others under the name of a group."""
    from importlib.metadata import distributions

    found: dict[str, EntryPoint] = {}
    for distribution in distributions(path=installed_path()):
        for entry in distribution.entry_points.select(group=group):
            found.setdefault(entry.name, entry)
    return found


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
