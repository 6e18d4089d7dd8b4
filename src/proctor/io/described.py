"""Values in words, for messages about what is wrong with them."""

from typing import Any


def describe(value: Any) -> str:
    """Name a value shortly: what kind of thing it is, and its beginning."""
    if isinstance(value, str):
        return f"the string {value[:40]!r}{'…' if len(value) > 40 else ''}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        text = f"{value:g}" if isinstance(value, float) else _short_number(value)
        return f"the number {text}"
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def _short_number(value: int) -> str:
    digits = value.bit_length() * 0.30103
    return str(value) if digits < 40 else f"of about {digits:,.0f} digits"
