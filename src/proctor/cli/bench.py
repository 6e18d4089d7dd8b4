"""``proctor bench``: the folder of Arthur Bench, taken into the store and listed."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option

if TYPE_CHECKING:
    from proctor.reports.view import RunView

VARIABLE = "BENCH_FILE_DIR"
USUAL = "bench_runs"


@click.command()
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"The folder that Arthur Bench kept its suites in [default: ${VARIABLE}, else {USUAL}].",
)
@store_option
@json_option
def bench(directory: Path | None, store: str | None, as_json: bool) -> None:
    """Read a folder of Arthur Bench into the store, and list its suites with their runs.

    \b
    Example:
      proctor bench --directory bench_runs
    """
    from proctor.cli.output import print_json
    from proctor.engine.transfer import read_folder
    from proctor.store.store import Store

    folder = directory or Path(os.environ.get(VARIABLE) or USUAL)
    if not folder.is_dir():
        raise click.UsageError(f"there is no folder {folder} (fix: name it with --directory)")
    with Store.open(store) as opened:
        found = read_folder(opened, folder)
    rows: list[dict[str, Any]] = [
        {
            "suite": suite,
            "runs": [
                {"id": view.run.id, "name": view.run.name, "avg_score": _mean(view)}
                for view in views
            ],
        }
        for suite, views in found
    ]
    if as_json:
        print_json({"suites": rows})
        return
    for row in rows:
        click.echo(row["suite"])
        for run in row["runs"]:
            mean = "no score" if run["avg_score"] is None else f"{run['avg_score']:.4g}"
            click.echo(f"  {run['name']} ({run['id']}): {mean}")


def _mean(view: "RunView") -> float | None:
    return next((measured.value for measured in view.summary.measures.values()), None)
