"""Failures by kind: reasons that differ in names and numbers alone are one kind."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.core.suite import Json

MOST_KINDS = 200
"""From here on a reason of a new kind is counted with all others."""
OTHERS = "other reasons"
_PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|0x[0-9a-fA-F]+|[0-9a-f]{12,}|\d+(?:\.\d+)?")


def failure_kind(reason: str) -> str:
    """Return a reason without what tells single cases apart: quoted texts and numbers."""
    return _PARTICULARS.sub("#", " ".join(reason.split()))[:500]


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

    def most(self, limit: int = 5) -> list[Mapping[str, Json]]:
        """Return the most frequent kinds, the first of them first."""
        rows = sorted(self.kinds.values(), key=lambda row: -row[1])[:limit]
        return [{"reason": reason, "count": count} for reason, count in rows]
