"""``proctor convert``: rewrite a suite of any format as a native one."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import (
    json_option,
    suite_options,
    suite_options_of_dialects,
    suite_settings,
)


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

    \b
    Example:
      proctor convert infibench/suite_v1.yaml --to native --out my-suite
    """
    from proctor.cli.output import print_json, say_problems
    from proctor.core.suite import Spec
    from proctor.engine.run import read_suite
    from proctor.registry import build

    to, out, as_json = options.pop("to"), options.pop("out"), options.pop("as_json")
    settings = suite_settings(options)
    readings = read_suite.read_all(settings)
    wrote = []
    for reading in readings:
        suite = read_suite.chosen(reading.suite, settings)
        folder = out if len(readings) == 1 else out / suite.name
        path = build("writer", Spec(name=to)).write(suite, folder)
        wrote.append({"wrote": str(path), "suite": suite.name, "cases": len(suite.cases)})
        if not as_json:
            say_problems(reading.warnings, most=3)
            click.echo(f"wrote {path}: {len(suite.cases)} cases")
    if as_json:
        print_json(wrote[0] if len(wrote) == 1 else {"suites": wrote})
