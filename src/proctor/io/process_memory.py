"""Memory of a process that lives long: what is freed goes back to the system."""

import os
import sys

# Numbers of glibc's mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8


def return_freed_memory() -> None:
    """Let this process return large blocks to the system when they are freed.

    glibc keeps more and more of them, in a pool for each thread; pyarrow's own allocator does, too,
    unless it is told before it is loaded. Where there is no glibc, nothing changes.
    """
    import ctypes

    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for name, number in ((_ARENA_MAX, 2), (_MMAP_THRESHOLD, 2**17), (_TRIM_THRESHOLD, 2**20)):
            mallopt(name, number)
