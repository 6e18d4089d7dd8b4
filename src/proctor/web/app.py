"""The web application: its routes, its guard and its error pages."""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from proctor import origin_tables
from proctor.errors import ProctorError, StoreError
from proctor.io.loopback import LOOPBACK
from proctor.web.api import document
from proctor.web.api.response import Error, ErrorTold, Page
from proctor.web.pages import (
    audit,
    battle,
    case,
    case_text,
    compare,
    grid,
    history,
    home,
    items,
    label,
    label_file,
    run,
    share_file,
    suite,
)
from proctor.web.rendering import answer_with
from proctor.web.safety import Guard
from proctor.web.static_files import PATH, send_static_file
from proctor.web.store_pool import StorePool

GUESTS = origin_tables.endpoints()
"""Modules of origins that serve endpoints below their own prefix."""
COMPRESSED_FROM = 1024
"""Responses of fewer bytes are sent as they are."""
COMPRESSION = 5
"""How hard gzip tries: beyond this, a page takes longer to compress than to send."""
routes: list[Route] = [
    *home.routes,
    *suite.routes,
    *case.routes,
    *case_text.routes,
    *label.routes,
    *label_file.routes,
    *audit.routes,
    *run.routes,
    *compare.routes,
    *battle.routes,
    *grid.routes,
    *history.routes,
    *items.routes,
    *share_file.routes,
    *(route for guest in GUESTS for route in guest.routes),
    *document.routes,
]


def make_app(
    store_url: str | None, *, token: str | None = None, hosts: Collection[str] = LOOPBACK
) -> Starlette:
    """Make the application over an existing store; ``hosts`` are the accepted Host names."""
    store_pool = StorePool(store_url)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        store_pool.close()

    app = _Guarded(
        routes=[*routes, Mount(PATH, send_static_file)],
        exception_handlers={
            HTTPException: _http_error,
            ProctorError: _proctor_error,
            Exception: _unexpected_error,
        },
        lifespan=lifespan,
    )
    app.state.store_pool = store_pool
    app.guard = partial(Guard, hosts=hosts, token=token)
    return app


class _Guarded(Starlette):
    """An application whose guard also wraps its error responses."""

    guard: Callable[[ASGIApp], ASGIApp]

    def build_middleware_stack(self) -> ASGIApp:
        return self.guard(
            GZipMiddleware(super().build_middleware_stack(), COMPRESSED_FROM, COMPRESSION)
        )


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _error(request, error.status_code, error.detail)
    answer.headers.update(error.headers or {})
    return answer


def _proctor_error(request: Request, error: Exception) -> Response:
    return _error(request, 500 if isinstance(error, StoreError) else 400, str(error))


def _unexpected_error(request: Request, error: Exception) -> Response:
    return _error(request, 500, "internal error; the details are in the server's log")


def _error(request: Request, status: int, message: str) -> Response:
    """Answer with an error page; where the store lies is not for everybody who can see pages."""
    place = request.app.state.store_pool.place
    message = message.replace(f"the store at {place}", "this store").replace(place, "this store")
    for guest in GUESTS:
        if request.url.path.startswith(guest.PREFIX):
            refused: Response = guest.refused(status, message)
            return refused
    data = Error(error=ErrorTold(status=status, message=message))
    return answer_with(request, Page(template="error", data=data, status=status))
