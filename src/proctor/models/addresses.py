"""Where a model is asked: base URLs as people write them, brought into one form."""

from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from proctor.core.names import without_user_info
from proctor.errors import UsageError
from proctor.io.loopback import is_loopback_host
from proctor.io.redaction import SECRETS


def base_of(url: str, endings: Sequence[str]) -> str:
    """Return the base URL that an address means.

    A bare host gets ``/v1``; an address that ends in one of the endings (the path of a call) names
    its base exactly; any other path is kept as it is.
    """
    text = url.strip()
    parts = _parts(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"{without_user_info(text)!r} is no base URL (fix: write it like"
            " http://127.0.0.1:8000/v1)"
        )
    if "@" in parts.netloc:
        raise UsageError(
            f"the base URL of {parts.hostname} contains a user name or a password"
            " (fix: put the key into an environment variable)"
        )
    if parts.query or parts.fragment:
        raise UsageError(f"the base URL of {parts.hostname} must not contain '?' or '#'")
    path = parts.path.rstrip("/")
    called = next((ending for ending in endings if path.endswith(ending)), None)
    if called is not None:
        path = path.removesuffix(called).rstrip("/")
    elif not path:
        path = "/v1"
    return f"{parts.scheme}://{parts.netloc.lower()}{path}"


def is_loopback(url: str) -> bool:
    """Tell whether an address never leaves this machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    return host.endswith(".localhost") or is_loopback_host(host)


def is_private(url: str) -> bool:
    """Tell whether nobody on the way can read what is sent to an address."""
    return url.startswith("https://") or is_loopback(url)


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment prescribes for an address."""
    from urllib.request import getproxies, proxy_bypass

    if is_loopback(url):
        return None
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    proxy = getproxies().get(parts.scheme)
    if proxy is not None:
        SECRETS.add(urlsplit(proxy).password or "")
    return proxy


def _parts(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        shown = without_user_info(text)
        why = "" if shown != text else f": {error}"
        raise UsageError(f"{shown!r} is no base URL{why}") from None
    return parts
