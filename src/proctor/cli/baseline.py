"""``proctor baseline``: pin the run that later runs of its suite are compared with."""

from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.output import tell_which

if TYPE_CHECKING:
    from proctor.store.baselines import PinnedRun
    from proctor.store.store import Store


@click.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--clear", metavar="SUITE", help="Leave this suite without a baseline.")
@click.option("--force", is_flag=True, help="Pin a run that missed its gates, too.")
@store_option
@json_option
def baseline(
    run: str | None, clear: str | None, force: bool, store: str | None, as_json: bool
) -> None:
    """Make RUN the baseline of its suite; without RUN, list the baselines.

    Elsewhere `@baseline` means the run that is pinned for the suite, or `@baseline:SUITE` where
    several have one. A baseline stays when the store is pruned, and a later run that is compared
    with it never replaces it. A run that missed its gates is refused, unless --force: later runs
    would be held against what was not good enough.

    \b
    Example:
      proctor baseline @last
      proctor run suite.yaml --answers answers.jsonl --against @baseline
      proctor compare @baseline @last
      proctor baseline --clear my-suite
    """
    from proctor.cli.output import print_json
    from proctor.store.store import Store

    if run is not None and clear is not None:
        raise click.UsageError("name a run, or a suite with --clear, not both")
    with Store.open(store, create=False) as opened:
        if clear is not None:
            _clear(opened, clear)
        elif run is not None:
            _pin(opened, run, force=force)
        rows = opened.baselines.all()
        if as_json:
            print_json({"baselines": [_object(opened, row) for row in rows]})
            return
        if clear is not None:
            click.echo(f"the suite {clear} has no baseline any more")
            return
        suite = opened.runs.get(run).suite if run is not None else None
        for row in rows:
            if suite in (None, row.suite):
                entry = _object(opened, row)["run"]
                click.echo(f"{row.suite}: {entry['name']} ({entry['id']}), {_percent(entry)}")
        if not rows:
            click.echo("no baselines; `proctor baseline RUN` pins one")


def _pin(store: "Store", reference: str, *, force: bool) -> None:
    from proctor.engine.run.stored_view import view_of
    from proctor.errors import UsageError

    tell_which(store, [reference])
    view = view_of(store, reference)
    run = view.run
    if missed := view.summary.gates_missed:
        words = (
            f"the run {run.name!r} missed its gate{'s' * (len(missed) > 1)}: {'; '.join(missed)}"
        )
        if not force:
            raise UsageError(
                f"{words} (fix: pin a run that holds them; or --force, to pin this one all the"
                " same)"
            )
        click.echo(f"warning: {words}", err=True)
    if run.status != "complete":
        click.echo(f"warning: the run {run.name} is {run.status.value}", err=True)
    store.baselines.pin(run.suite, run.id)


def _clear(store: "Store", suite: str) -> None:
    from proctor.errors import UsageError
    from proctor.suggestions import suggest

    if not store.baselines.clear(suite):
        there = [row.suite for row in store.baselines.all()]
        raise UsageError(
            f"the suite {suite!r} has no baseline ({suggest(suite, there, listed=there)})"
        )


def _object(store: "Store", row: "PinnedRun") -> dict[str, Any]:
    from proctor.engine.run.stored_view import view_of

    view = view_of(store, row.run_id)
    return {
        "suite": row.suite,
        "pinned": row.pinned,
        "run": {"id": view.run.id, "name": view.run.name, "rate": view.summary.totals.rate},
    }


def _percent(run: dict[str, Any]) -> str:
    return "no rate" if run["rate"] is None else f"{run['rate'] * 100:.2f}%"
