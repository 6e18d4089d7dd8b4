"""Style sheets, scripts and the icon of the pages.

Style sheets and scripts are a part of each page. A browser paints nothing before it has the style
sheets, and each file that it asks for delays the first page by some 10 ms; compressed, they add
6 to 9 kB to a page. The Content-Security-Policy allows them by their hashes, and nothing else.

The icon is sent once: its address has the hash of its content (``/static/icon.svg?v=HASH``), so
that a browser never asks for it again.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PATH = "/static"
FOR_EVER = "private, max-age=31536000, immutable"
_SENT = {"svg": "image/svg+xml"}
"""The types of the files that have an address, by the ends of their names."""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that has an address."""

    content: bytes
    version: str
    media_type: str


@cache
def static_files() -> dict[str, StaticFile]:
    """Return the files that have addresses, by their names."""
    by_name = {}
    for name, content in _contents().items():
        media_type = _SENT.get(name.rpartition(".")[2])
        if media_type is not None:
            version = sha256(content).hexdigest()[:12]
            by_name[name] = StaticFile(content, version, media_type)
    return by_name


def static_names() -> list[str]:
    """List the style sheets, scripts and pictures of the pages."""
    return sorted(_contents())


def asset(name: str) -> str:
    """Return the address of a file, which changes when the file does."""
    return f"{PATH}/{name}?v={static_files()[name].version}"


@cache
def style_sheet(name: str) -> Markup:
    """Return a style sheet as an element, for the head of a page."""
    return Markup(f"<style>{_style(name)}</style>")  # noqa: S704  # nosec B704 - our own file


@cache
def script(name: str) -> Markup:
    """Return a script as an element that runs once the page is read."""
    return Markup(f'<script type="module">{_script(name)}</script>')  # noqa: S704  # nosec B704 - our own file


@cache
def style_sources() -> str:
    """Return all style sheets by their hashes, as sources of a Content-Security-Policy."""
    return _sources(_style(name) for name in static_names() if name.endswith(".css"))


@cache
def script_sources() -> str:
    """Return all scripts by their hashes, as sources of a Content-Security-Policy."""
    return _sources(_script(name) for name in static_names() if name.endswith(".js"))


def hash_source(text: str) -> str:
    """Return the source of a Content-Security-Policy that allows one text by its hash."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


async def send_static_file(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for a file."""
    if scope["method"] not in ("GET", "HEAD"):
        raise HTTPException(405)
    name = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix("/")
    file = static_files().get(name)
    if file is None:
        raise HTTPException(404)
    version = parse_qs(scope["query_string"].decode("ascii", "replace")).get("v")
    headers = {
        "Cache-Control": FOR_EVER if version == [file.version] else "no-cache",
        "ETag": f'"{file.version}"',
    }
    if file.version in Headers(scope=scope).get("if-none-match", ""):
        await Response(status_code=304, headers=headers)(scope, receive, send)
        return
    answer = Response(file.content, media_type=file.media_type, headers=headers)
    await answer(scope, receive, send)


@cache
def _contents() -> dict[str, bytes]:
    folder = files("proctor.web").joinpath("static")
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def _script(name: str) -> str:
    return _contents()[name].decode().strip()


def _style(name: str) -> str:
    """Return a style sheet without its comments and indentation."""
    text = re.sub(r"/\*.*?\*/", "", _contents()[name].decode(), flags=re.DOTALL)
    return re.sub(r"\n\s*", "\n", text).strip()


def _sources(texts: Iterable[str]) -> str:
    return " ".join(map(hash_source, texts))
