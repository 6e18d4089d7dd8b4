"""Access rules: which requests are accepted, and what a browser may do with responses."""

import hmac
from collections.abc import Collection, Mapping
from functools import cache
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.web.static_files import script_sources, style_sources

COOKIE = "proctor_token"
_READING = ("GET", "HEAD")
LARGEST_HEAD = 32 * 1024
MOST_HEADERS = 100
LONGEST_ADDRESS = 16 * 1024


@cache
def response_headers() -> Mapping[str, str]:
    """Return the headers that every response has."""
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src {style_sources()};"
        f" script-src {script_sources()}; connect-src 'self'; img-src 'self' data:;"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        # A policy of no-referrer would make browsers send forms with `Origin: null`.
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


class Guard:
    """Middleware that accepts only requests for this server, from its own pages, with its token.

    It wraps everything else, so that every response has its headers: error pages too, and the
    last resort when an error page itself fails.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], token: str | None) -> None:
        self._app = app
        self._hosts = {host.strip("[]").lower() for host in hosts}
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on."""
        if scope["type"] != "http":
            # There are no web sockets; lifespan messages pass through.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in response_headers().items():
                    headers[name] = value
                if not scope["path"].startswith("/static/"):
                    headers["Cache-Control"] = "no-store"
                else:
                    headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        refused = _oversized(scope) or self._refused(scope)
        if refused is not None:
            await refused(scope, receive, guarded)
            return
        try:
            await self._app(scope, receive, guarded)
        except Exception:
            if not begun:
                await PlainTextResponse("internal error\n", 500)(scope, receive, guarded)
            raise

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return PlainTextResponse("this server does not accept that Host header\n", 421)
        if not _same_origin(headers, host, scope["method"]):
            return PlainTextResponse("only this server's own pages may send that\n", 403)
        return self._without_token(scope) if self._token else None

    def _without_token(self, scope: Scope) -> Response | None:
        assert self._token is not None
        request = Request(scope)
        pass_ = _pass(self._token)
        kind, _, presented = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _same(presented.strip(), self._token):
            return None
        if _same(request.cookies.get(COOKIE, ""), pass_):
            return None
        if scope["method"] in _READING and _same(
            request.query_params.get("token", ""), self._token
        ):
            answer = RedirectResponse(_without(request), 303)
            answer.set_cookie(COOKIE, pass_, httponly=True, samesite="strict")
            return answer
        words = "open the address that `proctor view` printed: it contains the token\n"
        return PlainTextResponse(words, 401, {"WWW-Authenticate": "Bearer"})


def _oversized(scope: Scope) -> Response | None:
    """Reject heads that are longer than any browser's."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
        return PlainTextResponse("the address is too long\n", 414)
    size = sum(len(name) + len(value) for name, value in scope["headers"])
    if size > LARGEST_HEAD or len(scope["headers"]) > MOST_HEADERS:
        return PlainTextResponse("the head of the request is too long\n", 431)
    return None


def _name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _same_origin(headers: Headers, host: str, method: str) -> bool:
    """Tell whether a request comes from a page of this server, or from no page."""
    origin = headers.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        return False
    site = headers.get("sec-fetch-site", "none")
    return method in _READING or site in ("same-origin", "none")


def _same(presented: str, expected: str) -> bool:
    return hmac.compare_digest(presented.encode("utf-8", "replace"), expected.encode())


def _pass(token: str) -> str:
    """Return the cookie's value: a proof of the token, not the token itself."""
    return sha256(f"proctor view {token}".encode()).hexdigest()


def _without(request: Request) -> str:
    """Return the address of a request without the token, always a path on this server."""
    pairs = [pair for pair in parse_qsl(request.url.query) if pair[0] != "token"]
    path = "/" + request.url.path.lstrip("/\\")
    return f"{path}?{urlencode(pairs)}" if pairs else path
