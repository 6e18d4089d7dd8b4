"""``proctor serve``: score outputs by HTTP."""

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import (
    GroupedHelp,
    json_option,
    panel_options,
    panel_settings,
    sandbox_spec,
    store_option,
    suite_options,
    suite_settings,
)
from proctor.cli.serving import Serving

if TYPE_CHECKING:
    from proctor.engine.grading.open_grading import GradingSettings
    from proctor.engine.grading.output_grading import SlowOutput
    from proctor.web.score_server import ScoreServer, ServerLimits

PORT = 7463
TOKEN = "PROCTOR_SERVE_TOKEN"  # noqa: S105 - the name of a variable  # nosec B105


def _panel(command: Any) -> Any:
    for option in reversed(panel_options):
        command = option(command)
    return command


@click.command(cls=GroupedHelp)
@suite_options
@_panel
@click.option(
    "--deadline",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds for one output, without the time in line; then it has no score.",
)
@click.option(
    "--slow",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    help="Report outputs that take this many seconds.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=64,
    show_default=True,
    help="Maximum concurrent calls of judges.",
)
@click.option("--max-cost", type=float, metavar="USD", help="Spend no more than this on judges.")
@click.option(
    "--sandbox",
    default="bubblewrap",
    show_default=True,
    metavar="TIER",
    help="Where programs run: bubblewrap, docker[:IMAGE], or process, which isolates nothing.",
)
@click.option(
    "--cache",
    is_flag=True,
    help="Keep scores in the store, and take from it those that are there.",
)
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port; 0 means any free one.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="Another host name that clients use for this machine. Repeatable.",
)
@click.option(
    "--token-env",
    default=TOKEN,
    show_default=True,
    metavar="NAME",
    help="The environment variable with the token that clients must send.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1),
    default=64,
    show_default=True,
    metavar="MIB",
    help="Size of a request, in MiB.",
)
@click.option(
    "--max-outputs",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Outputs in a request.",
)
@click.option(
    "--queue",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Outputs that may wait; further requests are answered 429 with Retry-After.",
)
@json_option
def serve(**options: Any) -> int:
    """Score outputs by the suite SPEC, sent to POST /score, until Ctrl-C.

    A request has one output, {"case": ID, "output": TEXT}, or many, {"outputs": [...]}: of many,
    each result is a line of JSON, sent when it is there. An output that could not be scored has
    the value null, and "why" says the reason. GET /openapi.json describes it all.

    Only this machine can connect. With another --host clients must send a token, as in
    "Authorization: Bearer TOKEN": that of $PROCTOR_SERVE_TOKEN, or a new one, which is printed.

    \b
    Example:
      proctor serve suite.yaml
      curl -H 'Content-Type: application/json' \\
        -d '{"case": "capital", "output": "Paris"}' http://127.0.0.1:7463/score
    """
    import asyncio

    as_json = options.pop("as_json")
    where, limits = _serving(options), _limits(options)
    try:
        return asyncio.run(_serve(_grading(options), where, limits, as_json=as_json))
    except asyncio.CancelledError:
        click.echo("stopped", err=True)
        return 130


def _serving(options: dict[str, Any]) -> Serving:
    import os

    from proctor.io.loopback import is_loopback_host

    variable, host = options.pop("token_env"), options.pop("host")
    token = os.environ.get(variable) or None
    if token is None and variable != TOKEN:
        raise click.UsageError(f"--token-env {variable}: there is no such variable, or it is empty")
    if token is None and not is_loopback_host(host):
        token = secrets.token_urlsafe(24)
        click.echo(f"other machines can reach this address; the token is {token}", err=True)
    return Serving(host=host, port=options.pop("port"), names=options.pop("names"), token=token)


def _limits(options: dict[str, Any]) -> "ServerLimits":
    from proctor.web.score_server import ServerLimits

    return ServerLimits(
        body=options.pop("max_body") * 2**20,
        outputs=options.pop("max_outputs"),
        queue=options.pop("queue"),
    )


def _grading(options: dict[str, Any]) -> "GradingSettings":
    from proctor.engine.grading.open_grading import GradingSettings
    from proctor.engine.grading.output_grading import GradingLimits
    from proctor.engine.run.settings import CallSettings, RunSettings

    limits = GradingLimits(deadline=options.pop("deadline"), slow=options.pop("slow"))
    store, cache = options.pop("store"), options.pop("cache")
    calls = CallSettings(concurrency=options.pop("concurrency"), max_cost=options.pop("max_cost"))
    run = RunSettings(
        panel=panel_settings(options),
        calls=calls,
        sandbox=sandbox_spec(options.pop("sandbox")),
        suite=suite_settings(options),
    )
    return GradingSettings(run=run, limits=limits, cache=(store or "") if cache else None)


async def _serve(
    settings: "GradingSettings", where: Serving, limits: "ServerLimits", *, as_json: bool
) -> int:
    import asyncio

    from proctor.cli.output import say, say_problems
    from proctor.cli.serving import listening
    from proctor.engine.grading.open_grading import open_grading
    from proctor.engine.run import read_suite
    from proctor.io.loopback import LOOPBACK
    from proctor.web.score_server import ScoreServer

    stopped = _Stop(asyncio.get_running_loop())
    reading = read_suite.read(settings.run.suite)
    with listening(where.host, where.port) as listener:
        async with open_grading(settings, reading, say, _say_slow) as (grading, warnings):
            if not as_json:
                say_problems(warnings, most=3)
            server = ScoreServer(
                grading=grading,
                suite=reading.suite.name,
                limits=limits,
                hosts=(*LOOPBACK, where.host, *where.names),
                token=where.token,
            )
            async with server.serving(listener):
                _say_ready(server, where.host, listener.getsockname()[1], as_json=as_json)
                await stopped.wait()
                _say_stopping(server)
            counts = grading.counts
    click.echo(f"{counts.graded:,} outputs, {counts.unscored:,} without a score", err=True)
    return 0


@dataclass
class _Stop:
    """The wish to stop: the first signal lets requests be completed, the second does not."""

    loop: Any

    def __post_init__(self) -> None:
        import asyncio
        import signal

        self._wished = asyncio.Event()
        self._task = asyncio.current_task()
        for number in (signal.SIGINT, signal.SIGTERM):
            self.loop.add_signal_handler(number, self._note)

    def _note(self) -> None:
        if self._wished.is_set() and self._task is not None:
            self._task.cancel()
        self._wished.set()

    async def wait(self) -> None:
        """Wait for the first signal."""
        await self._wished.wait()


def _say_ready(server: "ScoreServer", host: str, port: int, *, as_json: bool) -> None:
    import sys

    from proctor.io import json_bytes

    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}"
    cases = len(server.grading.cases)
    if as_json:
        ready = {"address": address, "suite": server.suite, "cases": cases}
        click.echo(json_bytes.dumps(ready))
        sys.stdout.flush()
        return
    click.echo(f"{address}/score")
    click.echo(f"scores outputs of {server.suite}, {cases:,} cases; Ctrl-C stops", err=True)


def _say_stopping(server: "ScoreServer") -> None:
    if server.grading.counts.pending:
        pending = server.grading.counts.pending
        click.echo(f"stopping: {pending} outputs are completed; Ctrl-C gives them up", err=True)


def _say_slow(slow: "SlowOutput") -> None:
    click.echo(f"slow: an output of case {slow.case_id!r} took {slow.seconds:.1f} s", err=True)
