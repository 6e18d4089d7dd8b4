"""``proctor demo``: evaluate a small local model, or recorded answers, on the starter suite."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.options import json_option, store_option

if TYPE_CHECKING:
    from proctor.engine.run.evaluate import Outcome
    from proctor.engine.run.settings import RunSettings
    from proctor.store.store import Store

MODEL = "local:smollm2"
MAX_TOKENS = 128
CASE = "en-python-aliasing"
CANDIDATES = ("careful", "hasty")
NEXT = (
    ("view", "browse the results"),
    ("show {run} {case}", "see why a case got its score"),
    ("report {run} --by lang --cases", "every case"),
    ("plan SUITE --model openai:NAME", "what evaluating your model would cost"),
    ("init my-suite", "start your own suite"),
)


@click.command()
@click.option("--recorded", is_flag=True, help="Score recorded answers; call no model.")
@click.option(
    "--tour",
    is_flag=True,
    help="Fill the store with something for every page, from scripted models, and serve the pages.",
)
@click.option("--no-view", is_flag=True, help="With --tour: fill the store, and serve nothing.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=7461,
    show_default=True,
    help="With --tour: port of the pages; 0 means any free one.",
)
@store_option
@json_option
def demo(
    recorded: bool, tour: bool, no_view: bool, port: int, store: str | None, as_json: bool
) -> int:
    """Evaluate a small model on this machine with the starter suite; no API key is needed.

    The model is downloaded once (90 MB). It also acts as the judge, only as a demonstration.
    Where it is not available, the recorded answers of two candidates are scored instead.

    With --tour, two scripted models, a scripted judge and a small agent fill the store: earlier
    runs, a grid of two models and two prompts, an agent's steps, a battle, an audit, labels. The
    pages then show these and one more run in progress, until interrupted.

    \b
    Example:
      proctor demo
      proctor demo --recorded
      proctor demo --tour --store tour.db
    """
    from proctor.cli.output import print_json
    from proctor.cli.run import print_report
    from proctor.errors import ModelError, PluginError
    from proctor.reports.structured import to_object
    from proctor.store.store import Store

    if tour:
        return _tour(store, None if no_view or as_json else port, as_json=as_json)
    if no_view:
        raise click.UsageError("--no-view goes with --tour")
    with _starter() as folder, Store.open(store) as opened:
        outcomes: list[Outcome] = []
        if not recorded:
            try:
                click.echo(f"asking {MODEL}, which is downloaded the first time …", err=True)
                outcomes = [_examined(_local(folder), opened)]
            except (ModelError, PluginError) as error:
                click.echo(f"{MODEL} is not available here: {error}", err=True)
                click.echo("scoring recorded answers instead", err=True)
        outcomes = outcomes or [_examined(one, opened) for one in _recorded(folder)]
        if as_json:
            print_json({"runs": [to_object(outcome.view) for outcome in outcomes]})
            return 0
        for outcome in outcomes:
            print_report(outcome.view, "table", by=(), cases=False)
            click.echo()
    _say_next(outcomes[-1])
    return 0


def _tour(store: str | None, port: int | None, *, as_json: bool) -> int:
    from proctor.cli.output import print_json
    from proctor.cli.serving import Serving, serve
    from proctor.engine.tour.fill import Tour, in_progress
    from proctor.io.concurrency import run_sync
    from proctor.store.store import Store

    def tell(line: str) -> None:
        click.echo(line, err=True)

    tell("two scripted models, a scripted judge and an agent on this machine; no key, no network")
    with _starter() as starter:
        folder = starter / "tour"
        with Store.open(store) as opened:
            run_sync(Tour(store=opened, folder=folder, notice=tell).fill())
            runs = [run.name for run in opened.runs.newest() if run.name.startswith("tour-")]
        if as_json:
            print_json({"runs": runs})
        if port is None:
            tell(f"{len(runs)} runs; `{_program()} view` shows them")
            return 0
        tell("one more run is in progress as long as this command; Ctrl-C ends both")
        with in_progress(store, folder):
            serve(store, Serving(host="127.0.0.1", port=port))
    return 0


@contextmanager
def _starter() -> Iterator[Path]:
    from importlib.resources import as_file, files

    with as_file(files("proctor.starter")) as folder:
        yield Path(folder)


def _local(folder: Path) -> "RunSettings":
    from proctor.contracts.model import ModelChoice
    from proctor.core.exchange import Sampling
    from proctor.engine.run.settings import JudgeSettings, RunSettings, SuiteSettings

    cold = Sampling(temperature=0.0, max_tokens=MAX_TOKENS, seed=1)
    choice = ModelChoice(spec=MODEL, sampling=cold)
    return RunSettings(
        suite=SuiteSettings(path=folder / "suite.yaml"),
        model=choice,
        panel=JudgeSettings(judges=(choice,)),
        name="demo-smollm2",
    )


def _recorded(folder: Path) -> "Iterator[RunSettings]":
    from proctor.engine.run.settings import RunSettings, SuiteSettings

    for name in CANDIDATES:
        yield RunSettings(
            suite=SuiteSettings(path=folder / "suite.yaml"),
            answers=folder / f"answers-{name}.jsonl",
            name=f"demo-{name}",
        )


def _examined(settings: "RunSettings", store: "Store") -> "Outcome":
    from proctor.cli.output import progress_bar, say
    from proctor.engine.run.evaluate import evaluate
    from proctor.io.concurrency import run_sync

    with progress_bar() as progress:
        return run_sync(evaluate(settings, store, progress, say))


def _say_next(last: "Outcome") -> None:
    run = last.view.run
    if run.candidate.name == "model":
        click.echo(
            f"These are answers of {MODEL}, a model of 135 million parameters. It judged, too,"
        )
        click.echo("as a demonstration: what it said as a judge is shown and not counted. Next:")
    else:
        click.echo("The answers were recorded; the scoring was real. Next:")
    program = _program()
    commands = [f"{program} {words.format(run=run.name, case=CASE)}" for words, _ in NEXT]
    width = max(map(len, commands))
    for command, (_, purpose) in zip(commands, NEXT, strict=True):
        click.echo(f"  {command:{width}}  {purpose}")


def _program() -> str:
    """Return the command that starts this program: its name, or its path if needed."""
    from proctor.io.child_processes import find_program

    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) != "proctor" or find_program("proctor") == started:
        return "proctor"
    return os.path.relpath(started)
