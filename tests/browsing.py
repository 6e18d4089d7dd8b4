"""A browser for tests: one way to serve pages, open them, and wait, on quick and slow machines.

``--slow-pages 300`` answers every request so many milliseconds late, and slows the browser's
scripts: a test that reads a page before it is there then fails every time, not once in a hundred.
"""

import asyncio
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from waiting import until

PATIENCE = 60_000
"""Milliseconds before a test gives up on a page; it goes on the moment that the page is there."""
THROTTLE = 5
"""How many times slower the browser computes with ``--slow-pages``."""


@dataclass
class Slowness:
    """Hold how many milliseconds late every response is."""

    delay: int = 0


SLOWNESS = Slowness()


class Delayed:
    """An application of which every response is late."""

    def __init__(self, app: Any, seconds: float) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, after a while."""
        if scope["type"] == "http":
            await asyncio.sleep(self.seconds)
        await self.app(scope, receive, send)


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application on loopback, and give its address."""
    import uvicorn

    from proctor.web.connections import server_config

    server = uvicorn.Server(server_config(Delayed(app, SLOWNESS.delay / 1000)))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def chromium() -> Iterator[Any]:
    """Open the chromium of this machine."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"], timeout=3 * PATIENCE
        )
        yield browser
        browser.close()


@contextmanager
def new_page(browser: Any, **options: Any) -> Iterator[Any]:
    """Open a page in a context of its own, with options of that context."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    if SLOWNESS.delay:
        session = context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": THROTTLE})
    yield page
    context.close()
