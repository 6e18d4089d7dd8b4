"""How long searches may work in one request."""

from math import inf


class SearchTime:
    """How long searches in parts may work: in one request, or without a limit."""

    def __init__(self, seconds: float = inf) -> None:
        self._left = seconds
        self._begun = False

    @property
    def is_over(self) -> bool:
        """Whether it is used up; a first step is always made."""
        return self._begun and self._left <= 0

    def spend(self, seconds: float) -> None:
        """Note that a step took so long."""
        self._begun = True
        self._left -= seconds
