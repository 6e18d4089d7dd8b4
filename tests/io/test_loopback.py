"""Which hosts are this machine."""

import pytest

from proctor.io.loopback import is_loopback_host


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("[::1]", True),
        ("localhost", True), ("LOCALHOST", True), ("", False), ("localhost.", True), ("a.localhost", False), ("fe80::1%lo", False),
        ("10.0.0.1", False), ("0.0.0.0", False), ("::", False), ("example.com", False),
        ("127.0.0.1.example.com", False), ("localhost.evil", False), ("2130706433", False),
    ],
)  # fmt: skip
def test_hosts_of_this_machine(host: str, here: bool) -> None:
    assert is_loopback_host(host) is here
