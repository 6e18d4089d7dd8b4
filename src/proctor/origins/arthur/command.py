"""``proctor bench``: a folder of Arthur Bench taken into the store, and the pages served."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.serving import Serving, serve, serving_options

if TYPE_CHECKING:
    from proctor.contracts.report import RunView
    from proctor.store.store import Store

VARIABLE = "BENCH_FILE_DIR"
USUAL = "bench_runs"
PORT = 8000
"""Where Arthur Bench serves its pages, and its clients look for them."""


@click.command()
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"The folder that Arthur Bench kept its suites in [default: ${VARIABLE}, else {USUAL}"
    " where it is there].",
)
@click.option(
    "--enable_push_usage_data",
    "--disable_push_usage_data",
    "usage_data",
    is_flag=True,
    help="Do nothing: no usage data are ever sent.",
)
@serving_options(PORT)
@store_option
@json_option
def bench(  # noqa: PLR0913, PLR0917 - each is an option
    directory: Path | None,
    usage_data: bool,
    host: str,
    port: int,
    names: tuple[str, ...],
    token: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Read what is new in a folder of Arthur Bench into the store, and serve the pages.

    The endpoints that Arthur Bench's server has answer as well, below /api/v3/bench. With --json
    the suites of the folder are printed, and nothing is served.

    \b
    Example:
      proctor bench --directory bench_runs
    """
    from proctor.cli.output import print_json
    from proctor.store.store import Store

    if usage_data:
        click.echo("no usage data are sent, so there is nothing to set")
        return
    folder = _folder(directory)
    with Store.open(store) as opened:
        rows = [] if folder is None else _taken(opened, folder, required=directory is not None)
        place = opened.place
    if as_json:
        print_json({"store": place, "suites": rows})
        return
    for row in rows:
        _say(row)
    serve(store, Serving(host=host, port=port, names=names, token=token))


def _folder(directory: Path | None) -> Path | None:
    folder = directory or Path(os.environ.get(VARIABLE) or USUAL)
    if folder.is_dir():
        return folder
    if directory is None and VARIABLE not in os.environ:
        return None
    raise click.UsageError(f"there is no folder {folder} (fix: name it with --directory)")


def _taken(store: "Store", folder: Path, *, required: bool) -> list[dict[str, Any]]:
    from proctor.engine.transfer.export_import import read_archive

    if not required and not any(folder.iterdir()):
        return []
    return [
        {
            "suite": suite,
            "runs": [
                {"id": view.run.id, "name": view.run.name, "avg_score": _mean(view)}
                for view in views
            ],
            "there": there,
        }
        for suite, views, there in read_archive(store, folder)
    ]


def _say(row: dict[str, Any]) -> None:
    new = len(row["runs"])
    there = f", {row['there']} there already" if row["there"] else ""
    click.echo(f"{row['suite']}: {new} new run{'' if new == 1 else 's'}{there}")
    for run in row["runs"]:
        mean = "no score" if run["avg_score"] is None else f"{run['avg_score']:.4g}"
        click.echo(f"  {run['name']} ({run['id']}): {mean}")


def _mean(view: "RunView") -> float | None:
    return next((measured.value for measured in view.summary.measures.values()), None)
