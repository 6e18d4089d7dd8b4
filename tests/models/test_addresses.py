"""Base URLs as people write them."""

import pytest

from proctor.errors import UsageError
from proctor.models.endpoints import base_of, is_loopback, is_private, proxy_of

CHAT = ("/chat/completions",)


@pytest.mark.parametrize(
    ("written", "base"),
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h:8000/v1", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("http://h:8000/v1/chat/completions", "http://h:8000/v1"),
        ("http://h:8000/v1/chat/completions/", "http://h:8000/v1"),
        ("http://h/cand/v1", "http://h/cand/v1"),
        ("http://h/judge/v1/chat/completions", "http://h/judge/v1"),
        ("http://h/chat/completions", "http://h"),
        ("https://H.Example/api/openai", "https://h.example/api/openai"),
        (" http://[::1]:80/v1 ", "http://[::1]:80/v1"),
    ],
)
def test_normalised(written: str, base: str) -> None:
    assert base_of(written, CHAT) == base


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("127.0.0.1:8000/v1", "no base URL"),
        ("ftp://h/v1", "no base URL"),
        ("http://", "no base URL"),
        ("http://h:port/v1", "no base URL"),
        ("http://a..example/v1", "no host that can be looked up"),
        (f"http://{'a' * 64}.example/v1", "no host that can be looked up"),
        ("http://ü..example/v1", "no host that can be looked up"),
        ("http://a b/v1", "no host that can be looked up"),
        ("http://a\0b/v1", "no host that can be looked up"),
        ("http://me:secret@h/v1", "password"),
        ("http://h/v1?key=secret", "'?'"),
    ],
)
def test_refused_without_showing_secrets(written: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        base_of(written, CHAT)
    assert told in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "loopback", "private"),
    [
        ("http://127.0.0.1:1/v1", True, True),
        ("http://127.9.9.9/v1", True, True),
        ("http://localhost/v1", True, True),
        ("http://[::1]:1/v1", True, True),
        ("http://0.0.0.0/v1", False, False),
        ("http://localhost.example/v1", False, False),
        ("http://127.0.0.1.example/v1", False, False),
        ("https://h/v1", False, True),
        ("http://10.0.0.1/v1", False, False),
    ],
)
def test_who_may_listen(url: str, loopback: bool, private: bool) -> None:
    assert (is_loopback(url), is_private(url)) == (loopback, private)


def test_proxies_of_the_environment_but_never_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "near.example")
    assert proxy_of("http://far.example/v1") == "http://proxy:3128"
    assert proxy_of("http://near.example/v1") is None
    assert proxy_of("http://127.0.0.1:1/v1") is None
