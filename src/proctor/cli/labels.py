"""``proctor labels``: import and export people's labels of a run."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.output import tell_which


@click.command()
@click.argument("what", type=click.Choice(["import", "export"]))
@click.argument("run", metavar="RUN")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--criterion", default="", metavar="ID", help="Export only this criterion.")
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="Export N cases that have no label yet, picked at random, to be filled in.",
)
@click.option(
    "--seed",
    default="",
    metavar="TEXT",
    help="Seed of the sample [default: the order of the label page].",
)
@click.option("--author", default="", help="Who gave the labels of a file that does not say so.")
@store_option
@json_option
def labels(what: str, run: str, file: Path, **options: Any) -> None:
    """Import labels of RUN from FILE, or export them to it: .csv, .tsv or .jsonl.

    A row has `case`, `points` and, where they are needed, `attempt`, `criterion`, `note`, `author`.
    Points are a number on the criterion's scale, or right or wrong. Labels on cases picked at
    random yield the corrected score, which `proctor report` prints.

    \b
    Example:
      proctor labels export my-run todo.csv --sample 50
      proctor labels import my-run todo.csv --author ann
      proctor labels export my-run labels.jsonl
    """
    from proctor.store.store import Store

    with Store.open(options["store"], create=False) as store:
        tell_which(store, [run])
        if what == "import":
            for name in ("criterion", "sample", "seed"):
                if options[name]:
                    raise click.UsageError(f"--{name} is for labels that are exported")
            _import(store, run, file, options)
        elif options["author"]:
            raise click.UsageError("--author is for labels that are imported")
        else:
            _export(store, run, file, options)


def _import(store: Any, run: str, file: Path, options: dict[str, Any]) -> None:
    from proctor.cli.output import print_json
    from proctor.engine.labels.label_files import import_labels

    stored_run = store.runs.get(run)
    done = import_labels(store, stored_run, file, author=options["author"])
    if options["as_json"]:
        counts = {"added": done.added, "known": done.unchanged, "empty": done.empty}
        print_json({"run": {"id": stored_run.id, "name": stored_run.name}, **counts})
        return
    skipped = f", {done.unchanged} were stored before" if done.unchanged else ""
    empty = f", {done.empty} rows have no points" if done.empty else ""
    click.echo(
        f"{done.added} label{'' if done.added == 1 else 's'} of {stored_run.name}{skipped}{empty}"
    )


def _export(store: Any, run: str, file: Path, options: dict[str, Any]) -> None:
    from proctor.cli.output import print_json
    from proctor.engine.labels.label_files import export_labels, export_sample

    stored_run = store.runs.get(run)
    about: dict[str, Any] = {"criterion": options["criterion"]}
    if options["sample"]:
        about["seed"] = options["seed"]
        count = export_sample(store, stored_run, file, options["sample"], **about)
    else:
        count = export_labels(store, stored_run, file, **about)
    if options["as_json"]:
        print_json(
            {
                "run": {"id": stored_run.id, "name": stored_run.name},
                "wrote": str(file),
                "rows": count,
            }
        )
    else:
        click.echo(f"wrote {file}: {count} row{'' if count == 1 else 's'}")
