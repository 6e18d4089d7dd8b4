"""Style sheets, scripts and the icon of the pages: read once, compressed once, kept by browsers.

An address names what the file holds (``/static/style.css?v=HASH``). A browser that has a file from
such an address never asks for it again, so that the second page waits for no style sheet, and a
later version of the product has other addresses.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PATH = "/static"
FOR_EVER = "private, max-age=31536000, immutable"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """What is sent of a file."""

    content: bytes
    compressed: bytes
    version: str
    media_type: str


@cache
def static_files() -> dict[str, StaticFile]:
    """Return the files by their names."""
    by_name = {}
    for file in files("proctor.web").joinpath("static").iterdir():
        media_type = _TYPES.get(file.name.rpartition(".")[2])
        if media_type is None or not file.is_file():
            continue
        content = file.read_bytes()
        by_name[file.name] = StaticFile(
            content=content,
            compressed=gzip.compress(content, mtime=0),
            version=sha256(content).hexdigest()[:12],
            media_type=media_type,
        )
    return by_name


def asset(name: str) -> str:
    """Return the address of a file, which changes when the file does."""
    return f"{PATH}/{name}?v={static_files()[name].version}"


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
        "Vary": "Accept-Encoding",
    }
    request_headers = Headers(scope=scope)
    if file.version in request_headers.get("if-none-match", ""):
        await Response(status_code=304, headers=headers)(scope, receive, send)
        return
    content = file.content
    if "gzip" in request_headers.get("accept-encoding", ""):
        content = file.compressed
        headers["Content-Encoding"] = "gzip"
    answer = Response(content, media_type=file.media_type, headers=headers)
    await answer(scope, receive, send)
