"""What may pass the proxy: from whom, to which paths, with which headers."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from proctor.io.redaction import is_secret_name, redact

_SEGMENT = r"(?!\.(?:[/:]|$))(?:[\w.@~-]|%(?!00)[0-9a-fA-F]{2})+"
_MODEL = rf"{_SEGMENT}(?:[/:]{_SEGMENT})*"
_LISTED = (
    ("POST", re.compile(r"chat/completions|completions|responses|embeddings", re.A)),
    ("POST", re.compile(r"messages(?:/count_tokens)?", re.A)),
    ("POST", re.compile(rf"models/{_MODEL}:(?:g|streamG)enerateContent", re.A)),
    ("GET", re.compile(rf"models(?:/{_MODEL})?", re.A)),
)
"""What agents ask models for; everything else (files, keys, fine-tuning) is nobody's business."""
_ONE_CONNECTION = {
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "content-length", "content-encoding", "accept-encoding", "expect", "host", "alt-svc",
}  # fmt: skip
_OF_ONE_SIDE = re.compile(
    r"sec-.*|access-control-.*|forwarded|x-forwarded-.*|x-real-ip|origin|referer|via|proxy-.*"
    r"|openai-organization|openai-project",
)
_HARMLESS = re.compile(r"idempotency-key|(?:x|anthropic)-ratelimit-.*")
"""Headers that only sound as if they carried a key."""


class ProxyRefusal(NamedTuple):
    """Why a request does not pass."""

    status: int
    message: str


def refusal_of(headers: Iterable[tuple[str, str]], port: int) -> ProxyRefusal | None:
    """Say why whoever sends these headers may not ask: only programs on this machine may.

    A browser adds ``Origin`` or ``Sec-Fetch-Site`` to what another site makes it send, and a name
    that was bent to this machine stands in ``Host``.
    """
    named = [(name.lower(), value) for name, value in headers]
    hosts = [value for name, value in named if name == "host"]
    if len(hosts) != 1 or not _is_here(hosts[0], port):
        return ProxyRefusal(403, "this is not the host of the proxy")
    sites = [value for name, value in named if name == "sec-fetch-site"]
    if any(name == "origin" for name, _ in named) or any(site != "none" for site in sites):
        return ProxyRefusal(403, "a page in a browser may not use this")
    return None


def refusal_to(method: str, path: str) -> ProxyRefusal | None:
    """Say why a path is not passed on."""
    methods = {listed for listed, pattern in _LISTED if pattern.fullmatch(path)}
    if not methods or ".." in unquote(path):
        return ProxyRefusal(
            404, "only calls of models are passed on: chat completions and the like"
        )
    if method not in methods:
        return ProxyRefusal(405, f"{path} takes {', '.join(sorted(methods))}")
    return None


def path_for(path: str, model: str) -> str:
    """Return the path with the model that is meant, where the path is what names it."""
    name, mark, call = path.rpartition(":")
    if not mark or not model or model == "none" or not name.startswith("models/"):
        return path
    return f"models/{model}:{call}"


def passed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that concern both sides: no connection's own, no cookies, no keys."""
    gathered = headers.getall("Connection", []) if hasattr(headers, "getall") else []
    own = {word.strip().lower() for text in gathered for word in text.split(",")}
    return {
        name: redact(value)
        for name, value in headers.items()
        if (low := name.lower()) not in _ONE_CONNECTION
        and low not in own
        and not _OF_ONE_SIDE.fullmatch(low)
        and (_HARMLESS.fullmatch(low) or not is_secret_name(low))
    }


def _is_here(host: str, port: int) -> bool:
    try:
        parts = urlsplit(f"//{host}")
        found = parts.port
    except ValueError:
        return False
    return parts.hostname in ("127.0.0.1", "localhost") and found == port and "@" not in host
