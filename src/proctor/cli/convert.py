"""``proctor convert``: rewrite a suite of any format as a native one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import (
    json_option,
    suite_options,
    suite_options_of_dialects,
    suite_settings,
)

if TYPE_CHECKING:
    from proctor.core.suite import Suite
    from proctor.engine.run.settings import SuiteSettings

WARNINGS = 20
"""How many kinds of warnings are shown: each may be something that was left out."""


@click.command()
@suite_options
@suite_options_of_dialects
@click.option(
    "--to",
    type=click.Choice(["native"]),
    default="native",
    show_default=True,
    help="The format to write.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write.")
@json_option
def convert(**options: Any) -> None:
    """Write the suite SPEC as a native suite, without loss.

    Of another tool's results (see `proctor import`) the cases are written, with the answers of
    each run beside them, so that they can be scored anew.

    \b
    Example:
      proctor convert infibench/suite_v1.yaml --to native --out my-suite
      proctor convert logs/quiz.eval --to native --out quiz
      proctor convert promptfooconfig.yaml --out quiz    (a suite, and a run file)
    """
    from proctor.cli.output import many_cases, print_json, say_problems
    from proctor.core.suite import Spec
    from proctor.engine.run import read_suite
    from proctor.registry import build

    to, out, as_json = options.pop("to"), options.pop("out"), options.pop("as_json")
    settings = suite_settings(options)
    if not settings.dialect and _convert_results(settings.path, out, to, as_json):
        return
    readings = read_suite.read_all(settings)
    wrote = []
    for reading in readings:
        suite = read_suite.chosen(reading.suite, settings)
        folder = out if len(readings) == 1 else out / suite.name
        path = build("writer", Spec(name=to)).write(suite, folder)
        wrote.append({"wrote": str(path), "suite": suite.name, "cases": len(suite.cases)})
        if not as_json:
            say_problems(reading.warnings, most=WARNINGS)
            click.echo(f"wrote {path}: {many_cases(len(suite.cases))}")
        run_file = _write_run_file(settings, folder, path)
        if run_file is not None:
            wrote[-1]["run_file"] = str(run_file)
            if not as_json:
                click.echo(f"wrote {run_file}: proctor run {run_file}")
        if not as_json:
            _say_needs(suite)
    if as_json:
        print_json(wrote[0] if len(wrote) == 1 else {"suites": wrote})


def _say_needs(suite: "Suite") -> None:
    """Say what the cases of a suite need that the command for a run must name or install."""
    from proctor.cli.output import many_cases, say_problems
    from proctor.engine.run.scorer_pool import Scorers
    from proctor.errors import PluginError

    scorers = Scorers()
    try:
        judged = sum(any(scorers.of(c).needs_judge for c in case.criteria) for case in suite.cases)
        missing = scorers.missing(suite)
    except PluginError:  # a scorer of the suite's own, which only a run may import
        return
    if judged:
        need = "needs" if judged == 1 else "need"
        where = "add --judge MODEL, or judges: in a run file"
        click.echo(f"{many_cases(judged)} {need} a judge: {where}", err=True)
    say_problems(missing)


def _write_run_file(settings: "SuiteSettings", folder: Path, suite: Path) -> Path | None:
    """Write what another tool's configuration says of models and attempts as a run file."""
    from proctor.engine.run.read_suite import find_dialect
    from proctor.io.yaml_files import yaml_text

    dialect = find_dialect(settings.path, settings.dialect)
    if not (options := dialect.run_options(settings.path)):
        return None
    path = folder / "run.yaml"
    path.write_text(yaml_text({"suite": suite.name, **options}), encoding="utf-8")
    return path


def _convert_results(path: Path, out: Path, to: str, as_json: bool) -> bool:
    """Write another tool's results as native files; tell whether the path holds any."""
    from proctor.cli.output import many_cases, print_json
    from proctor.engine.transfer.archives import archive_of, convert_results

    archive = archive_of(path)
    if archive is None:
        return False
    converted = convert_results(archive, path, out, to)
    if as_json:
        rows = [
            {
                "wrote": str(one.path),
                "suite": one.suite,
                "cases": one.cases,
                "unscored": one.unscored,
                "answers": [str(file) for file in one.answers],
            }
            for one in converted
        ]
        print_json(rows[0] if len(rows) == 1 else {"suites": rows})
        return True
    for one in converted:
        click.echo(f"wrote {one.path}: {many_cases(one.cases)}")
        for file in one.answers:
            click.echo(f"wrote {file}")
        if one.unscored:
            have = "has" if one.unscored == 1 else "have"
            many = many_cases(one.unscored)
            click.echo(f"{many} {have} no reference: write criteria for them", err=True)
    return True
