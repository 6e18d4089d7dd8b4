"""Names and passwords inside addresses: found, so that they are refused, and never shown."""

import re

_SHOWN = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]{1,20}://)[^\s'\"<>]*@", re.I)
_CREDENTIALS = re.compile(r"https?:[/\\]{2}[^\s?#]*@|https?:[/\\]{2}[^\s/]*@", re.I)


def holds_user_info(text: str) -> bool:
    """Tell whether a text has an http address with an ``@`` in it, before any query.

    A password may hold a slash or a question mark, so that a path with ``@`` cannot be told from
    one; there it is written ``%40``.
    """
    return _CREDENTIALS.search(text) is not None


def without_user_info(text: str) -> str:
    """Return a text in which no address shows a user's name or password."""
    return _SHOWN.sub(r"\g<scheme>…@", text)
