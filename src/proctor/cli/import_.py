"""``proctor import``: runs from a file, or from another tool's folder."""

from pathlib import Path

import click

from proctor.cli.options import json_option, store_option


@click.command(name="import")
@click.argument("file", metavar="FILE|DIR", type=click.Path(path_type=Path))
@store_option
@json_option
def import_(file: Path, store: str | None, as_json: bool) -> None:
    """Read runs that `proctor export` wrote as .jsonl, or a folder of Arthur Bench, whole.

    \b
    Example:
      proctor import run.jsonl
      proctor import bench_runs
    """
    from proctor.cli.output import print_json
    from proctor.engine.transfer import read_folder, read_runs
    from proctor.store.store import Store

    with Store.open(store) as opened:
        if not file.is_dir():
            views = read_runs(opened, file)
            if as_json:
                runs = [{"id": view.run.id, "name": view.run.name} for view in views]
                print_json({"run": runs[0], "runs": runs})
            for view in views if not as_json else ():
                click.echo(f"imported {view.run.name} ({view.run.id})")
            return
        found = read_folder(opened, file)
    if as_json:
        rows = [
            {"id": v.run.id, "name": v.run.name, "suite": s} for s, views in found for v in views
        ]
        print_json({"suites": [suite for suite, _ in found], "runs": rows})
        return
    for suite, views in found:
        click.echo(f"imported {suite}: {len(views)} run{'' if len(views) == 1 else 's'}")
        for view in views:
            click.echo(f"  {view.run.name} ({view.run.id})")
