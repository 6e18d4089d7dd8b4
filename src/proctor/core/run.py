"""One candidate on one suite, the signature of how it was examined, and what came of it."""

from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from proctor.core.attempt import Attempt
from proctor.core.case_value import Value
from proctor.core.exchange import Usage
from proctor.core.fingerprint import plain
from proctor.core.fold import Folded
from proctor.core.score import Score
from proctor.core.suite import VARIANT, Case, Json, Spec
from proctor.core.variance import VarianceBudget, VarianceParts
from proctor.late_patterns import late_pattern
from proctor.records import dataclass

if TYPE_CHECKING:
    from proctor.core.audit import JudgeAudit, NoiseFloor
    from proctor.core.scan import ScanFindings

SCORERS = "scorers"
CASES_PER_BLOCK = 1_000
"""Numbers are added case by case within blocks of positions in the suite, and block by block over
them: so their last digits do not depend on how many processes share a run."""
_PART = late_pattern(
    rf"(?:^|\|)(suite|dialect|{VARIANT}|scorers|sampling|judge|panel|prompt|simulator|prompts|refused|resources|reduce"
    r"|attempts|n|unanswered|unscored|ci|version|imported):"
)
_SCORER = late_pattern(r"(?P<name>.+?)-(?P<version>[^-+]*(?:\+.*)?)")
"""A scorer with its version; what follows a plus sign may have dashes of its own."""


class Signature(str):
    """The line that reports show, and the parts that it was made of.

    The scorers are a mapping of their names to their versions, all other parts are texts.
    """

    __slots__ = ("_parts",)
    _parts: Mapping[str, Json] | None

    @classmethod
    def of(cls, parts: Mapping[str, Json]) -> "Signature":
        """Make the signature of its parts; those that are empty are left out."""
        kept: dict[str, Json] = {}
        for name, value in parts.items():
            if isinstance(value, Mapping):
                kept[name] = {str(scorer): str(version) for scorer, version in value.items()}
            else:
                kept[name] = str(value)
        kept = {name: value for name, value in kept.items() if value}
        signature = cls("|".join(f"{name}:{_part_text(value)}" for name, value in kept.items()))
        signature._parts = kept
        return signature

    @classmethod
    def read(cls, text: str) -> "Signature":
        """Return the signature that a line says: earlier versions, and files, have no more."""
        if isinstance(text, Signature):
            return text
        signature = cls(text)
        signature._parts = None
        return signature

    @property
    def parts(self) -> Mapping[str, Json]:
        """Return the parts by their names."""
        if self._parts is None:
            self._parts = _parts_of(self)
        return self._parts

    @property
    def scorers(self) -> Mapping[str, str]:
        """Return the versions of the scorers by their names."""
        scorers = self.parts.get(SCORERS)
        return scorers if isinstance(scorers, Mapping) else {}

    def changed_scorers(self, before: "Signature") -> Iterator[tuple[str, str, str]]:
        """Yield the scorers of both signatures in other versions: name, version before, and now."""
        for name in sorted(before.scorers.keys() & self.scorers.keys()):
            if before.scorers[name] != self.scorers[name]:
                yield name, before.scorers[name], self.scorers[name]

    def __reduce__(self) -> tuple[object, ...]:
        return Signature.of, (self.parts,)


def _part_text(value: Json) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{scorer}-{version}" for scorer, version in value.items())
    return str(value)


def _parts_of(text: str) -> dict[str, Json]:
    # Around each name that the pattern finds lie the texts between the names.
    pieces = _PART.split(text)
    parts: dict[str, Json] = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    if SCORERS in parts:
        matches = map(_SCORER.fullmatch, filter(None, parts[SCORERS].split(",")))
        parts[SCORERS] = {match["name"]: match["version"] for match in matches if match}
    return parts


REGRADED = "regraded"
"""Where a run's settings keep the id of the run of an earlier edition of its suite."""
STOPPED_EARLY = "stopped_early"
"""Where the settings of a run say that, and why, it ended before its last case."""


class RunStatus(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    """Somebody works at it now."""
    INTERRUPTED = "interrupted"
    """Nobody works at it any more, and it has not come to its end; the same command goes on."""
    REFUSED = "refused"
    """What was needed to go on was refused, such as a key; the same command goes on."""
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    """Some cases could not be run; the same command tries them again."""
    BROKEN = "broken"
    """What the store has of it cannot be read: somebody else wrote to it, or it is damaged."""

    @property
    def is_unfinished(self) -> bool:
        """Tell whether a run has not come to its end."""
        return self in (RunStatus.RUNNING, RunStatus.INTERRUPTED, RunStatus.REFUSED)


RESOURCES = "resources"
"""Where a run's settings and signature keep what its agent had."""
METRIC = "metric"
"""The breakdown by what criteria measure, beside those by tags."""
CAUSES = "causes"
"""Where a summary's failures count whose fault attempts were that did not end well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One candidate on one suite, and the settings."""

    id: str
    name: str
    suite: str
    suite_key: str
    candidate: Spec
    settings: Mapping[str, Json] = field(default_factory=dict)
    status: RunStatus = RunStatus.RUNNING
    started: float = 0.0
    finished: float | None = None
    signature: str = ""
    imported: bool = False
    """Whether all of it is quoted from a file, and nothing of it was found out here."""

    @property
    def signed(self) -> Signature:
        """Return the signature with its parts."""
        return Signature.read(self.signature)

    @property
    def regraded(self) -> str | None:
        """Return the id of the run of an earlier edition of the suite, where this came after it."""
        earlier = self.settings.get(REGRADED)
        return earlier if isinstance(earlier, str) else None

    @property
    def stopped_early(self) -> Mapping[str, Json] | None:
        """Return why and where a run ended before its last case; none where it did not."""
        early = self.settings.get(STOPPED_EARLY)
        return early if isinstance(early, Mapping) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """One attempt with its scores and their combined value."""

    attempt: Attempt
    scores: Mapping[str, Score]
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case with all its attempts and their folded value."""

    case: Case
    attempts: tuple[AttemptResult, ...]
    folded: Folded


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Sums over some of the cases: all of them, one tag's value, one metric."""

    score: float
    full: float
    rate: float | None
    spread: float | None
    """Standard deviation over attempts (or buckets of them), as a share of full, like the rate;
    none where there is one attempt at each case, which says nothing of others."""
    interval: tuple[float, float] | None
    cases: int
    clusters: int | None = None
    """How many draws the cases are, where some of them belong together; none where each is one."""
    effective: float | None = None
    """As how many cases of equal weight these scatter, (Σw)² ÷ Σw²; none in runs of earlier
    versions, and where nothing counts."""

    @property
    def score_spread(self) -> float | None:
        """Return the spread in points."""
        return None if self.spread is None else self.spread * self.full


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(Group):
    """Sums over all cases, with everything that did not enter them."""

    attempts: int
    unanswered: int
    unscored: int
    errors: int
    cases_unscored: int
    bounds: tuple[float, float] | None
    """The rate if all that is unscored were worth nothing, or everything; none if nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A measure's number with its interval and the count it rests on."""

    value: float | None
    interval: tuple[float, float] | None
    n: int
    detail: Json = None
    """What one number cannot say: a distribution, the parts of a sum."""
    note: str = ""
    """What is counted, where the measure's name alone could be read in two ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedScore:
    """The mean of a criterion, corrected by the labels that people gave to some of its cases."""

    raw: float | None
    """The mean of what the judge gave, over all cases."""
    value: float | None
    """None where too few cases have labels."""
    interval: tuple[float, float] | None
    bias: float | None
    """How much more than people the judge gave where both did."""
    trust: float
    """How much of the judge's marks on the other cases was used: from 0, none, to 1, all."""
    labelled: int
    cases: int
    unlike: float | None
    """How likely the judge's mean on labelled and other cases would differ so much by chance."""
    scale: tuple[float, float] = (0.0, 1.0)
    """The ends of the scale of all these numbers: shares, or ratings that are only shown."""
    warning: str = ""
    """Why the correction does not hold, where labelled cases are not like the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All numbers of a run."""

    totals: Totals
    groups: Mapping[str, Mapping[str, Group]] = field(default_factory=dict)
    """Per breakdown (a tag, or ``metric``), its rows by name."""
    measures: Mapping[str, Measured] = field(default_factory=dict)
    usage: Mapping[str, Json] = field(default_factory=dict)
    references: Mapping[str, Json] = field(default_factory=dict)
    """How many cases were ``compared`` with references, how many of them are ``unmatched`` by any
    answer, and of these the ids of some whose answers have a reference in them (``contained``)."""
    ragged: int = 0
    """How many cases have attempts that do not fill the buckets of which the best is taken."""
    clustered_by: str = ""
    """What the cases of one cluster have in common: a tag, or a field of theirs; empty where only
    the cases say where they belong."""
    failures: Mapping[str, Json] = field(default_factory=dict)
    """The most frequent reasons with their counts, for attempts in ``errors``, ``unscored`` and
    ``unanswered``."""
    gates: tuple[Mapping[str, Json], ...] = ()
    """What came of the gates that the run was last checked by."""
    audit: "JudgeAudit | None" = None
    """What the newest audit of the judge found out, where there was one; known later, too."""
    parts: VarianceParts | None = None
    """From which the parts of the rate's variance follow; none in runs of earlier versions."""
    variance: VarianceBudget | None = None
    """Where the uncertainty of the rate comes from; worked out whenever a run is looked at."""
    corrected: Mapping[str, CorrectedScore] = field(default_factory=dict)
    """What labels make of judged criteria, by criterion, the one with most labels first. Found out
    anew whenever a run is looked at: labels come after its end."""
    averaged: float = 1.0
    """Of how many attempts the value of a case is the mean; found out anew, too."""
    scan: "ScanFindings | None" = None
    """What scans of its transcripts marked, where there were any; found out anew, too."""

    def to_json(self) -> dict[str, Json]:
        """Return all numbers as JSON, for the store."""
        data: dict[str, Json] = plain(self)
        return data

    @property
    def gates_missed(self) -> list[str]:
        """Return the gates that did not hold when the run was last checked."""
        return [str(row.get("gate")) for row in self.gates if not row.get("held")]

    def noise_floor(self, group: Group, metric: str = "") -> "NoiseFloor | None":
        """Return how far the rate of some cases would move if they were judged again.

        With a metric, the group is its row.
        """
        if self.audit is None:
            return None
        cases = group.cases if group.effective is None else group.effective
        return self.audit.noise_floor(cases, self.averaged, metric)

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Summary":
        """Make the numbers of their JSON; what is none of them is an error."""
        return cls(
            totals=Totals(**_filled(data["totals"]), bounds=_pair(data["totals"].get("bounds"))),
            groups={
                tag: {name: Group(**_filled(group)) for name, group in rows.items()}
                for tag, rows in data.get("groups", {}).items()
            },
            measures={
                name: Measured(
                    value=_number(row.get("value")),
                    interval=_pair(row.get("interval")),
                    n=_count(row["n"]),
                    detail=row.get("detail"),
                    note=_text(row.get("note", "")),
                )
                for name, row in data.get("measures", {}).items()
            },
            ragged=_count(data.get("ragged", 0)),
            clustered_by=_text(data.get("clustered_by", "")),
            usage=_used(data.get("usage", {})),
            parts=_parts(data.get("parts")),
            references=_mapping(data.get("references", {})),
            gates=tuple(_mapping(row) for row in data.get("gates", ())),
            failures={
                name: [_mapping(row) for row in rows]
                for name, rows in _mapping(data.get("failures", {})).items()
            },
        )


def sound_summary(data: Mapping[str, Json] | None) -> Mapping[str, Json] | None:
    """Return what a store has of a run's numbers, where all of it can be read."""
    if data is None:
        return None
    try:
        Summary.from_json(data)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    return data


def _filled(data: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields of a group, or of totals but their bounds."""
    group_fields = {
        name: _count(value) if name in _COUNTS else _sure(value)
        for name, value in data.items()
        if name not in _SEVERAL
    }
    return {
        **group_fields,
        "rate": _number(data.get("rate")),
        "spread": _number(data.get("spread")),
        "interval": _pair(data.get("interval")),
        "clusters": None if data.get("clusters") is None else _count(data["clusters"]),
        "effective": _number(data.get("effective")),
    }


_SEVERAL = ("rate", "spread", "interval", "clusters", "effective", "bounds")
_COUNTS = ("cases", "cases_unscored", "attempts", "unanswered", "unscored", "errors")


def _number(value: Json) -> Json:
    return None if value is None else _sure(value)


def _sure(value: Json) -> Json:
    if type(value) not in (int, float):
        raise TypeError(f"{value!r:.40} is no number")
    return value


def _count(value: Json) -> Json:
    if not float(_sure(value)).is_integer():
        raise TypeError(f"{value!r:.40} is no count")
    return value


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r:.40} is no mapping")
    return value


def _pair(value: Json) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = value
    return _sure(low), _sure(high)


def _parts(data: Json) -> VarianceParts | None:
    if data is None:
        return None
    names = [one.name for one in fields(VarianceParts)]
    return VarianceParts(**{name: _sure(data[name]) for name in names if name in data})


def _used(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what calls took, where all that is counted is a number."""
    for column in fields(Usage):
        _number(data.get(column.name))
    return dict(data)
