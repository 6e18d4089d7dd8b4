"""``proctor items``: list the cases of a suite that deserve a second look."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import json_option, store_option


@click.command()
@click.argument("references", metavar="SUITE|RUN...", nargs=-1, required=True)
@click.option(
    "--csv",
    "table",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write every case to this file.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="N",
    help="List no more than N cases.",
)
@store_option
@json_option
def items(references: tuple[str, ...], **options: Any) -> None:
    """List the cases of SUITE, or of these RUNs, that deserve a second look, the worst first.

    Uses the results of all stored candidates to find keys that may be wrong, cases that strong
    candidates do worse on than weak ones, that everybody or nobody gets right, that ask nearly the
    same, or on which the judge disagrees with itself.

    \b
    Example:
      proctor items my-suite
      proctor items run-a run-b run-c --csv items.csv --json
    """
    from proctor.cli.output import many_cases, on_terminal, print_json, table_width
    from proctor.cli.view import PORT
    from proctor.engine.items.analysis import analyse
    from proctor.engine.items.takers import chosen_runs
    from proctor.errors import UsageError
    from proctor.reports.items import items_object, items_table, write_items
    from proctor.store.store import Store
    from proctor.web.addresses import case_link

    def link(run_id: str, case_id: str) -> str:
        return f"http://127.0.0.1:{PORT}{case_link(run_id, case_id)}"

    with Store.open(options["store"], create=False) as store:
        analysis = analyse(store, chosen_runs(store, references), most=options["most"])
        path: Path | None = options["table"]
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("w", encoding="utf-8", newline="") as file:
                    count = write_items(analysis.every(), file, link)
            except OSError as error:
                raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
            click.echo(f"wrote {path}: {many_cases(count)}", err=True)
    if options["as_json"]:
        print_json(items_object(analysis, link))
    else:
        click.echo(items_table(analysis, link, width=table_width(), color=on_terminal()).rstrip())
        if analysis.listed:
            click.echo("`proctor view` serves these pages.", err=True)
