"""``proctor view``: the pages, served on this machine."""

import secrets
from typing import Any

import click

from proctor.cli.options import store_option


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=7461, show_default=True, help="0: any free."
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A name under which browsers reach this machine, besides --host.",
)
@click.option(
    "--token",
    envvar="PROCTOR_VIEW_TOKEN",
    help="What a browser must present first [default: none on this machine alone, else a new one].",
)
@store_option
def view(host: str, port: int, names: tuple[str, ...], token: str | None, store: str | None) -> int:
    """Show suites, runs and cases as pages in a browser, until it is stopped.

    Only this machine can reach them. With another --host a token is required: it is in the address
    that is printed, and a browser keeps it from then on.

    \b
    Example:
      proctor view
      proctor view --host 0.0.0.0 --name lab.example.org
    """
    from proctor.errors import MissingResource, UsageError

    try:
        import uvicorn

        from proctor.web.app import make_app
        from proctor.web.safety import LOOPBACK
    except ImportError as error:
        raise MissingResource(
            f"the pages need {error.name} (fix: pip install 'proctor[web]')"
        ) from None

    private = host in LOOPBACK
    if token is not None and len(token) < 16:
        raise UsageError("the token must have at least 16 characters")
    token = token or (None if private else secrets.token_urlsafe(24))
    app = make_app(store, token=token, hosts=(*LOOPBACK, host, *names))
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with _listening(host, port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        if not private:
            click.echo("others can reach this address; whoever has the token can read the store")
        query = f"?token={token}" if token else ""
        click.echo(f"http://{shown}:{port}/{query}")
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def _listening(host: str, port: int) -> Any:
    """Open the socket first, so that the address printed is one that answers."""
    import socket

    from proctor.errors import UsageError

    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error} (fix: --port 0 takes any)"
        ) from None
