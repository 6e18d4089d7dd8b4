"""``proctor charts``: charts of runs and battles."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.output import tell_which


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder to write the charts to.",
)
@click.option("--by", multiple=True, metavar="TAG", help="Only breakdowns by this tag.")
@click.option(
    "--format",
    "forms",
    type=click.Choice(["svg", "png", "json"]),
    multiple=True,
    default=("svg", "png"),
    show_default=True,
    help="File format; json is the Vega-Lite spec. Repeatable.",
)
@store_option
@json_option
def charts(runs: tuple[str, ...], **options: Any) -> int:
    """Draw the numbers of RUNs side by side, and the battles among them.

    \b
    Example:
      proctor charts @last --out charts
      proctor charts my-run other-run --by category --out charts --format png
    """
    from proctor.cli.output import print_json, say
    from proctor.engine.battle.run_battle import battles_of
    from proctor.engine.run.stored_view import view_of
    from proctor.reports.charts.chosen_charts import charts_of
    from proctor.reports.charts.drawing import write_charts
    from proctor.store.store import Store

    with Store.open(options["store"], create=False) as store:
        tell_which(store, runs)
        views = [view_of(store, reference) for reference in dict.fromkeys(runs)]
        battles = battles_of(store, [view.run.id for view in views]) if len(views) > 1 else []
        drawn_charts = charts_of(views, battles, by=options["by"])
    written = write_charts(
        drawn_charts, options["out"], forms=tuple(dict.fromkeys(options["forms"])), notice=say
    )
    if options["as_json"]:
        shown = [{"name": chart.name, "title": chart.title} for chart in drawn_charts]
        print_json({"charts": shown, "files": [str(path) for path in written]})
    else:
        for path in written:
            click.echo(f"wrote {path}")
    return 0
