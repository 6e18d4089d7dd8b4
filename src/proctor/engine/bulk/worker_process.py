"""A process that does one task after the other: whatever a file does to it, only it is lost.

Tasks come as JSON on standard input, each after its length, and what came of them goes to standard
output in the same way. The process may use so much memory and no more.
"""

import gc
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from proctor.engine.bulk.tasks import (
    AnswersTask,
    CheckTask,
    ContentTask,
    PlanTask,
    ShareTask,
    SortTask,
    from_json,
    to_json,
)
from proctor.errors import ProctorError
from proctor.io import json_bytes
from proctor.io.message_process import end_with, read_message, write_message
from proctor.io.row_shares import UnreadableShare

_ROOM = 1024 * 2**20
_HEAD = 12
"""So many bytes of a message tell tasks of one kind from others."""


def done(task: Any) -> Any:
    """Do a task, and return what came of it."""
    return _WORK[type(task)](task)


def _plan(task: PlanTask) -> Any:
    from proctor.io.row_shares import plan_parquet

    return plan_parquet(Path(task.path), task.limits)


def _check_cases(task: CheckTask) -> Any:
    from proctor.engine.bulk.check import check_cases

    return check_cases(task)


def _check_answers(task: AnswersTask) -> Any:
    from proctor.engine.bulk.check import check_answers

    return check_answers(task)


def _content(task: ContentTask) -> Any:
    from proctor.engine.bulk.check import content_of

    return content_of(task)


def _sort(task: SortTask) -> Any:
    from proctor.engine.bulk.sort_answers import sort_answers

    return sort_answers(task)


def _score(task: ShareTask) -> Any:
    from proctor.engine.bulk.score_part import score_share

    return score_share(task)


_WORK: Mapping[type[Any], Callable[[Any], Any]] = {
    PlanTask: _plan,
    CheckTask: _check_cases,
    AnswersTask: _check_answers,
    ContentTask: _content,
    SortTask: _sort,
    ShareTask: _score,
}


def main(memory: int) -> None:
    """Do tasks until there are no more."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    import proctor.engine.bulk.score_part  # noqa: F401 - before memory is limited
    from proctor.io.parquet_process import limit_memory

    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    _do_without_pandas(pyarrow)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What a scorer prints is nobody's reply.
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    limit_memory(memory, *_size_now())
    gc.freeze()
    gc.disable()  # Rows make many objects and no cycles: looking for these takes a tenth of it all.
    kinds: set[bytes] = set()
    while (data := read_message(source)) is not None:
        write_message(sink, json_bytes.dumps(_reply(data)))
        gc.collect()
        if (kind := data[:_HEAD]) not in kinds:
            # Modules that the first task of a kind has loaded need not be looked through again.
            kinds.add(kind)
            gc.freeze()


def _do_without_pandas(pyarrow: Any) -> None:
    """Keep Arrow from loading pandas, if it is there, to look whether a list is one of its arrays.

    It looks once; a plugin that wants pandas still gets it.
    """
    if "pandas" not in sys.modules:
        sys.modules["pandas"] = None  # type: ignore[assignment]
        with suppress(ImportError, AttributeError):
            pyarrow.array([0])
        del sys.modules["pandas"]


def _size_now() -> tuple[int, int]:
    """Return how many bytes of addresses this process has, and how many of them to write to.

    There is room for the threads and modules that are still to come.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    try:
        sizes = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return 2 * _ROOM, 2 * _ROOM
    return int(sizes[0]) * page + _ROOM, int(sizes[5]) * page + _ROOM


def _reply(data: bytes) -> dict[str, Any]:
    message = json_bytes.loads(data)
    if isinstance(message, dict):
        # From another machine, which may have other files than this one.
        from proctor.engine.bulk.reach import lacking

        if apart := lacking(from_json(message["reach"])):
            return {"apart": apart}
        message = message["task"]
    try:
        return {"done": to_json(done(from_json(message)))}
    except (UnreadableShare, MemoryError):
        return {"unreadable": True}
    except ProctorError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
