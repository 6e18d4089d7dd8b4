"""Regular expressions that are compiled when they are first used, not while a module is loaded.

To compile one takes 0.1 to 1.5 ms, and a command that reads a file loads dozens of them, of which
it uses a few.
"""

import re
from typing import TYPE_CHECKING, Any

__all__ = ["late_pattern"]


class _Pattern:
    """A regular expression that is compiled when something of it is wanted."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        # From now on its methods are found without coming here.
        vars(self).update({name: getattr(compiled, name) for name in _MEMBERS})
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"late_pattern({self._text!r}, {self._flags!r})"


_MEMBERS = tuple(name for name in vars(re.Pattern) if not name.startswith("_"))

if TYPE_CHECKING:

    def late_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
        """Return a pattern of texts."""

else:

    def late_pattern(text, flags=0):
        """Return a pattern of texts."""
        return _Pattern(text, flags)
