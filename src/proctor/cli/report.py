"""``proctor report``: print the numbers of a run."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import json_option, store_option, texts_option
from proctor.cli.output import tell_which


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--by", multiple=True, metavar="TAG", help="Break the numbers down by this tag.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "md", "csv", "json", "html", "junit"]),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("--cases", is_flag=True, help="Include every case.")
@click.option(
    "--layout", metavar="ORIGIN", help="Write the result files of this origin into --out."
)
@store_option
@json_option
@texts_option
def report(**options: Any) -> None:
    """Print the numbers of RUN: a name, an id, or @last, @last~1.

    \b
    Example:
      proctor report @last --by lang --by type
      proctor report my-run --format md --out report.md
      proctor report my-run --format html --cases --out report.html
    """
    from proctor.cli.run import print_report, write_layout
    from proctor.core.suite import Spec
    from proctor.engine.run.later_findings import with_later_findings
    from proctor.engine.run.stored_view import view_of
    from proctor.registry import build
    from proctor.store.store import Store

    by, cases, layout = options["by"], options["cases"], options["layout"]
    out: Path | None = options["out"]
    form = "json" if options["as_json"] else options["form"]
    params = {"texts": False} if form == "json" and not options["texts"] else {}
    with Store.open(options["store"], create=False) as opened:
        tell_which(opened, [options["run"]])
        view = with_later_findings(opened, view_of(opened, options["run"]))
        if layout is not None:
            if out is None:
                raise click.UsageError("--layout needs --out DIR")
            write_layout(view, layout, out, quiet=options["as_json"])
        elif out is None:
            print_report(view, form, by=by, cases=cases, **params)
        else:
            text = build("report", Spec(name=form, params=params)).render(view, by=by, cases=cases)
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
            click.echo(f"wrote {out}", err=True)
