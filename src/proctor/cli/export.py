"""``proctor export``: a run as a file."""

from pathlib import Path

import click

from proctor.cli.options import json_option, store_option


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help=".jsonl or .parquet",
)
@store_option
@json_option
def export(run: str, out: Path, store: str | None, as_json: bool) -> None:
    """Write RUN to a file: .jsonl holds all of it and can be imported, .parquet a row per score.

    \b
    Example:
      proctor export @last --out run.jsonl
    """
    from proctor.cli.output import print_json
    from proctor.engine.evaluate import view_of
    from proctor.engine.transfer import write_run
    from proctor.store.store import Store

    with Store.open(store, create=False) as opened:
        view = view_of(opened, run)
        rows = write_run(view, out)
    if as_json:
        print_json({"wrote": str(out), "run": view.run.id, "rows": rows})
    else:
        click.echo(f"wrote {out}: {rows} rows")
