"""Serving the pages: the options of it, and the server itself."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Hold where pages are served, and to whom."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    token: str | None = None


def serving_options(port: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of a server, with the port that it usually has."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(_options(port)):
            command = option(command)
        return command

    return decorated


def _options(port: int) -> list[Callable[[Callable[..., Any]], Callable[..., Any]]]:
    return [
        click.option(
            "--host", default="127.0.0.1", show_default=True, help="The address to listen on."
        ),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=port,
            show_default=True,
            help="0: any free.",
        ),
        click.option(
            "--name",
            "names",
            multiple=True,
            metavar="HOST",
            help="A name under which browsers reach this machine, besides --host.",
        ),
        click.option(
            "--token",
            envvar="PROCTOR_VIEW_TOKEN",
            help="What a browser must present first [default: none on this machine alone, else a"
            " new one].",
        ),
    ]


def serve(store: str | None, where: Serving) -> None:
    """Serve the pages of a store until they are stopped; the address is printed."""
    import uvicorn

    from proctor.errors import UsageError
    from proctor.web.app import make_app
    from proctor.web.connections import server_config
    from proctor.web.safety import LOOPBACK

    host, token = where.host, where.token
    private = host in LOOPBACK
    if token is not None and len(token) < 16:
        raise UsageError("the token must have at least 16 characters")
    token = token or (None if private else secrets.token_urlsafe(24))
    app = make_app(store, token=token, hosts=(*LOOPBACK, host, *where.names))
    with _listening(host, where.port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        if not private:
            click.echo("others can reach this address; whoever has the token can read the store")
        query = f"?token={token}" if token else ""
        click.echo(f"http://{shown}:{port}/{query}")
        uvicorn.Server(server_config(app)).run(sockets=[listener])


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
