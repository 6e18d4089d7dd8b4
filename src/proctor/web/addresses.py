"""Addresses of pages: built, parsed, and their query parameters validated, never guessed."""

from collections.abc import Iterable
from hashlib import sha256
from urllib.parse import quote, urlencode

from starlette.requests import Request

from proctor.errors import UsageError

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


def row_id(case_id: str) -> str:
    """Return the id of a case's row in a list, which any text may be the name of."""
    return f"row-{sha256(case_id.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


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


def whole_number(request: Request, name: str, default: int) -> int:
    """Return an integer query parameter."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    try:
        number = int(text)
    except ValueError:
        number = 1 << 63
    if abs(number) >= 1 << 31:
        raise UsageError(f"{name} must be a whole number")
    return number


def one_of(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """Return a query parameter that must be one of some choices; the first is the default."""
    choice = request.query_params.get(name) or choices[0]
    if choice not in choices:
        raise UsageError(f"{name} must be one of: {', '.join(filter(None, choices))}")
    return choice
