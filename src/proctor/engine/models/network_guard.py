"""No network but loopback: a guard over every socket of this process."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from proctor.errors import ModelError
from proctor.io.loopback import is_loopback_host

_NO_INDEX = "PIP_NO_INDEX"
"""The variable that keeps pip, which downloads weights of local models, offline."""
_LOOKUPS = (
    "socket.getaddrinfo",
    "socket.gethostbyaddr",
    "socket.gethostbyname",
    "socket.getnameinfo",
)


@dataclass
class _Guard:
    """Guard of the network, active while it is in use; an audit hook cannot be removed."""

    active: int = 0
    installed: bool = False

    def watch(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.active or not event.startswith("socket."):
            return
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            address = args[1]
            if isinstance(address, tuple) and address and not _is_here(str(address[0])):
                raise ModelError(f"--offline: nothing may be sent to {address[0]}")
        elif event in _LOOKUPS:
            host = args[0][0] if isinstance(args[0], tuple) else args[0]
            name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
            if name is not None and not _is_here(str(name)):
                raise ModelError(f"--offline: {name} may not be looked up")


_GUARD = _Guard()


@contextmanager
def offline(enabled: bool = True) -> Iterator[None]:
    """Block connections of this process to other machines within the block."""
    if not enabled:
        yield
        return
    if not _GUARD.installed:
        sys.addaudithook(_GUARD.watch)
        _GUARD.installed = True
    _GUARD.active += 1
    before = os.environ.get(_NO_INDEX)
    os.environ[_NO_INDEX] = "1"
    try:
        yield
    finally:
        _GUARD.active -= 1
        if before is None:
            del os.environ[_NO_INDEX]
        else:
            os.environ[_NO_INDEX] = before


def _is_here(host: str) -> bool:
    """Tell whether a host is this machine; an empty one means all of its addresses."""
    return host in ("", "[]") or is_loopback_host(host)
