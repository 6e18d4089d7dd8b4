"""Progress of a run of a program: bars in a terminal, lines in a notebook, else nothing."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.engine.run.evaluate import RunProgress

NOTEBOOK_SECONDS = 2.0
"""A line of text is written this often in a notebook."""


@contextmanager
def shown_progress(
    wanted: bool | None,
) -> Iterator[tuple["Callable[[RunProgress], None]", Callable[[str], None]]]:
    """Yield who is told how far a run has come, and who is told what a person should know."""
    if wanted is False or (wanted is None and not (in_notebook() or _is_terminal())):
        yield (lambda _: None), (lambda _: None)
    elif in_notebook() or not _is_terminal():
        yield PlainLines(), _say
    else:
        with _bars() as show:
            yield show, _say


def in_notebook() -> bool:
    """Tell whether this is the kernel of a notebook, whose output is shown in a page."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running = shell.get_ipython()
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


class PlainLines:
    """Progress as a line of text every few seconds."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, progress: "RunProgress") -> None:
        now = time.monotonic()
        if now - self.last < NOTEBOOK_SECONDS:
            return
        self.last = now
        of = f" of {progress.total:,}" if progress.total is not None else ""
        failed = f", {progress.failed:,} failed" if progress.failed else ""
        _say(f"{progress.phase}: {progress.done:,}{of}{failed}")


@contextmanager
def _bars() -> Iterator["Callable[[RunProgress], None]"]:
    import rich.progress
    from rich.console import Console
    from rich.errors import LiveError

    columns: list[Any] = [
        rich.progress.TextColumn("{task.description:8}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeElapsedColumn(),
        rich.progress.TimeRemainingColumn(),
        rich.progress.TextColumn("{task.fields[failed]}", style="yellow"),
    ]
    bars = rich.progress.Progress(*columns, console=Console(stderr=True), transient=True)
    try:
        bars.start()
    except LiveError:  # another run shows its bars already
        yield lambda _: None
        return
    tasks: dict[str, Any] = {}

    def show(progress: "RunProgress") -> None:
        if progress.phase not in tasks:
            tasks[progress.phase] = bars.add_task(progress.phase, failed="")
        bars.update(
            tasks[progress.phase],
            completed=progress.done,
            total=progress.total,
            failed=f"{progress.failed} failed" if progress.failed else "",
        )

    try:
        yield show
    finally:
        bars.stop()
