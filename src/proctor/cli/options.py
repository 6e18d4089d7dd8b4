"""Options that several commands share."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor.core.suite import Spec
from proctor.engine.settings import RunSettings, SuiteSettings

Command = TypeVar("Command", bound=Callable[..., Any])


def store_option(command: Command) -> Command:
    """Add --store."""
    return click.option(
        "--store",
        metavar="URL",
        help="Where runs are kept: a path or a database URL"
        " [default: $PROCTOR_STORE, else .proctor/proctor.db].",
    )(command)


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def suite_options(command: Command) -> Command:
    """Add the suite as an argument, and the options that say how it is read."""
    for decorate in reversed(
        [
            click.argument("spec", type=click.Path(path_type=Path)),
            click.option("--dialect", metavar="NAME", help="Read the suite in this format."),
            click.option(
                "--compat",
                type=click.Choice(["original"]),
                help="Keep the odd behaviour of the format's origin, so that old numbers come out.",
            ),
            click.option(
                "--root",
                type=click.Path(path_type=Path, file_okay=False, exists=True),
                help="The folder that the suite's files must lie in [default: the suite's own].",
            ),
            click.option("--where", metavar="EXPR", help="Only cases for which this holds."),
            click.option("--limit", type=click.IntRange(1), help="Only the first N cases."),
            click.option("--select", multiple=True, metavar="CASE", help="Only these cases."),
            click.option(
                "--allow-import",
                is_flag=True,
                help="Let the suite name classes of its own (module:Class).",
            ),
        ]
    ):
        command = decorate(command)
    return command


def run_options(command: Command) -> Command:
    """Add the options that say who is examined, and how."""
    for decorate in reversed(
        [
            click.option(
                "--answers",
                type=click.Path(path_type=Path),
                required=True,
                help="Answers on file: a folder, JSONL, CSV or Parquet.",
            ),
            click.option("--attempts", type=click.IntRange(1), help="At most N attempts a case."),
            click.option("--name", default="", help="The run's name [default: SUITE-CANDIDATE]."),
            click.option(
                "--executor", default="local", show_default=True, help="Where grading runs."
            ),
            click.option(
                "--concurrency", type=click.IntRange(1), help="Processes [default: one per core]."
            ),
            click.option(
                "--sandbox",
                default="bubblewrap",
                show_default=True,
                metavar="TIER",
                help="Where programs run: bubblewrap, docker[:IMAGE], or process, which is no"
                " boundary at all.",
            ),
            click.option(
                "--interval",
                type=click.Choice(["t", "bootstrap"]),
                default="t",
                show_default=True,
                help="How the 95% interval of the rate is found.",
            ),
        ]
    ):
        command = decorate(command)
    return command


def suite_settings(options: dict[str, Any]) -> SuiteSettings:
    """Take the suite's settings out of a command's options."""
    if options.get("allow_import") and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return SuiteSettings(
        path=options.pop("spec"),
        dialect=options.pop("dialect", None) or "",
        compat=options.pop("compat", None) or "",
        root=options.pop("root", None),
        where=options.pop("where", None) or "",
        limit=options.pop("limit", None),
        select=tuple(options.pop("select", ())),
        allow_import=options.pop("allow_import", False),
    )


def sandbox_spec(text: str) -> Spec:
    """Read ``docker:IMAGE`` and the like."""
    name, _, image = text.partition(":")
    return Spec(name=name, params={"image": image} if image else {})


def run_settings(options: dict[str, Any]) -> RunSettings:
    """Take the run's settings out of a command's options."""
    workers = options.pop("concurrency", None)
    executor = Spec(
        name=options.pop("executor", "local"), params={"workers": workers} if workers else {}
    )
    return RunSettings(
        suite=suite_settings(options),
        answers=options.pop("answers"),
        attempts=options.pop("attempts", None),
        name=options.pop("name", ""),
        executor=executor,
        sandbox=sandbox_spec(options.pop("sandbox", "bubblewrap")),
        interval=options.pop("interval", "t"),
        gates=tuple(options.pop("gates", ())),
    )
