"""``proctor infibench``: the flags of InfiBench's grader, for old scripts."""

import os
from pathlib import Path
from typing import Any

import click

from proctor.cli.listed_options import ListedOptions
from proctor.cli.options import sandbox_spec, store_option

USUAL = "results"
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=ListedOptions)
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("responses", type=click.Path(path_type=Path))
@click.option(
    "--result_detail_path",
    type=_FILE,
    help=f"The result YAML [default: {USUAL}/SUITE_RESPONSES.yaml].",
)
@click.option(
    "--result_summary_path",
    type=_FILE,
    help=f"The summary of three lines [default: {USUAL}/SUITE_RESPONSES.txt].",
)
@click.option(
    "--select",
    multiple=True,
    metavar="CASE...",
    help="Only these cases, by path in the suite or by id; all words up to the next option.",
)
@click.option("--compat", type=click.Choice(["original"]), help="Bug for bug as the original.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "md", "csv"]),
    default="table",
    show_default=True,
    help="How the table is written.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Where the format is written to.")
@click.option(
    "--sandbox", default="bubblewrap", show_default=True, metavar="TIER", help="Where programs run."
)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def infibench(**options: Any) -> int:
    """Grade the RESPONSES to an InfiBench SUITE, and print the table by language, type and metric.

    The original's two result files are written where the original writes them.

    \b
    Example:
      proctor infibench suite_v1.yaml responses/gpt-4_0.2_0.9_30 --compat original
      proctor infibench suite_v1.yaml responses/gpt-4 --select cases/eval_1.yaml cases/eval_2.yaml
      proctor infibench suite_v1.yaml responses/gpt-4 --result_detail_path results/gpt-4.yaml
    """
    from proctor.cli.output import progress_bar, say_problems
    from proctor.cli.run import exit_code, print_report
    from proctor.core.suite import Spec
    from proctor.engine.run.evaluate import evaluate
    from proctor.engine.run.settings import RunSettings, SuiteSettings
    from proctor.io.concurrency import run_sync
    from proctor.origins.infibench.layout import InfiBenchLayout
    from proctor.registry import build
    from proctor.store.store import Store

    suite = SuiteSettings(
        path=options["suite"],
        dialect="infibench",
        compat=options["compat"] or "",
        select=options["select"],
    )
    settings = RunSettings(
        suite=suite, answers=options["responses"], sandbox=sandbox_spec(options["sandbox"])
    )
    with Store.open(options["store"]) as store:
        with progress_bar() as progress:
            outcome = run_sync(evaluate(settings, store, progress))
        view = outcome.view
        quiet = options["as_json"]
        if not quiet:
            say_problems(outcome.warnings, most=3)
        form = "json" if quiet else options["form"]
        if options["out"] is None:
            print_report(view, form, by=(), cases=False)
        else:
            options["out"].write_text(build("report", Spec(name=form)).render(view))
        detail, summary = _result_files(options)
        layout = InfiBenchLayout().beside(options["suite"])
        sums = layout.write_files(view, detail, summary)
        if not quiet and form == "table" and options["out"] is None:
            click.echo(f"\n{sums.text().strip()}")
        if not quiet:
            click.echo(f"wrote {detail} and {summary}", err=True)
        return exit_code(view.summary, [], view.run)


def _result_files(options: dict[str, Any]) -> tuple[Path, Path]:
    """Return where the original writes: as it was told, or by the names of what it read."""
    suite = options["suite"].name.rsplit(".", 1)[0]
    responses = os.path.basename(str(options["responses"]).strip("/"))
    stem = f"{USUAL}/{suite}_{responses}"
    detail, summary = options["result_detail_path"], options["result_summary_path"]
    return detail or Path(f"{stem}.yaml"), summary or Path(f"{stem}.txt")
