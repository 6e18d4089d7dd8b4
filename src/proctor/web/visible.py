"""Texts of strangers as they may be shown: nothing in them hides, nothing turns the reading."""

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Return a text in which every character that steers, hides or cannot be sent is a mark."""
    return _HIDDEN.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)
