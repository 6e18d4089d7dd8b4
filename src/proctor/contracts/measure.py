"""What a measure must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import (
    Iterable,
)
from typing import ClassVar

from proctor.core.run import CaseResult, Measured


class Measure(ABC):
    """One number of many case results: a dataclass whose fields are its parameters."""

    version: ClassVar[str] = "1"
    ends: ClassVar[tuple[float | None, float | None]] = (None, None)
    """The least and the most that the number can be; none for an end that is open."""

    @property
    def label(self) -> str:
        """Return the name in reports; empty means the name it is registered under."""
        return ""

    @abstractmethod
    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Compute the number over all cases."""
