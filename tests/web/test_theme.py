"""Light or dark: an address that asks for a theme leads back to itself, on this server, without it."""

import pytest
from starlette.requests import Request

from proctor.web.theme import COOKIE, address_without, asked_theme, theme_links, theme_of


def request(query: str = "", *, path: str = "/runs/new", cookie: str = "") -> Request:
    return Request(
        {
            "type": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(b"cookie", f"{COOKIE}={cookie}".encode())] if cookie else [],
        }
    )


@pytest.mark.parametrize(
    ("query", "theme"),
    [("theme=dark", "dark"), ("theme=system", "system"), ("theme=Dark", ""), ("theme=x", ""), ("", "")],
)  # fmt: skip
def test_an_address_asks_for_one_of_three_themes(query: str, theme: str) -> None:
    assert asked_theme(request(query)) == theme


@pytest.mark.parametrize(
    ("cookie", "theme"), [("", "system"), ("light", "light"), ("dark", "dark"), ("<b>", "system")]
)
def test_the_browser_keeps_what_was_chosen(cookie: str, theme: str) -> None:
    assert theme_of(request(cookie=cookie)) == theme


@pytest.mark.parametrize(
    ("path", "query", "address"),
    [
        ("/runs/new", "status=failed&theme=dark&q=a%26b", "/runs/new?status=failed&q=a%26b"),
        ("/runs/a%2Fb", "theme=dark", "/runs/a%2Fb"),
        ("//elsewhere.example/x", "theme=dark", "/elsewhere.example/x"),
        ("/\\elsewhere.example", "theme=dark", "/elsewhere.example"),
    ],
)
def test_the_way_back_is_on_this_server(path: str, query: str, address: str) -> None:
    assert address_without(request(query, path=path)) == address


def test_every_choice_is_a_link_that_keeps_the_rest() -> None:
    assert theme_links(request("q=a b&theme=dark&where=rate<0.5")) == [
        (name, f"?q=a+b&where=rate%3C0.5&theme={name}") for name in ("light", "dark", "system")
    ]
