"""``proctor import``: runs from a file, or from another tool's results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option

if TYPE_CHECKING:
    from proctor.store.store import Store


@click.command(name="import")
@click.argument("file", metavar="FILE|DIR", type=click.Path(path_type=Path))
@click.option(
    "--own",
    is_flag=True,
    help="Import runs that this store exported with --own as its own again.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The key of the store that exported them (`proctor store key`), if it is another one.",
)
@click.option(
    "--name", default="", metavar="NAME", help="The run's name, instead of that in the file."
)
@store_option
@json_option
def import_(file: Path, store: str | None, as_json: bool, **how: Any) -> None:
    """Import runs that `proctor export` wrote as .jsonl, or results of another tool.

    Read are logs of Inspect (.eval, .json), samples of lm-evaluation-harness (the folder, or one
    samples_*.jsonl), results of promptfoo (.json), finished jobs of Harbor (the folder), traces of
    OpenTelemetry (.json, .jsonl) and folders of Arthur Bench. Imported runs can be shown and
    compared, but are never reused for your own runs. A run whose name is taken gets another one.
    --name is for one run; where there is one for each of several suites, it comes after the suite's
    name.

    \b
    Example:
      proctor import run.jsonl
      proctor import run.jsonl --own
      proctor import logs/2026-11-18_quiz.eval
      proctor import lm_eval_output --name pythia
      proctor import bench_runs
    """
    from proctor.store.store import Store

    own, name = how["own"], how["name"].strip()
    if how["key"] is not None and not own:
        raise click.UsageError("--key needs --own")
    if own and name:
        raise click.UsageError("--own takes a run back as it was, with its name: leave out --name")
    if any(ord(char) < 32 for char in name):
        raise click.UsageError("a run's name may not contain control characters")
    with Store.open(store) as opened:
        if own and file.is_dir():
            raise click.UsageError("--own is for a .jsonl file that `proctor export --own` wrote")
        if own or not (file.is_dir() or _is_foreign(file)):
            _from_file(opened, file, how, as_json)
        else:
            _from_archive(opened, file, name, as_json)


def _is_foreign(file: Path) -> bool:
    """Tell whether another tool wrote a file, as far as a first look shows."""
    from proctor.engine.transfer.archives import archive_of

    return archive_of(file) is not None


def _from_file(store: "Store", file: Path, how: dict[str, Any], as_json: bool) -> None:
    from proctor.cli.output import print_json
    from proctor.cli.store import read_key
    from proctor.engine.transfer.export_import import read_runs

    key = None if how["key"] is None else read_key(how["key"])
    imported = read_runs(store, file, own=how["own"], key=key, name=how["name"].strip())
    for notice in imported.notices:
        click.echo(notice, err=True)
    if as_json:
        runs = [
            {"id": view.run.id, "name": view.run.name, "imported": view.run.imported}
            for view in imported.views
        ]
        print_json({"run": runs[0], "runs": runs, "notices": list(imported.notices)})
        return
    for view in imported.views:
        done = "imported" if view.run.imported else "took back"
        click.echo(f"{done} {view.run.name} ({view.run.id})")


def _from_archive(store: "Store", path: Path, name: str, as_json: bool) -> None:
    from proctor.cli.output import print_json
    from proctor.engine.transfer.export_import import read_archive

    imported = read_archive(store, path, name)
    if as_json:
        rows = [
            {"id": view.run.id, "name": view.run.name, "suite": suite, "imported": True}
            for suite, views, _ in imported
            for view in views
        ]
        there = sum(count for _, _, count in imported)
        print_json({"suites": [suite for suite, _, _ in imported], "runs": rows, "there": there})
        return
    for suite, views, there in imported:
        skipped = f", {there} there already" if there else ""
        click.echo(f"imported {suite}: {len(views)} run{'' if len(views) == 1 else 's'}{skipped}")
        for view in views:
            click.echo(f"  {view.run.name} ({view.run.id})")
