"""Nothing but loopback while offline, and everything again afterwards."""

import socket
from collections.abc import Callable
from typing import Any

import pytest

from proctor.engine.models.network_guard import offline
from proctor.errors import ModelError

FAR, FAR6 = "192.0.2.1", "2001:db8::1"  # addresses that nobody has
Reach = Callable[[str], Any]


def connect(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as made:
        made.connect((host, 9))


def connect_ex(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.connect_ex((host, 9))


def stream(host: str) -> None:
    with socket.create_connection((host, 9), timeout=0.01):
        pass


def sendto(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", (host, 9))


def sendmsg(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendmsg([b"x"], [], 0, (host, 9))


def look_up(host: str) -> None:
    socket.getaddrinfo(host, 80)


def look_up_bytes(host: str) -> None:
    socket.getaddrinfo(host.encode(), 80)


def look_up_by_name(host: str) -> None:
    socket.gethostbyname(host)


def look_up_by_address(host: str) -> None:
    socket.gethostbyaddr(host)


def look_up_sockaddr(host: str) -> None:
    socket.getnameinfo((host, 9), 0)


REFUSED: list[tuple[Reach, str]] = [
    (connect, FAR),
    (connect, FAR6),
    (connect, "0.0.0.0"),
    (connect_ex, FAR),
    (stream, FAR),
    (stream, "example.com"),
    (sendto, FAR),
    (sendmsg, FAR),
    (look_up, "example.com"),
    (look_up, FAR),
    (look_up, "localhost.example.com"),
    (look_up_bytes, "example.com"),
    (look_up_by_name, "example.com"),
    (look_up_by_address, FAR),
    (look_up_sockaddr, FAR),
]


@pytest.mark.parametrize(("reach", "host"), REFUSED, ids=lambda v: getattr(v, "__name__", v))
def test_other_machines_are_out_of_reach(reach: Reach, host: str) -> None:
    with offline(), pytest.raises(ModelError, match="--offline: ") as caught:
        reach(host)
    assert host in str(caught.value)
    assert caught.value.exit_code == 2


def test_this_machine_is_in_reach() -> None:
    with offline(), socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            with socket.create_connection((host, port), timeout=60) as made:
                assert made.getpeername()[1] == port
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            assert made.sendto(b"x", ("127.0.0.1", port)) == 1
        one, other = socket.socketpair()
        with one, other:
            one.send(b"x")
            assert other.recv(1) == b"x"
        assert socket.getaddrinfo(None, 80)


def test_the_outermost_block_decides() -> None:
    with offline(enabled=False):
        look_up(FAR)
    with offline():
        with offline(), pytest.raises(ModelError):
            look_up(FAR)
        with offline(enabled=False), pytest.raises(ModelError):
            look_up(FAR)
        with pytest.raises(ModelError):
            look_up(FAR)
    look_up(FAR)


def test_it_is_off_again_after_an_error() -> None:
    def fail() -> None:
        with offline():
            raise KeyError("something else")

    with pytest.raises(KeyError):
        fail()
    look_up(FAR)
