"""The web application: every page, its guard, and what is said when something is wrong."""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from proctor import origin_tables
from proctor.errors import ProctorError, StoreError
from proctor.web.api import document
from proctor.web.api.response import Error, ErrorTold, Page
from proctor.web.pages import battle, case, compare, home, label, run, suite
from proctor.web.rendering import answer_with
from proctor.web.safety import LOOPBACK, Guard
from proctor.web.store_pool import StorePool

GUESTS = origin_tables.endpoints()
"""Modules of origins that answer requests below a prefix of their own."""
routes: list[Route] = [
    *home.routes,
    *suite.routes,
    *case.routes,
    *label.routes,
    *run.routes,
    *compare.routes,
    *battle.routes,
    *(route for guest in GUESTS for route in guest.routes),
    *document.routes,
]


def make_app(
    store_url: str | None, *, token: str | None = None, hosts: Collection[str] = LOOPBACK
) -> Starlette:
    """Make the application over a store that is there; hosts are the names it answers to."""
    shelf = StorePool(store_url)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        shelf.close()

    static = StaticFiles(directory=str(files("proctor.web").joinpath("static")))
    app = _Guarded(
        routes=[*routes, Mount("/static", static)],
        exception_handlers={HTTPException: _told, ProctorError: _wrong, Exception: _broken},
        lifespan=lifespan,
    )
    app.state.shelf = shelf
    app.guard = partial(Guard, hosts=hosts, token=token)
    return app


class _Guarded(Starlette):
    """An application whose guard also stands around its answers to errors."""

    guard: Callable[[ASGIApp], ASGIApp]

    def build_middleware_stack(self) -> ASGIApp:
        return self.guard(super().build_middleware_stack())


def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _error(request, error.status_code, error.detail)
    answer.headers.update(error.headers or {})
    return answer


def _wrong(request: Request, error: Exception) -> Response:
    return _error(request, 500 if isinstance(error, StoreError) else 400, str(error))


def _broken(request: Request, error: Exception) -> Response:
    return _error(request, 500, "this page is broken; what went wrong is in the server's log")


def _error(request: Request, status: int, message: str) -> Response:
    for guest in GUESTS:
        if request.url.path.startswith(guest.PREFIX):
            refused: Response = guest.refused(status, message)
            return refused
    data = Error(error=ErrorTold(status=status, message=message))
    return answer_with(request, Page(template="error", data=data, status=status))
