"""``proctor demo``: the starter suite on recorded answers."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import json_option, store_option

CANDIDATES = ("careful", "hasty")


@click.command()
@store_option
@json_option
def demo(store: str | None, as_json: bool) -> int:
    """Examine two candidates, whose answers come with Proctor, with the starter suite.

    \b
    Example:
      proctor demo
    """
    from importlib.resources import as_file, files

    from proctor.bounded import run_sync
    from proctor.cli.output import print_json, progress_bar
    from proctor.cli.run import print_report
    from proctor.engine.evaluate import evaluate
    from proctor.engine.settings import RunSettings, SuiteSettings
    from proctor.reports.structured import to_object
    from proctor.store.store import Store

    shown: list[Any] = []
    with as_file(files("proctor.starter")) as folder, Store.open(store) as opened:
        for name in CANDIDATES:
            settings = RunSettings(
                suite=SuiteSettings(path=Path(folder) / "suite.yaml"),
                answers=Path(folder) / f"answers-{name}.jsonl",
                name=f"demo-{name}",
            )
            with progress_bar() as progress:
                outcome = run_sync(evaluate(settings, opened, progress))
            if as_json:
                shown.append(to_object(outcome.view))
            else:
                print_report(outcome.view, "table", by=(), cases=False)
                click.echo()
    if as_json:
        print_json({"runs": shown})
        return 0
    click.echo("The answers were recorded; grading them was real. Next:")
    click.echo("  proctor show demo-hasty en-python-aliasing     why a mark is what it is")
    click.echo("  proctor report demo-careful --by lang --cases  every case")
    click.echo("  proctor init my-suite                          a suite of your own")
    return 0
