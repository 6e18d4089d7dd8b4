"""Light or dark: what a reader chose in this browser, else what the system says."""

from collections.abc import Iterator
from urllib.parse import urlencode

from starlette.requests import Request

from proctor.web import addresses

COOKIE = "proctor_theme"
"""The one cookie that the scripts of pages set, too: nothing loads again when somebody chooses."""
CHOICES = ("light", "dark", "system")


def asked_theme(request: Request) -> str:
    """Return the theme that an address asks for, or nothing."""
    chosen = request.query_params.get("theme", "")
    return chosen if chosen in CHOICES else ""


def theme_of(request: Request) -> str:
    """Return the theme that was chosen in this browser; the system's is the default."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in CHOICES else "system"


def address_without(request: Request) -> str:
    """Return the address of this page without a theme, always a path on this server."""
    path = "/" + addresses.raw_path(request).lstrip("/\\")
    return addresses.with_query(path, _others(request))


def theme_links(request: Request) -> list[tuple[str, str]]:
    """Return each choice with the address that makes it, for readers without scripts."""
    others = list(_others(request))
    return [
        (name, "?" + urlencode([*others, ("theme", name)], errors="replace")) for name in CHOICES
    ]


def _others(request: Request) -> Iterator[tuple[str, str]]:
    return (pair for pair in request.query_params.multi_items() if pair[0] != "theme")
