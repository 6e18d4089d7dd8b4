"""What fails while a run goes on: the first failure of a kind is told at once, then its count."""

from collections.abc import Callable
from dataclasses import dataclass, field

from proctor.core.failures import FailureCounts

MOST_TOLD = 10
"""How many kinds of failure are told at once; the report has the others."""
STEPS = (10, 100, 1_000, 10_000, 100_000)


@dataclass
class FailureNotices:
    """Notices about attempts that failed, or that could not be scored: a few lines for all."""

    notice: Callable[[str], None]
    what: str
    """What a failure is called: ``failed``, or ``not scored``."""
    counts: FailureCounts = field(default_factory=FailureCounts)
    _told: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, about: str = "") -> None:
        """Count a failure, and tell the first of its kind."""
        first, count = self.counts.add(reason)
        if count == 1 and len(self._told) < MOST_TOLD:
            self._told[first] = 1
            where = f" ({about})" if about else ""
            self.notice(f"{self.what}: {_line(reason)}{where}")
        elif count in STEPS and first in self._told:
            self._tell(first, count)

    def close(self) -> None:
        """Tell how many there were of each kind that occurred more than once."""
        for first, count in self.counts.kinds.values():
            if first in self._told and count > self._told[first]:
                self._tell(first, count)

    def _tell(self, first: str, count: int) -> None:
        self._told[first] = count
        self.notice(f"{self.what} {count:,} times: {_line(first)}")


def _line(reason: str) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= 300 else f"{text[:300]}…"
