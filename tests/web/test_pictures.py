"""Pictures on pages: known by their first bytes, carried by the page, never a program."""

from base64 import b64decode

import pytest

from proctor.web.pictures import LARGEST, embedded, is_embedded, kind_of

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "png"),
        (b"\xff\xd8\xff\xe0rest", "jpeg"),
        (b"GIF89a\x01\x00", "gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "webp"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "svg+xml"),
        (b'<?xml version="1.0"?>\n<svg>', "svg+xml"),
        (b"<html><svg>", ""),
        (b"month,sales", ""),
        (b"", ""),
    ],
)
def test_a_picture_is_known_by_its_first_bytes(content: bytes, kind: str) -> None:
    assert kind_of(content) == kind
    address = embedded(content)
    assert address.startswith(f"data:image/{kind};base64,") if kind else address == ""


def test_large_pictures_are_not_carried() -> None:
    assert embedded(PNG + bytes(LARGEST)) == ""


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (embedded(PNG), True),
        ("data:image/svg+xml;base64,PHN2Zz4=", False),
        ("data:text/html;base64,PGI+", False),
        ('data:image/png;base64,x" onerror=', False),
        ("https://example.com/a.png", False),
        ("javascript:alert(1)", False),
    ],
)
def test_only_pixels_that_a_text_carries_are_shown(address: str, shown: bool) -> None:
    assert is_embedded(address) is shown
