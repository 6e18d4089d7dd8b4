"""``proctor import``: a run from a file."""

from pathlib import Path

import click

from proctor.cli.options import json_option, store_option


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@store_option
@json_option
def import_(file: Path, store: str | None, as_json: bool) -> None:
    """Read a run that `proctor export` wrote as .jsonl into the store.

    \b
    Example:
      proctor import run.jsonl
    """
    from proctor.cli.output import print_json
    from proctor.engine.transfer import read_run
    from proctor.store.store import Store

    with Store.open(store) as opened:
        view = read_run(opened, file)
    if as_json:
        print_json({"run": {"id": view.run.id, "name": view.run.name}})
    else:
        click.echo(f"imported {view.run.name} ({view.run.id})")
