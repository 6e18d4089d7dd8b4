"""``proctor grid``: cases and candidates side by side, with the outputs."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import json_option, store_option, texts_option


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--differing", is_flag=True, help="Only cases for which marks differ.")
@click.option("--changed", is_flag=True, help="Only cases for which the answers differ.")
@click.option("--select", multiple=True, metavar="CASE", help="Only these cases.")
@click.option("--limit", type=click.IntRange(1), help="No more than N cases.")
@click.option(
    "--length",
    type=click.IntRange(5),
    default=60,
    show_default=True,
    help="Characters of an answer that the table shows.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "md", "csv", "json", "html"]),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
@store_option
@json_option
@texts_option
def grid(runs: tuple[str, ...], **options: Any) -> None:
    """Show the cases of RUNs with what every candidate answered, and its marks.

    \b
    Example:
      proctor grid @last @last~1
      proctor grid @last~3 @last~2 @last~1 @last --differing --format html --out grid.html
    """
    from itertools import islice

    from proctor.cli.output import tell_which
    from proctor.engine.compare.grid import case_rows, run_grid
    from proctor.engine.run.stored_view import view_of
    from proctor.errors import UsageError
    from proctor.store.store import Store

    with Store.open(options["store"], create=False) as store:
        tell_which(store, runs)
        views = [view_of(store, reference) for reference in runs]
        if len({view.run.id for view in views}) < len(views):
            raise UsageError("a run is named twice")
        summary = run_grid(store, views)
        chosen = (
            row
            for row in case_rows(views, only=options["select"])
            if (not options["differing"] or row.differs)
            and (not options["changed"] or row.outputs_differ)
        )
        rows = list(islice(chosen, options["limit"]))
    text = _written(summary, rows, "json" if options["as_json"] else options["form"], options)
    out: Path | None = options["out"]
    if out is None:
        click.echo(text.rstrip("\n"))
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror or error}") from None
    click.echo(f"wrote {out}", err=True)


def _written(summary: Any, rows: Any, form: str, options: dict[str, Any]) -> str:
    import json

    from proctor.cli.output import on_terminal, table_width
    from proctor.reports import grid as report

    if form == "json":
        whole = report.grid_object(summary, rows, texts=options["texts"])
        return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return report.csv_grid(summary.runs, rows)
    if form == "md":
        return report.markdown_grid(summary, rows)
    if form == "html":
        return report.html_grid(summary, rows)
    to_file = options["out"] is not None
    width, color = None if to_file else table_width(), on_terminal() and not to_file
    head = report.grid_table(summary, width=width, color=color)
    cases = report.cases_table(
        summary.runs, rows, width=width, color=color, length=options["length"]
    )
    return f"{head}\n{cases}"
