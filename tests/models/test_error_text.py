"""What servers say when they refuse: their own words, on one line, without keys."""

import json
from typing import Any

import pytest

from proctor.models.refused_fields import LONGEST, clean, code_of, error_message, message_of


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("plain", "plain"),
        ({"error": "one"}, "one"),
        ({"error": {"message": "two", "code": 3}}, "two"),
        ({"message": "three"}, "three"),
        ({"detail": [{"msg": "four"}]}, '[{"msg":"four"}]'),
        ({"errors": {"message": "five"}}, "five"),
        ({"error": "", "message": "six"}, "six"),
        ({"other": 7}, '{"other":7}'),
        ([1, 2], "[1,2]"),
        (None, "null"),
    ],
)
def test_the_message_is_found_in_the_usual_forms(payload: Any, message: str) -> None:
    assert message_of(payload) == message
    assert error_message(json.dumps(payload).encode(), ()) == message


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"<html><head><title>x</title></head><body><h1>502</h1> Bad\nGateway</body>",
         "502 Bad Gateway"),
        (b"<script>alert(1)</script>busy", "busy"),
        (b"\xff\xfe broken", "�� broken"),
        (b'{"error": "half', '{"error": "half'),
        (b"", ""),
        (b"a\x00b\x1b[31mc", "a b [31mc"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_shown_as_plain_text(data: bytes, text: str) -> None:
    assert error_message(data, ()) == text


def test_secrets_are_blotted_out_before_the_text_is_cut() -> None:
    assert clean("key sk-12345 and sk-12345", ["sk-12345"]) == "key [key] and [key]"
    assert clean("abc", ["abc"]) == "abc"
    long = clean("x" * (LONGEST - 4) + "secret", ["secret"])
    assert (len(long), "secr" in long) == (LONGEST, False)
    assert clean("x" * LONGEST, ()) == "x" * LONGEST


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"error": {"code": "too_long"}}, "too_long"),
        ({"error": {"code": 42}}, "42"),
        ({"error": {"code": None}}, ""),
        ({"error": "text"}, ""),
        ([], ""),
    ],
)
def test_the_code_is_text_or_nothing(payload: Any, code: str) -> None:
    assert code_of(payload) == code
