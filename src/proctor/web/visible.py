"""Untrusted text made safe to show: invisible and direction-changing characters are marked."""

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Replace control, invisible and unencodable characters by visible marks."""
    return _HIDDEN.sub(lambda match: f"⟦U+{ord(match[0]):04X}⟧", text)
