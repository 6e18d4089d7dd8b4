"""Failures: whose doing they are, how many there are of each kind, and what is told of them.

What an answer brings about counts against it, or else a candidate could take out of the sum what
it would fail. What happens without it as well is the suite's doing, and leaves the case unscored.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cache

from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.records import dataclass

LIMIT = "limit"
"""Where a score's detail says which limit the answer passed."""
HARMLESS = (
    "This is an ordinary answer of ordinary length. It says a few things one after the other, as"
    " people do: that 2 + 2 = 4, that Paris is a city, and that nothing else is the matter.\n\n"
    "1. First point: see section 3.1 (page 42).\n2. Second point: an e-mail to a.b@example.org.\n\n"
    "```python\ndef double(x):\n    return 2 * x  # nothing special\n```\n\n"
    "这是一个普通的回答。It ends here, with a full stop."
)
_REFERENCES = 3


def innocent_answers(case: Case) -> Iterator[tuple[str, str]]:
    """Yield answers on which no criterion may fail, each with what it is."""
    for reference in case.references[:_REFERENCES]:
        yield "the reference", reference
    yield "an ordinary text", HARMLESS
    yield "an empty answer", ""


def missed(reason: str, out_of: float, *, weight: float = 1.0) -> Score:
    """Make the score of an answer that passed a limit: nothing won, and every penalty incurred."""
    points = out_of if weight < 0 else 0.0
    return Score(
        points=points,
        out_of=out_of,
        reason=f"a miss: on this answer, and on no harmless one, it {reason}",
        detail={LIMIT: reason},
    )


def passed_a_limit(score: Score) -> bool:
    """Tell whether a score is what it is because the answer passed a limit."""
    return isinstance(score.detail, dict) and LIMIT in score.detail


def suites_doing(reason: str, what: str, out_of: float | None = None) -> Score:
    """Make the score of a criterion that fails without the answer, too."""
    return Score.failed(f"{reason}; {what} fares no better: the suite's own doing", out_of=out_of)


MOST_KINDS = 200
"""From here on a reason of a new kind is counted with all others."""
OTHERS = "other reasons"


@cache
def _particulars() -> re.Pattern[str]:
    """Return the pattern of what tells two reasons of one kind apart."""
    return re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|0x[0-9a-fA-F]+|[0-9a-f]{12,}|\d+(?:\.\d+)?")


def failure_kind(reason: str) -> str:
    """Return a reason without what tells single cases apart: quoted texts and numbers."""
    return _particulars().sub("#", " ".join(reason.split()))[:500]


@dataclass
class FailureCounts:
    """Numbers of failures by kind, each with the first reason of its kind."""

    kinds: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add(self, reason: str) -> tuple[str, int]:
        """Count a failure, and return the first reason of its kind and how many there are now."""
        kind = failure_kind(reason)
        if kind not in self.kinds and len(self.kinds) >= MOST_KINDS:
            kind, reason = OTHERS, OTHERS
        first, count = self.kinds.get(kind, (reason, 0))
        self.kinds[kind] = (first, count + 1)
        return first, count + 1

    def merge(self, other: "FailureCounts") -> None:
        """Add what another counted later."""
        for its_kind, (reason, count) in other.kinds.items():
            counted_alone = its_kind in self.kinds or len(self.kinds) < MOST_KINDS
            kind = its_kind if counted_alone else OTHERS
            first, before = self.kinds.get(kind, (reason if counted_alone else OTHERS, 0))
            self.kinds[kind] = (first, before + count)

    def most(self, limit: int = 5) -> list[Mapping[str, Json]]:
        """Return the most frequent kinds, the first of them first."""
        rows = sorted(self.kinds.values(), key=lambda row: -row[1])[:limit]
        return [{"reason": reason, "count": count} for reason, count in rows]


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
