"""Addresses of pages: how they are built, and how they are parsed."""

from collections.abc import Iterable
from urllib.parse import quote, urlencode

from starlette.requests import Request

TWIN = ".json"


def suite_link(key: str) -> str:
    """Return the address of a suite's page."""
    return f"/suites/{_part(key)}"


def run_link(run_id: str) -> str:
    """Return the address of a run's page."""
    return f"/runs/{_part(run_id)}"


def case_link(run_id: str, case_id: str) -> str:
    """Return the address of the page of a case in a run."""
    if case_id in (".", ".."):  # browsers resolve these as path segments, even quoted
        return with_query(f"{run_link(run_id)}/case", [("id", case_id)])
    return f"{run_link(run_id)}/cases/{_part(case_id)}"


def with_query(path: str, pairs: Iterable[tuple[str, object]]) -> str:
    """Return a path with a query of the pairs that have a value."""
    filled = [(name, str(value)) for name, value in pairs if value not in (None, "")]
    return f"{path}?{urlencode(filled, errors='replace')}" if filled else path


def twin_of(request: Request) -> str:
    """Return the address of the current page as JSON, with the same query."""
    path = raw_path(request)
    pairs = [pair for pair in request.query_params.multi_items() if pair[0] not in ("lang",)]
    return with_query("/home.json" if path == "/" else path + TWIN, pairs)


def wants_json(request: Request) -> bool:
    """Tell whether a request is for the JSON of a page."""
    return raw_path(request).endswith(TWIN)


def named(request: Request, name: str) -> str:
    """Return a path parameter without the ``.json`` ending."""
    text: str = request.path_params[name]
    return text.removesuffix(TWIN) if wants_json(request) else text


def raw_path(request: Request) -> str:
    """Return the requested path, still quoted: a quoted ``.json`` is part of a name."""
    raw: bytes = request.scope.get("raw_path") or quote(request.url.path).encode()
    return raw.decode("ascii", "replace").partition("?")[0]


def _part(text: str) -> str:
    quoted = quote(text, safe="", errors="replace")
    return f"{quoted.removesuffix(TWIN)}%2Ejson" if quoted.endswith(TWIN) else quoted
