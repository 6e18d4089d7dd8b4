"""What a page says, without the style sheets and scripts that are a part of it."""

import re
from functools import cache

from proctor.web.static_files import script, static_names, style_sheet


def own_elements(page: str) -> tuple[str, ...]:
    """Return the names of our style sheets and scripts in a page."""
    return tuple(name for name, element in _elements().items() if element in page)


def without_files(page: str) -> str:
    """Return a page without our style sheets and scripts; what somebody else wrote remains."""
    for element in _elements().values():
        page = page.replace(element, "")
    assert not re.search(r"<(?:style|script)\b", page)
    return page


@cache
def _elements() -> dict[str, str]:
    return {
        name: str(style_sheet(name) if name.endswith(".css") else script(name))
        for name in static_names()
        if not name.endswith(".svg")
    }
