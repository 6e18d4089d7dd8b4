"""``proctor proxy``: a local model URL that records an agent's model calls."""

import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option

if TYPE_CHECKING:
    from proctor.engine.models.proxy_call import ProxyCall

PORT = 7462


@click.command()
@click.option(
    "--model", metavar="M", required=True, help="Where calls go: openai:NAME[@URL], local:…"
)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Append every call to this file, one JSON object per line.",
)
@click.option(
    "--secret",
    envvar="PROCTOR_PROXY_SECRET",
    metavar="TEXT",
    help="The secret in the base URL [default: a new one each time]; better set in"
    " $PROCTOR_PROXY_SECRET.",
)
@json_option
def proxy(model: str, port: int, record: Path | None, secret: str | None, as_json: bool) -> int:
    """Listen on this machine, and forward an agent's model calls, until Ctrl-C.

    The agent needs no API key: the proxy has it. It needs the base URL that is printed, which
    contains a secret, so that no other program and no page in a browser can use the key. Only
    model calls are forwarded. `proctor run --agent … --proxy M` does the same by itself, and the
    calls become steps of the attempt.

    \b
    Example:
      proctor proxy --model openai:gpt-4o-mini --record calls.jsonl
      OPENAI_BASE_URL=http://127.0.0.1:7462/SECRET/v1 OPENAI_API_KEY=none python my_agent.py
    """
    from proctor.cli.output import print_json
    from proctor.io.concurrency import run_sync

    tally = _Tally(quiet=as_json)
    try:
        if record is not None:
            with record.open("a", encoding="utf-8") as tally.file:
                run_sync(_serve(model, port, secret or "", tally))
        else:
            run_sync(_serve(model, port, secret or "", tally))
    except KeyboardInterrupt:
        pass
    if as_json:
        print_json(tally.totals())
    else:
        click.echo(f"\n{tally.words()}", err=True)
    return 0


class _Tally:
    """Printed calls and their totals."""

    def __init__(self, *, quiet: bool) -> None:
        from proctor.core.exchange import Usage

        self.quiet = quiet
        self.file: IO[str] | None = None
        self.used = Usage()

    def take(self, call: "ProxyCall") -> None:
        """Record one call."""
        self.used += call.usage
        if self.file is not None:
            self.file.write(json.dumps(call.to_json(), ensure_ascii=False) + "\n")
            self.file.flush()
        if not self.quiet:
            usage = call.usage
            cost = "" if usage.cost is None else f", ${usage.cost:.6f}"
            click.echo(
                f"{call.status} {call.model} {usage.prompt_tokens}+{usage.completion_tokens} tokens"
                f"{cost}, {call.seconds:.2f} s",
                err=True,
            )

    def totals(self) -> dict[str, Any]:
        """Return the sums as JSON."""
        used = self.used
        return {
            "calls": used.calls,
            "prompt_tokens": used.prompt_tokens,
            "completion_tokens": used.completion_tokens,
            "cost": used.cost,
        }

    def words(self) -> str:
        """Return the sums as a sentence."""
        used = self.used
        cost = "" if used.cost is None else f", ${used.cost:.4f}"
        return f"{used.calls} calls, {used.prompt_tokens}+{used.completion_tokens} tokens{cost}"


async def _serve(model: str, port: int, secret: str, tally: _Tally) -> None:
    import asyncio

    from proctor.contracts.model import ModelChoice
    from proctor.engine.models.proxy import ModelProxy
    from proctor.engine.models.roles import build_model
    from proctor.engine.run.settings import CallSettings

    behind = build_model(ModelChoice(spec=model), CallSettings())
    try:
        await behind.check()
        async with ModelProxy(await behind.upstream(), on_call=tally.take).serving(port) as serving:
            base = serving.base(serving.open(secret))
            click.echo(f"forwarding to {behind.label} at {serving.address}; Ctrl-C stops", err=True)
            click.echo(f"  export OPENAI_BASE_URL={base} OPENAI_API_KEY=none", err=True)
            await asyncio.Event().wait()
    finally:
        await behind.close()
