"""``proctor taskweaver``: agents examined by the flags of TaskWeaver's auto_eval."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import (
    agent_options,
    call_options,
    json_option,
    judge_options,
    run_settings,
    store_option,
)

if TYPE_CHECKING:
    from proctor.core.suite import Suite
    from proctor.engine.run.evaluate import Outcome
    from proctor.engine.run.settings import RunSettings
    from proctor.errors import Problem
    from proctor.store.store import Store

CONFIG = "evaluator_config.json"
_PATH = click.Path(path_type=Path)


@click.command()
@click.option(
    "-m",
    "--mode",
    type=click.Choice(["single", "batch"]),
    required=True,
    help="One case, or a folder of cases.",
)
@click.option(
    "-f",
    "--file",
    is_flag=False,
    flag_value="",
    metavar="PATH",
    help="The case or the folder; beside -p and without a value it means --fresh.",
)
@click.option("-p", "--path", type=_PATH, help="The same, as newer versions have it.")
@click.option(
    "-r",
    "--result",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("sample_case_results.csv"),
    show_default=True,
    help="The CSV file of a batch; cases that are in it are not examined again.",
)
@click.option(
    "-t",
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Stop a case after a turn whose normalised score is below this.",
)
@click.option(
    "-flush",
    "--flush",
    "--fresh",
    is_flag=True,
    help="Examine again, and replace their rows.",
)
@click.option(
    "-s",
    "--sleep",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="Seconds between cases, which are then examined one after the other.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help=f"Who judges and plays the user [default: {CONFIG}, where it is in this folder].",
)
@click.option("--max-turns", type=click.IntRange(1), help="Most turns of a virtual user.")
@click.option("--compat", type=click.Choice(["original"]), help="Read verdicts as the original.")
@click.option("--attempts", type=click.IntRange(1), help="N attempts a case.")
@click.option("--name", default="", help="The run's name [default: SUITE-AGENT].")
@click.option(
    "--sandbox",
    default="bubblewrap",
    show_default=True,
    metavar="TIER",
    help="Where eval_code and pre_command run.",
)
def taskweaver(**options: Any) -> int:
    """Examine an agent by scoring points, turn by turn.

    Without --agent it is TaskWeaver itself, in the app_dir of each case; without --judge it is the
    model of evaluator_config.json.

    \b
    Example:
      proctor taskweaver -m single -f cases/init_say_hello.yaml
      proctor taskweaver -m batch -f ./cases --agent python:my_agent:answer --judge openai:gpt-4o
      proctor taskweaver -m batch -f ./cases -t 0.5 -r results.csv --agent exec:./agent.sh
    """
    from proctor.store.store import Store

    path, batch = _path(options), options["mode"] == "batch"
    if batch and not path.is_dir():
        raise click.UsageError(f"-m batch needs a folder of cases, which {path} is not")
    as_json, url = options.pop("as_json"), options.pop("store")
    result, flush = options.pop("result"), options.pop("flush")
    settings = _settings(options, batch=batch)
    done = _done(result) if batch and not flush else set()
    with Store.open(url) as store:
        return _examine(settings, store, _Batch(batch, result, flush, done), quiet=as_json)


for _decorate in (*agent_options, *judge_options, *call_options):
    _decorate(taskweaver)
json_option(taskweaver)
store_option(taskweaver)


@dataclass(frozen=True)
class _Batch:
    """The file that rows go to, and the cases that are in it already."""

    enabled: bool
    result: Path
    flush: bool
    done: set[str]


def _path(options: dict[str, Any]) -> Path:
    """Return the case or folder, by the flags of either version of the original."""
    file, path = options.pop("file"), options.pop("path")
    if file == "" and path is not None:
        options["flush"] = True
    elif file and path is not None:
        raise click.UsageError("-f and -p both name a case or a folder; one is enough")
    elif not file and path is None:
        raise click.UsageError("which case, or folder of cases? (fix: add -f PATH)")
    options["spec"] = path if path is not None else Path(file)
    case_path: Path = options["spec"]
    return case_path


def _settings(options: dict[str, Any], *, batch: bool) -> "RunSettings":
    sleep = options.pop("sleep")
    low, config = options.pop("threshold"), options.pop("config")
    options.pop("mode")
    if config is None and Path(CONFIG).is_file():
        config = Path(CONFIG)
    if options["agent"] is None:
        options["agent"] = "taskweaver:"
    options["dialect"] = "taskweaver"
    several = run_settings(options)
    if len(several) > 1:
        raise click.UsageError("one agent is examined at a time")
    more = {
        "stop_below": "" if low is None else str(low),
        "config": str(config or ""),
        "broken": "skip" if batch else "",
    }
    extra = {name: value for name, value in more.items() if value}
    settings = replace(several[0], max_unscored=0.0)
    settings = replace(settings, calls=replace(settings.calls, pause=sleep))
    return replace(
        settings, suite=replace(settings.suite, options={**settings.suite.options, **extra})
    )


def _examine(settings: "RunSettings", store: "Store", batch: _Batch, *, quiet: bool) -> int:
    from proctor.cli.output import print_json, say_problems
    from proctor.cli.run import examine, exit_code
    from proctor.engine.run.read_suite import read_all
    from proctor.reports.structured import to_object

    reading = read_all(settings.suite)[0]
    broken = [problem for problem in reading.warnings if problem.severity == "error"]
    left = _left(settings, reading.suite, batch, broken)
    if not left:
        click.echo("nothing to do (fix: -flush examines them again)", err=True)
        return 3 if broken else 0
    if len(left) < len(reading.suite.cases):
        settings = replace(settings, suite=replace(settings.suite, select=tuple(left)))
    if batch.flush:
        settings = replace(settings, repeat_label=_label(batch.result))
    outcomes = examine([settings], store, quiet=True)
    if outcomes is None:
        return 130
    view = outcomes[0].view
    if quiet:
        print_json(to_object(view, (), True))
    else:
        _print(outcomes[0])
    if batch.enabled:
        _write(view, batch, quiet=quiet)
    if broken:
        say_problems(broken)
        click.echo(f"{len(broken)} problems kept cases from being examined", err=True)
    unscored = view.summary.totals.unscored
    if unscored:
        click.echo(f"{unscored} attempts could not be scored; the next run tries again", err=True)
    return max(exit_code(view.summary, [], view.run), 3 if broken or unscored else 0)


def _left(
    settings: "RunSettings", suite: "Suite", batch: _Batch, broken: "list[Problem]"
) -> list[str]:
    """Return the cases to examine; those of a batch that cannot begin are broken like others."""
    from proctor.engine.run.prepare import cases_that_cannot_begin
    from proctor.errors import SuiteError

    left = [case.id for case in suite.cases if case.id not in batch.done]
    if skipped := len(suite.cases) - len(left):
        click.echo(f"{skipped} cases are in {batch.result} already: passed over", err=True)
    if not batch.enabled or not left:
        return left
    lacking = cases_that_cannot_begin(settings, suite)
    broken += [problem for case_id, problem in lacking.items() if case_id in left]
    able = [case_id for case_id in left if case_id not in lacking]
    if not able:
        raise SuiteError(broken)
    return able


def _label(result: Path) -> str:
    """Name the repetition after the file that it replaces, so that it goes on if interrupted."""
    return str(result.stat().st_mtime_ns) if result.is_file() else ""


def _print(outcome: "Outcome") -> None:
    from proctor.origins.taskweaver.lines import lines

    for line in lines(outcome.view):
        click.echo(line)


def _done(result: Path) -> set[str]:
    """Return the cases that have rows in the result file."""
    from proctor.origins.taskweaver.lines import rows_in

    return {row["case_file"] for row in rows_in(result)}


def _write(view: Any, batch: _Batch, *, quiet: bool) -> None:
    from proctor.origins.taskweaver.lines import write_rows

    write_rows(view, batch.result)
    if not quiet:
        click.echo(f"wrote {os.fspath(batch.result)}", err=True)
