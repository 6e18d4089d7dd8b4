"""Replies without the keys of this process, wherever one is repeated."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.redacted import redact_reply
from proctor.core.exchange import Reply
from proctor.io.redaction import MARK, SECRETS

KEY = "sk-Canary-7f3a9c5e21d8"
PLAIN = Reply(text="fine", thinking="well", finish="stop", request_id="r1", served_by="m")


@pytest.fixture(autouse=True)
def _one_key() -> Iterator[None]:
    SECRETS.forget()
    SECRETS.add(KEY)
    yield
    SECRETS.forget()


def test_a_reply_without_a_key_is_the_same_reply() -> None:
    assert redact_reply(PLAIN) is PLAIN
    assert redact_reply(replace(PLAIN, text=None)).text is None


@pytest.mark.parametrize(
    "field",
    [
        {"text": f"the key is {KEY}"},
        {"thinking": KEY},
        {"finish": KEY},
        {"request_id": KEY},
        {"served_by": KEY},
        {"logprobs": {KEY: -0.5}},
        {"round": {"post_list": [{"message": KEY}]}},
    ],
)
def test_a_key_is_taken_out_of_every_field(field: dict[str, Any]) -> None:
    redacted = redact_reply(replace(PLAIN, **field))
    assert KEY not in repr(redacted)
    assert MARK in repr(redacted)
    (name,) = field
    others = {"text", "thinking", "finish", "request_id", "served_by"} - {name}
    assert all(getattr(redacted, other) == getattr(PLAIN, other) for other in others)
