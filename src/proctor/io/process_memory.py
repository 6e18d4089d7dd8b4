"""Memory of a process that lives long: what is freed goes back to the system."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any

# Numbers of glibc's mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8


def return_freed_memory() -> None:
    """Let this process return large blocks to the system when they are freed.

    glibc keeps more and more of them, in a pool for each thread; pyarrow's own allocator does, too,
    unless it is told before it is loaded. Where there is no glibc, nothing changes.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        for name, number in ((_ARENA_MAX, 2), (_MMAP_THRESHOLD, 2**17), (_TRIM_THRESHOLD, 2**20)):
            mallopt(name, number)


def trim_memory() -> None:
    """Return what is free between small blocks, such as after many files were read."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Let imports of pandas fail, unless it is there already.

    pyarrow loads it with the first array that is read, where it is installed: for nothing, and it
    takes 40 MB and a quarter of a second.
    """
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        yield
    finally:
        sys.meta_path.remove(absent)


class _Absent(MetaPathFinder):
    """A finder of modules that says of pandas that it is not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def _of_glibc(name: str) -> Any:
    """Return a function of glibc; None where there is no glibc."""
    import ctypes

    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), name, None)
