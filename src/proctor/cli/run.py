"""``proctor run``: evaluate a candidate on a suite."""

import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from proctor.cli.options import (
    A_FILE,
    A_PATH,
    GroupedHelp,
    from_run_file,
    json_option,
    parts_option,
    run_options,
    run_settings,
    store_option,
    suite_options,
    suite_options_of_dialects,
    texts_option,
)

if TYPE_CHECKING:
    from proctor.cli.report_files import RunFiles
    from proctor.cli.run_file import WrittenReport
    from proctor.contracts.report import Layout, Report
    from proctor.core.grid import RunGrid
    from proctor.engine.compare.against import Against
    from proctor.engine.run.evaluate import Outcome
    from proctor.engine.run.gates import GateResult
    from proctor.engine.run.settings import RunSettings
    from proctor.errors import Problem, ProctorError
    from proctor.store.store import Store

INCOMPLETE = 3
"""Exit code where something could not be run."""
MOST_TABLES = 4
"""Of more runs of one suite, each has a line above the grid, and not a table."""


@click.command(cls=GroupedHelp)
@suite_options
@run_options
@suite_options_of_dialects
@click.option("--by", multiple=True, metavar="TAG", help="Break the numbers down by this tag.")
@click.option("--cases", is_flag=True, help="Include every case.")
@click.option("--gate", "gates", multiple=True, metavar="EXPR", help="Exit 1 unless this holds.")
@click.option("--junit", type=A_FILE, metavar="FILE", help="Also write JUnit XML.")
@click.option(
    "--markdown",
    type=A_FILE,
    metavar="FILE",
    help="Also write a summary for a pull request: verdict, gates, what got worse.",
)
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="TITLE=URL",
    help="A link at the end of --markdown. Repeatable.",
)
@click.option("--layout", metavar="ORIGIN", help="Also write the result files of this origin.")
@click.option("--out", type=A_PATH, help="The folder for --layout.")
@store_option
@parts_option
@json_option
@texts_option
def run(**options: Any) -> int:
    """Evaluate a candidate on the suite SPEC, and print the numbers.

    Stored work is not done again: after an interruption, run the same command again.

    \b
    Example:
      proctor run suite.yaml --model openai:gpt-4o-mini --judge openai:gpt-4o
      proctor run suite.yaml --model local:smollm2 --attempts 3 --temperature 0.7
      proctor run exam.yaml    (a run file: suite, models, judges, gates)
      proctor run suite.yaml --answers answers.jsonl
      proctor run suite.yaml --answers responses/gpt-4 --by lang --json
      proctor run suite.yaml --answers a.jsonl --where "lang == 'python'" --gate "rate >= 0.6"
      proctor run suite.yaml --answers a.jsonl --against @baseline --junit j.xml --markdown s.md
    """
    from proctor.registry import find
    from proctor.store.store import Store

    options = from_run_file(options)
    reports = options.pop("reports", ())
    by, cases, texts = (options.pop(name) for name in ("by", "cases", "texts"))
    files = _run_files(options)
    margin = options.get("margin")
    layout, out = options.pop("layout"), options.pop("out")
    if (layout is None) != (out is None):
        raise click.UsageError("--layout and --out go together: --layout infibench --out DIR")
    if layout is not None:
        find("layout", layout)
    as_json, url, parts = (options.pop(name) for name in ("as_json", "store", "parts"))
    several = run_settings(options)
    suite_path = several[0].suite.path
    with Store.open(url, parts=parts) as store:
        if parts and store.parts.folder is not None:
            store.parts.folder.check()
        refused: list[Refused] = []
        if several[0].against:
            from proctor.cli.earlier_run import with_earlier_run

            several = with_earlier_run(several, store)
        outcomes = examine(several, store, quiet=as_json, refused=refused)
        if outcomes is None:
            return 130
        gates, reference = several[0].gates, several[0].against
        views = [outcome.view for outcome in outcomes]
        earlier = _earlier_runs(store, views, reference, gates, margin)
        results = _gate_results(views, gates, earlier, store)
        grid = _grid_of(views, store, best=not as_json or files is not None)
        beside = Beside(_beside_runs(results, earlier, texts=texts), grid)
        print_runs(views, refused, as_json, by=by, cases=cases, beside=beside)
        if not as_json:
            _print_beside(grid, earlier if reference and several[0].stop is None else ())
        if files is not None:
            files.write(views, results, earlier, grid=grid, quiet=as_json)
        _write_reports(views, reports, quiet=as_json)
        if layout is not None:
            for outcome in outcomes:
                write_layout(outcome.view, layout, out, quiet=as_json, suite=suite_path)
        codes = [
            _gated(view, gate_results, several=len(views) > 1)
            for view, gate_results in zip(views, results, strict=True)
        ]
        return max(*codes, INCOMPLETE if refused else 0)


def _print_beside(grid: "RunGrid | None", earlier: "Sequence[Against | None]") -> None:
    """Print the runs side by side, and compared with earlier ones."""
    print_grid(grid)
    if earlier:
        from proctor.cli.earlier_run import print_earlier

        print_earlier(earlier)


def _write_reports(views: list[Any], reports: "Sequence[WrittenReport]", *, quiet: bool) -> None:
    """Write the reports that a run file asks for."""
    if reports:
        from proctor.cli.run_file import write_reports

        write_reports(views, reports, quiet=quiet)


def _run_files(options: dict[str, Any]) -> "RunFiles | None":
    """Take the files about the runs out of a command's options; None if there are none."""
    texts = {name: options.pop(name) for name in ("junit", "markdown", "links")}
    if not any(texts.values()):
        return None
    from proctor.cli.report_files import RunFiles

    return RunFiles.of(texts)


def _earlier_runs(
    store: "Store", views: list[Any], reference: str, gates: Sequence[str], margin: float | None
) -> "list[Against | None]":
    """Compare runs with an earlier one, if there is one to compare with."""
    if not reference:
        return [None for _ in views]
    from proctor.cli.earlier_run import compared_with

    return [compared_with(store, view, reference, gates, margin) for view in views]


def _gate_results(
    views: list[Any], gates: Sequence[str], earlier: "Sequence[Against | None]", store: "Store"
) -> "list[list[GateResult]]":
    """Check the gates of each run, and store what came of them for whoever pins a baseline."""
    if not gates:
        return [[] for _ in views]
    from proctor.engine.run.gates import gate_results, note_gates

    several = []
    for view, against in zip(views, earlier, strict=True):
        compared = () if against is None else (against.gate_names, against.refused)
        several.append(gate_results(gates, view.summary, *compared))
        note_gates(store, view.run.id, several[-1])
    return several


def _gated(view: Any, results: "Sequence[GateResult]", *, several: bool) -> int:
    """Print what came of the gates, with caveats, and return the exit code of a run."""
    whose = f"{view.run.name}: " if several else ""
    for result in results:
        if result.passed:
            click.echo(f"gate held: {whose}{result.words}", err=True)
    missed = [f"{whose}{result.words}" for result in results if not result.passed]
    return exit_code(view.summary, missed, view.run)


class Refused(NamedTuple):
    """A suite of several that could not be run."""

    suite: str
    error: "ProctorError"


class Beside(NamedTuple):
    """What is printed of runs besides their numbers: of each, and of all together."""

    runs: Sequence[dict[str, Any]]
    grid: "RunGrid | None"


def examine(
    several: "list[RunSettings]",
    store: "Store",
    *,
    quiet: bool,
    refused: list[Refused] | None = None,
) -> "list[Outcome] | None":
    """Evaluate every candidate on every suite, with progress; return None if interrupted.

    With a ``refused`` list, suites that cannot be run are reported at once and added to it, as long
    as others can be run.
    """
    from proctor.cli.output import progress_bar, say, say_error, say_problems, say_stopped
    from proctor.io.concurrency import run_sync

    def put_aside(suite: str, error: "ProctorError") -> None:
        assert refused is not None
        refused.append(Refused(suite, error))
        click.echo(f"{suite} cannot be run and is skipped:", err=True)
        say_error(error)

    try:
        with progress_bar() as progress:
            on_refusal = None if refused is None else put_aside
            work = _evaluation(several, store, progress, say, on_refusal)
            outcomes = run_sync(work, loop_later=len(several) == 1)
    except KeyboardInterrupt:
        say_stopped()
        return None
    told: set[Problem] = set()
    for outcome in outcomes:
        if not quiet:  # what holds for several runs is said once
            say_problems([one for one in outcome.warnings if one not in told], most=3)
            told.update(outcome.warnings)
        if outcome.stopped:
            click.echo(f"stopped: {outcome.stopped}", err=True)
    return outcomes


def _beside_runs(
    gates: "Sequence[Sequence[GateResult]]",
    earlier: "Sequence[Against | None]",
    *,
    texts: bool,
) -> list[dict[str, Any]]:
    """Return what JSON says of each run besides its numbers, and whether it has texts."""
    rows = [
        {
            "gates": [result.to_json() for result in results],
            "against": {} if against is None else against.to_json(),
        }
        for results, against in zip(gates, earlier, strict=True)
    ]
    silent = {} if texts else {"texts": False}
    return [{name: value for name, value in one.items() if value} | silent for one in rows]


def _evaluation(
    several: "list[RunSettings]", store: "Store", *how: Any
) -> "Coroutine[Any, Any, list[Outcome]]":
    """Return the work of one candidate, or of several side by side."""
    if len(several) == 1:
        from proctor.engine.run.evaluate import evaluate_all

        return evaluate_all(several[0], store, *how)
    from proctor.engine.run.side_by_side import evaluate_side_by_side

    return evaluate_side_by_side(several, store, *how)


def print_runs(
    views: "list[Any]",
    refused: list[Refused],
    as_json: bool,
    *,
    by: tuple[str, ...] = (),
    cases: bool = False,
    beside: "Beside | None" = None,
) -> None:
    """Print the runs of a command, as JSON with what is beside them; one run is one object."""
    more_of_runs = [{} for _ in views] if beside is None else beside.runs
    if as_json and (len(views) > 1 or refused):
        from proctor.cli.output import print_json
        from proctor.reports.structured import to_object

        output: dict[str, Any] = {
            "runs": [
                to_object(view, by, cases, **more)
                for view, more in zip(views, more_of_runs, strict=True)
            ]
        }
        if beside is not None and beside.grid is not None and beside.grid.prompt_verdicts:
            verdicts = beside.grid.prompt_verdicts
            output["prompt_verdicts"] = [verdict.to_json() for verdict in verdicts]
        if refused:
            output["refused"] = [{"suite": one.suite, "error": str(one.error)} for one in refused]
        print_json(output)
        return
    if len(views) > MOST_TABLES and is_grid(views) and not (as_json or by or cases):
        _print_lines(views)
        views = []
    for number, view in enumerate(views):
        if number:
            click.echo()
        params = more_of_runs[number] if as_json else {}
        print_report(view, "json" if as_json else "table", by=by, cases=cases, **params)
    if refused:
        names = ", ".join(one.suite for one in refused)
        click.echo(f"incomplete: {names} could not be run", err=True)


def _print_lines(views: "list[Any]") -> None:
    """Print a line for each of many runs, and once for all what their references lack."""
    from proctor.reports.tabular import shared_reference_notes

    for view in views:
        click.echo(_run_line(view))
    click.echo("\n`proctor report RUN` shows a run in full")
    for note in shared_reference_notes([view.summary.references for view in views]):
        click.echo(note)


def _run_line(view: Any) -> str:
    """Say in one line what came of a run that is one of many."""
    totals = view.summary.totals
    left = [
        f"{count} {what}"
        for count, what in (
            (totals.errors, "attempts failed"),
            (totals.cases_unscored, "cases unscored"),
            (totals.unanswered, "attempts unanswered"),
        )
        if count
    ]
    return " · ".join(
        [view.run.name, view.run.status, f"{totals.cases:,} case{'s' * (totals.cases != 1)}", *left]
    )


def is_grid(views: "list[Any]") -> bool:
    """Tell whether runs are shown side by side: several, of one suite."""
    return len(views) > 1 and len({view.run.suite_key for view in views}) == 1


def _grid_of(views: "list[Any]", store: "Store", *, best: bool) -> "RunGrid | None":
    """Lay out several runs of one suite side by side; None where they are not.

    ``best`` asks which run is better than every other one.
    """
    if not is_grid(views):
        return None
    from proctor.engine.compare.grid import run_grid

    return run_grid(store, views, best=best)


def print_grid(grid: "RunGrid | None") -> None:
    """Print several runs of one suite by prompt and model, if there are several."""
    if grid is None:
        return
    from proctor.cli.output import on_terminal, table_width
    from proctor.reports.grid import grid_table

    click.echo()
    click.echo(grid_table(grid, width=table_width(), color=on_terminal()).rstrip("\n"))


def print_report(view: Any, name: str, *, by: tuple[str, ...], cases: bool, **params: Any) -> None:
    """Print a run in one of the report formats."""
    from proctor.cli.output import on_terminal, table_width
    from proctor.core.suite import Spec
    from proctor.registry import build

    if name == "table":
        params |= {"width": table_width(), "color": on_terminal()}
    report: Report = build("report", Spec(name=name, params=params))
    if report.streams:
        report.write(view, sys.stdout, by=by, cases=cases)
        click.echo()
    else:
        click.echo(report.render(view, by=by, cases=cases).rstrip("\n"))


def write_layout(
    view: Any, name: str, out: Path, *, quiet: bool, suite: Path | None = None
) -> None:
    """Write the result files of an origin, and print where they are."""
    from proctor.core.suite import Spec
    from proctor.registry import build

    layout: Layout = build("layout", Spec(name=name))
    if suite is not None:
        layout = layout.beside(suite)
    for path in layout.write(view, out):
        if not quiet:
            click.echo(f"wrote {path}", err=True)


def exit_code(summary: Any, missed: list[str], run: Any = None) -> int:
    """Print the missed gates, and return the exit code of a run."""
    for gate in missed:
        click.echo(f"gate missed: {gate}", err=True)
    totals = summary.totals
    incomplete = run is not None and run.status == "incomplete"
    if totals.errors:
        many = f"{totals.errors} of {totals.attempts} attempts failed"
        click.echo(f"incomplete: {many}; the same command retries them", err=True)
    elif incomplete and totals.cases_unscored:
        many = f"{totals.cases_unscored} of {totals.cases} cases could not be scored"
        click.echo(f"incomplete: {many}; the same command retries them", err=True)
    if totals.errors or incomplete:
        return 3
    return 1 if missed else 0
