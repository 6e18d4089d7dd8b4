"""``proctor delete``: take a run out of the store."""

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.references import tell_which


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
@json_option
def delete(run: str, yes: bool, store: str | None, as_json: bool) -> None:
    """Delete RUN, and whatever no other run uses.

    \b
    Example:
      proctor delete my-run
    """
    from proctor.cli.output import print_json
    from proctor.store.store import Store

    with Store.open(store, create=False) as opened:
        tell_which(opened, [run])
        found = opened.runs.get(run)
        if not yes and not as_json:
            click.confirm(f"Delete the run {found.name!r} ({found.id})?", abort=True)
        opened.runs.delete(found.id)
    if as_json:
        print_json({"deleted": {"id": found.id, "name": found.name}})
    else:
        click.echo(f"deleted {found.name} ({found.id})")
