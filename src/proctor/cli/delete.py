"""``proctor delete``: delete a run from the store."""

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.output import tell_which


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@store_option
@json_option
def delete(run: str, yes: bool, store: str | None, as_json: bool) -> None:
    """Delete RUN, and all data that no other run uses.

    \b
    Example:
      proctor delete my-run
    """
    from proctor.cli.output import print_json
    from proctor.store.store import Store

    with Store.open(store, create=False) as opened:
        tell_which(opened, [run])
        stored_run = opened.runs.get(run)
        if not yes and not as_json:
            click.confirm(f"Delete the run {stored_run.name!r} ({stored_run.id})?", abort=True)
        opened.runs.delete(stored_run.id)
    if as_json:
        print_json({"deleted": {"id": stored_run.id, "name": stored_run.name}})
    else:
        click.echo(f"deleted {stored_run.name} ({stored_run.id})")
