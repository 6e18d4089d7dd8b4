"""``proctor view``: serve the pages on this machine."""

import click

from proctor.cli.options import store_option
from proctor.cli.serving import Serving, serve, serving_options

PORT = 7461


@click.command()
@serving_options(PORT)
@store_option
def view(host: str, port: int, names: tuple[str, ...], token: str | None, store: str | None) -> int:
    """Show suites, runs and cases in a browser, until interrupted.

    Only this machine can connect. With another --host a token is required: it is part of the
    printed address, and the browser remembers it.

    \b
    Example:
      proctor view
      proctor view --host 0.0.0.0 --name lab.example.org
    """
    serve(store, Serving(host=host, port=port, names=names, token=token))
    return 0
