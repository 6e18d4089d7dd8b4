"""Pictures that a page carries itself, in an ``img``: no script of theirs runs, none is fetched."""

import re
from base64 import b64encode

LARGEST = 1_000_000
"""Larger pictures are only linked, in bytes."""
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
}
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?<svg[\s>]")
_EMBEDDED = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+\Z")


def kind_of(content: bytes) -> str:
    """Return the kind of a picture by its first bytes; empty where it is none that pages show."""
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    return "svg+xml" if _SVG.match(content[:1000]) else ""


def embedded(content: bytes) -> str:
    """Return a picture as an address that carries it; empty where it is none, or large."""
    kind = kind_of(content) if len(content) <= LARGEST else ""
    return f"data:image/{kind};base64,{b64encode(content).decode()}" if kind else ""


def is_embedded(address: str) -> bool:
    """Tell whether an address carries a picture that may be shown."""
    return len(address) <= 2 * LARGEST and _EMBEDDED.match(address) is not None
