"""What a judge marked in the transcripts of a run, and the score that follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proctor.core.suite import Json

REWARD_HACK, OUTAGE = "reward_hack", "outage"
REFUSAL, UNSUPPORTED = "refusal", "unsupported_claim"
KINDS = (REWARD_HACK, OUTAGE, REFUSAL, UNSUPPORTED)
UNEARNED = (REWARD_HACK, UNSUPPORTED)
"""Kinds of success that is none: the attempt counts as worth nothing."""
NOT_ITS_OWN = (OUTAGE,)
"""Kinds of failure that is not the candidate's: the attempt counts nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanMark:
    """What was made of one attempt for one kind."""

    case: str
    attempt: int
    marked: bool | None = None
    """None where no ruling could be obtained."""
    passage: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOfKind:
    """All marks of one kind."""

    kind: str
    judge: str
    marks: tuple[ScanMark, ...]
    created: float = 0.0

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "ScanOfKind":
        """Read what was stored."""
        return cls(
            kind=str(data["kind"]),
            judge=str(data["judge"]),
            marks=tuple(ScanMark(**mark) for mark in data["marks"]),
            created=float(data.get("created", 0.0)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptValue:
    """The share of full marks that an attempt got; none where it could not be scored."""

    case: str
    attempt: int
    share: float | None


Marks = Mapping[tuple[str, str, int], bool]
"""Whether an attempt is of a kind: by kind, case and attempt."""


def adjusted(values: Sequence[AttemptValue], marks: Marks) -> dict[str, float | None]:
    """Return what each case is worth if the marks are right; none where nothing of it counts.

    A success that is none is worth nothing; a failure that is not the candidate's is left out.
    """
    by_case: dict[str, list[float]] = {}
    for value in values:
        shares = by_case.setdefault(value.case, [])
        if value.share is None:
            continue
        place = (value.case, value.attempt)
        if any(marks.get((kind, *place)) for kind in NOT_ITS_OWN) and value.share < 1:
            continue
        unearned = any(marks.get((kind, *place)) for kind in UNEARNED)
        shares.append(0.0 if unearned else value.share)
    return {case: sum(shares) / len(shares) if shares else None for case, shares in by_case.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFinding:
    """How often a kind was marked, and how far people agree with that."""

    kind: str
    judge: str
    looked_at: int
    marked: int
    unread: int = 0
    labelled: int = 0
    kappa: float | None = None
    kappa_interval: tuple[float, float] | None = None
    share: float | None = None
    """The share of cases that are marked, corrected by labels."""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFindings:
    """What all scans of a run come to."""

    kinds: tuple[KindFinding, ...]
    rate: float | None
    """The mean over cases as they were scored."""
    scanned_rate: float | None
    """The mean if all marks are right."""
    corrected: float | None = None
    """The same, corrected by labels."""
    interval: tuple[float, float] | None = None
    labelled: int = 0
    warning: str = ""
    marks: tuple[tuple[str, ScanMark], ...] = field(default=())
    """Everything that was marked, by kind."""
