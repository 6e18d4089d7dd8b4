"""Requests to an agent, from a template with places for what is said."""

import re
from collections.abc import Mapping
from typing import Any

from proctor.agents.steps import text_of
from proctor.core.suite import Json

NAMES = ("message", "session", "history", "case", "turn")
DEFAULT: Mapping[str, Any] = {
    "message": "{{message}}",
    "session": "{{session}}",
    "history": "{{history}}",
    "case": "{{case}}",
}
_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def filled(template: Json, values: Mapping[str, Json]) -> Json:
    """Put values into their places: alone as they are, inside a text as text."""
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    whole = _PLACE.fullmatch(template.strip())
    if whole is not None and whole[1] in values:
        return values[whole[1]]
    return _PLACE.sub(lambda match: _inserted(match, values), template)


def _inserted(match: re.Match[str], values: Mapping[str, Json]) -> str:
    if match[1] not in values:
        return match[0]
    value = values[match[1]]
    return "" if value is None else text_of(value)


def places(template: Json) -> set[str]:
    """Return the names of all places in a template."""
    if isinstance(template, Mapping):
        return {name for value in template.values() for name in places(value)}
    if isinstance(template, list | tuple):
        return {name for value in template for name in places(value)}
    return set(_PLACE.findall(template)) if isinstance(template, str) else set()
