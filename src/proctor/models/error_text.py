"""What servers say when they refuse, in a form that people may be shown."""

import re
from collections.abc import Iterable

from proctor.core.suite import Json
from proctor.io import json_bytes

LONGEST = 500
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_TAG = re.compile(r"<(?:style|script|head)\b.*?</(?:style|script|head)>|<[^>]*>", re.S | re.I)


def said_by(data: bytes, secrets: Iterable[str]) -> str:
    """Return the server's own message out of the body of a refusal, secrets blotted out."""
    try:
        message = message_of(json_bytes.loads_foreign(data[:1_000_000]))
    except ValueError:
        message = _TAG.sub(" ", data[:10_000].decode("utf-8", "replace"))
    return clean(message, secrets)


def clean(text: str, secrets: Iterable[str]) -> str:
    """Blot out secrets, make one line of it, and cut it."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "[key]")
    text = _CONTROL.sub(" ", text).strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def message_of(payload: Json) -> str:
    """Find the message in the JSON of an error, whichever of the usual forms it has."""
    if isinstance(payload, str):
        return payload
    if not isinstance(payload, dict):
        return json_bytes.dumps(payload).decode()
    for name in ("error", "message", "detail", "errors"):
        if payload.get(name):
            return message_of(payload[name])
    return json_bytes.dumps(payload).decode()


def code_of(payload: Json) -> str:
    """Return the short name or number of an error, where the server gave one."""
    error = payload.get("error") if isinstance(payload, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return str(code or "")
