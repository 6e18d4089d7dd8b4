"""Rendered or raw texts: by the address, else as remembered."""

import pytest
from starlette.requests import Request

from proctor.web.reading import raw_wanted


@pytest.mark.parametrize(
    ("query", "cookie", "raw"),
    [("", "", False), ("text=raw", "", True), ("", "raw", True), ("text=rendered", "raw", False),
     ("text=odd", "raw", True), ("", "odd", False)],
)  # fmt: skip
def test_how_texts_are_wanted(query: str, cookie: str, raw: bool) -> None:
    headers = [(b"cookie", f"proctor_text={cookie}".encode())] if cookie else []
    scope = {"type": "http", "path": "/", "query_string": query.encode(), "headers": headers}
    assert raw_wanted(Request(scope)) == raw
