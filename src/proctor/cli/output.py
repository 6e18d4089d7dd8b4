"""Output of commands: JSON, problems, progress."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from proctor.core.suite import Json
from proctor.errors import Problem, grouped

if TYPE_CHECKING:
    from proctor.engine.run.evaluate import RunProgress
    from proctor.store.store import Store


PLAIN_SECONDS = 5.0


def print_json(value: Json) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def say(text: str) -> None:
    """Print a notice to standard error while a command runs."""
    click.echo(text, err=True)


def many_cases(count: int) -> str:
    """Return a number of cases in words."""
    return "1 case" if count == 1 else f"{count} cases"


def say_stopped() -> None:
    """Say after an interruption that nothing is lost, and how to resume."""
    import re
    import shlex

    from proctor.io.redaction import redact

    context = click.get_current_context(silent=True)
    words = (context.find_root().obj if context is not None else None) or ()
    again = re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", shlex.join(["proctor", *words]))
    click.echo(f"\nstopped; finished work is stored. To resume:\n  {redact(again)}", err=True)


def problem_json(problem: Problem) -> dict[str, Json]:
    """Return a problem as JSON."""
    return {
        "severity": problem.severity,
        "message": problem.text,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "field": problem.field,
        "hint": problem.hint,
        **({"unlisted": problem.unlisted} if problem.unlisted else {}),
    }


def say_problems(problems: Iterable[Problem], *, most: int | None = None) -> None:
    """Print problems to standard error, equal ones once, the first ones in full."""
    lines = grouped(problems)
    for line in lines[:most]:
        click.echo(line, err=True)
    if most is not None and len(lines) > most:
        click.echo(f"… and {len(lines) - most} more; `proctor check` shows them all", err=True)


def say_error(error: Exception) -> None:
    """Print an error to standard error, with keys redacted."""
    from proctor.core.names import without_user_info
    from proctor.errors import SuiteError
    from proctor.io.redaction import redact

    text = redact(without_user_info(str(error)))
    click.echo(text if isinstance(error, SuiteError) else f"error: {text}", err=True)


def on_terminal() -> bool:
    """Tell whether standard output is a terminal."""
    return sys.stdout.isatty()


def table_width() -> int | None:
    """Return the width for tables: ``COLUMNS``, or the terminal's; None if unlimited."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if not on_terminal():
        return None
    import shutil

    return shutil.get_terminal_size().columns


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator["Callable[[RunProgress], None]"]:
    """Show progress on standard error: a bar on a terminal, else a line now and then."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _rich_bar() as show:
            yield show
    else:
        yield _PlainLines()


class _PlainLines:
    """Progress as a line every few seconds."""

    def __init__(self) -> None:
        self.last = time.monotonic()
        self.rates = _Rates()

    def __call__(self, progress: "RunProgress") -> None:
        rate = self.rates.of(progress)
        now = time.monotonic()
        if now - self.last < PLAIN_SECONDS:
            return
        self.last = now
        of = f" of {progress.total:,}" if progress.total is not None else ""
        shown = f", {rate}" if rate else ""
        failed = f", {progress.failed:,} unscored" if progress.failed else ""
        click.echo(f"{progress.phase}: {progress.done:,}{of}{shown}{failed}", err=True)


class _Rates:
    """Rate of each phase of a run, since its first progress report."""

    def __init__(self) -> None:
        self.begun: dict[str, tuple[float, int]] = {}

    def of(self, progress: "RunProgress") -> str:
        """Return the rate per second; empty if it is too early to tell."""
        now = time.monotonic()
        began, before = self.begun.setdefault(progress.phase, (now, progress.done))
        passed = now - began
        if passed <= 0.5:
            return ""
        rate = (progress.done - before) / passed
        return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


@contextmanager
def _rich_bar() -> Iterator["Callable[[RunProgress], None]"]:
    import rich.progress
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: list[Any] = [
        TextColumn("{task.description:8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}", style="yellow"),
    ]
    with rich.progress.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}
        rates = _Rates()

        def show(progress: "RunProgress") -> None:
            if progress.phase not in tasks:
                tasks[progress.phase] = bars.add_task(progress.phase, rate="", failed="")
            bars.update(
                tasks[progress.phase],
                completed=progress.done,
                total=progress.total,
                rate=rates.of(progress),
                failed=f"{progress.failed} unscored" if progress.failed else "",
            )

        yield show


def tell_which(store: "Store", references: Iterable[str]) -> None:
    """Print which run a name means, where several have it."""
    from proctor.cli.output import say
    from proctor.engine.run.names import which_notice

    for reference in dict.fromkeys(references):
        if notice := which_notice(reference, store):
            say(notice)
