"""JSON as bytes, fast, and without losing texts that are not valid Unicode."""

import json

import orjson

from proctor.core.suite import Json


def dumps(value: Json) -> bytes:
    """Write JSON; lone surrogates, which models do produce, are kept as escapes."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def loads(data: bytes | str) -> Json:
    """Read JSON, lone surrogates included."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)
