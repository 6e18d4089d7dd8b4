"""Options that say when a run may end before its last case."""

from typing import Any

import click

from proctor.engine.run.settings import StopSettings

stop_options = [
    click.option(
        "--stop-when",
        metavar="WHEN",
        help="Take cases in random order, and stop once the result is certain: 'decided', with"
        " --against, or a condition such as 'rate >= 0.8'.",
    ),
    click.option("--against", metavar="RUN", help="The run that --stop-when compares with."),
    click.option(
        "--margin",
        type=float,
        metavar="POINTS",
        help="A negligible difference, in points of 100, for --stop-when decided.",
    ),
]


def stop_settings(options: dict[str, Any]) -> StopSettings | None:
    """Take out of a command's options when a run may stop."""
    when, against = options.pop("stop_when", None), options.pop("against", None)
    margin = options.pop("margin", None)
    if when is None:
        if against or margin is not None:
            raise click.UsageError("--against and --margin go with --stop-when decided")
        return None
    return StopSettings(
        when=when.strip(), against=against or "", margin=None if margin is None else margin / 100
    )
