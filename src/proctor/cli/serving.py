"""The web server: its options, and serving."""

import gc
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Settings of the web server."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    token: str | None = None


def serving_options(port: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the server's options to a command, with its default port."""

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
            help="Port; 0 means any free one.",
        ),
        click.option(
            "--name",
            "names",
            multiple=True,
            metavar="HOST",
            help="Another host name that browsers use for this machine. Repeatable.",
        ),
        click.option(
            "--token",
            envvar="PROCTOR_VIEW_TOKEN",
            help="Access token [default: none if only this machine can connect, else a new one].",
        ),
    ]


def serve(store: str | None, where: Serving) -> None:
    """Serve the pages of a store until interrupted; print the address."""
    import uvicorn

    from proctor.errors import UsageError
    from proctor.io.concurrency import meanwhile
    from proctor.io.loopback import LOOPBACK
    from proctor.io.process_memory import return_freed_memory, without_pandas
    from proctor.web.app import make_app
    from proctor.web.connections import server_config
    from proctor.web.rendering import load_pages

    host, token = where.host, where.token
    private = host in LOOPBACK
    if token is not None and len(token) < 16:
        raise UsageError("the token must have at least 16 characters")
    token = token or (None if private else secrets.token_urlsafe(24))
    return_freed_memory()
    app = make_app(store, token=token, hosts=(*LOOPBACK, host, *where.names))
    with listening(host, where.port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        if not private:
            click.echo(
                "other machines can reach this address; anyone with the token can read the store"
            )
        query = f"?token={token}" if token else ""
        click.echo(f"http://{shown}:{port}/{query}")
        # Looking through modules and models for cycles makes one page in some wait 100 ms.
        gc.collect()
        gc.freeze()
        parts = app.state.store_pool.load_for_parts
        with without_pandas(), meanwhile(load_pages), meanwhile(parts):
            uvicorn.Server(server_config(app)).run(sockets=[listener])


def listening(host: str, port: int) -> Any:
    """Open the socket first, so that the printed address works."""
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
