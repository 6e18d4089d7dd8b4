"""Which hosts are this machine."""

from ipaddress import ip_address

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The names by which this machine calls itself in addresses."""
_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost")


def is_loopback_host(host: str) -> bool:
    """Tell whether a name or an address, in brackets or not, never leaves this machine."""
    name = host.strip("[]").lower().rstrip(".")
    if name in _NAMES:
        return True
    try:
        return ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False
