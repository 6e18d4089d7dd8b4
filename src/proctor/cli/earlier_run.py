"""``run --against``: the earlier run, and how a new one compares with it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from proctor.contracts.report import RunView
    from proctor.engine.compare.against import Against
    from proctor.engine.run.settings import RunSettings
    from proctor.store.store import Store

SHOWN = 10
"""How many cases that got worse are printed."""


def with_earlier_run(several: "list[RunSettings]", store: "Store") -> "list[RunSettings]":
    """Import the file that ``--against`` names, if it names one."""
    from proctor.engine.compare.against import taken_from_file

    earlier = taken_from_file(store, several[0].against)
    return [
        replace(
            settings,
            against=earlier,
            stop=replace(settings.stop, against=earlier)
            if settings.stop is not None and settings.stop.against
            else settings.stop,
        )
        for settings in several
    ]


def compared_with(
    store: "Store", view: "RunView", reference: str, gates: Sequence[str], margin: float | None
) -> "Against | None":
    """Compare a run with an earlier one; None where the suite has no baseline yet."""
    from proctor.engine.compare.against import compare_against

    share = None if margin is None else margin / 100
    return compare_against(store, view, reference, gates=gates, margin=share)


def print_earlier(earlier: "Sequence[Against | None]") -> None:
    """Print how runs compare with an earlier one, and which cases got worse."""
    from proctor.reports.reasons import one_line

    for against in earlier:
        if against is None:
            continue
        click.echo()
        for warning in against.warnings:
            click.echo(f"warning: {one_line(warning)}", err=True)
        click.secho(one_line(against.sentence), bold=True)
        for case in against.worse[:SHOWN]:
            change = f"{case.first:.4g} → {case.second:.4g} of {case.full:g}"
            click.echo(f"  worse: {one_line(case.id)}  {change}")
        if against.contrast is not None and against.contrast.paired.worse > SHOWN:
            left = against.contrast.paired.worse - SHOWN
            click.echo(f"  … and {left:,} more (`proctor compare` shows them)")
