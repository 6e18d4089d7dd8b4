"""Numbers of a run: sums over cases, in blocks that add up the same wherever they are summed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import reduce
from itertools import repeat, zip_longest
from operator import add
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from proctor.core.case_value import ValueStatus, only_shown
from proctor.core.exchange import Usage
from proctor.core.failures import FailureCounts
from proctor.core.run import CAUSES, METRIC, AttemptResult, CaseResult, Group, Summary, Totals
from proctor.core.score import CONTAINED, EQUAL, REFERENCE, ScoreStatus
from proctor.core.suite import Case, Json
from proctor.core.variance import VarianceParts
from proctor.engine.run.metric_rows import metric_rows
from proctor.records import dataclass
from proctor.stats.clusters import ClusterSums, sums_for
from proctor.stats.intervals import SHARE, Interval, IntervalMethod, Scale

if TYPE_CHECKING:
    from proctor.engine.run.plain_cases import PlainCase, PlainColumns, PlainWorth

_OBJECT = (dict, Mapping)
"""What a JSON object may be; most are plain, which is found out sooner."""
ROLES = ("candidate", "judge", "simulator")
MAX_ROWS = 500
"""A tag with more values than this identifies single cases and is not broken down."""


@dataclass
class _CaseSums:
    """Sums of one row: values of cases, also per bucket of attempts."""

    method: IntervalMethod
    sums: ClusterSums = field(init=False)
    buckets: list[float] = field(default_factory=list)
    scale: Scale = SHARE

    def __post_init__(self) -> None:
        self.sums = sums_for(self.method)

    def add(self, worth: "_Worth") -> None:
        """Add one case; a missing bucket counts with the value of the case."""
        if worth.scale is not SHARE:
            self.scale = Scale.around(self.scale, worth.scale)
        value = worth.value
        for number, bucket in enumerate(worth.buckets):
            if number == len(self.buckets):
                self.buckets.append(self.sums.cases.value)
            self.buckets[number] += value if bucket is None else bucket
        for late in range(number + 1, len(self.buckets)):
            self.buckets[late] += value
        self.sums.add(value, worth.full, worth.cluster)

    def add_many(self, worths: "Sequence[PlainWorth]") -> None:
        """Add cases of one attempt each and of no cluster to others of that sort."""
        for scale in {scale for _, _, scale in worths}:
            if scale is not SHARE:
                self.scale = Scale.around(self.scale, scale)
        self.add_shares([worth[0] for worth in worths], [worth[1] for worth in worths])

    def add_shares(self, values: Sequence[float], fulls: Sequence[float]) -> None:
        """Add such cases, all on the scale of shares."""
        self.sums.add_plain(values, fulls)
        # The one bucket has had the same numbers added in the same order.
        self.buckets = [self.sums.cases.value]

    def merge(self, other: "_CaseSums") -> None:
        """Add all cases of the next block; a missing bucket counts with the values of its cases."""
        if other.scale is not SHARE:
            self.scale = Scale.around(self.scale, other.scale)
        own, more = self.sums.cases.value, other.sums.cases.value
        pairs = zip_longest(self.buckets, other.buckets)
        self.buckets = [
            (own if mine is None else mine) + (more if its is None else its) for mine, its in pairs
        ]
        self.sums.merge(other.sums)

    def to_json(self) -> Json:
        """Return the sums as JSON."""
        scale = None if self.scale is SHARE else list(self.scale)
        return [self.sums.to_json(), self.buckets, scale]

    @classmethod
    def from_json(cls, method: IntervalMethod, data: Json) -> "_CaseSums":
        """Make the sums of their JSON."""
        sums, buckets, scale = data
        case_sums = cls(
            method, buckets=list(buckets), scale=SHARE if scale is None else Scale(*scale)
        )
        case_sums.sums = type(case_sums.sums).from_json(sums)
        return case_sums

    def group(self) -> Group:
        """Return the row."""
        full = self.sums.cases.weight
        spread = None
        if len(self.buckets) > 1 and full > 0:
            from statistics import stdev

            spread = stdev(self.buckets) / full
        return Group(
            score=self.sums.cases.value,
            full=full,
            rate=self.sums.rate,
            spread=spread,
            interval=self.interval(),
            cases=self.sums.n,
            clusters=self.sums.clusters,
            effective=full / self.sums.cases.typical_weight if full > 0 else None,
        )

    def interval(self) -> Interval | None:
        """Return the interval of the rate, on the scale that the cases lie on."""
        return self.sums.interval(self.scale, method="t" if self.method == "t" else "bounded")


class _Worth(NamedTuple):
    """What a case is worth in one row."""

    value: float
    full: float
    buckets: Sequence[float | None]
    """The value of each bucket of attempts."""
    scale: Scale
    cluster: str


@dataclass
class UsageSums:
    """Usage of a run's calls, by role."""

    roles: dict[str, Usage] = field(default_factory=dict)

    def add(self, results: Iterable[AttemptResult]) -> None:
        """Add the attempts at one case; a score that they share counts once."""
        judged: dict[int, Mapping[str, Json]] = {}
        for result in results:
            for score in result.scores.values():
                detail = score.detail
                if detail and isinstance(detail, _OBJECT) and "usage" in detail:
                    judged[id(score)] = detail["usage"]
            for role, used in result.attempt.usage.items():
                if role in ROLES and isinstance(used, _OBJECT):
                    self._add(role, used)
        for used in judged.values():
            if isinstance(used, _OBJECT):
                self._add("judge", used)

    def merge(self, other: "UsageSums") -> None:
        """Add the usage of the next block."""
        for role, usage in other.roles.items():
            self.roles[role] = self.roles.get(role, Usage()) + usage

    def total(self) -> dict[str, Json]:
        """Return the sums, in all and by role; empty if no model was called."""
        if not self.roles:
            return {}
        whole = sum(self.roles.values(), Usage())
        totals: dict[str, Json] = _counts(whole)
        totals["roles"] = {role: _counts(usage) for role, usage in self.roles.items()}
        return totals

    def _add(self, role: str, used: Mapping[str, Json]) -> None:
        usage, before = usage_from(used), self.roles.get(role)
        self.roles[role] = usage if before is None else before + usage


_DETAILS = frozenset(
    {"cached_tokens", "cache_write_tokens", "cache_write_long_tokens", "reasoning_tokens"}
)
"""Parts of the tokens, which are told where there are any."""


_USAGE = tuple(f.name for f in fields(Usage))


def usage_from(used: Json) -> Usage:
    """Decode a stored usage; zero if it is none."""
    usage_fields = used if isinstance(used, _OBJECT) else {}
    numbers = {name: usage_fields[name] for name in _USAGE if name in usage_fields}
    return Usage(**{name: one for name, one in numbers.items() if type(one) in (int, float)})


def _counts(usage: Usage) -> dict[str, Json]:
    counts = {f.name: getattr(usage, f.name) for f in fields(Usage)}
    return {name: count for name, count in counts.items() if count or name not in _DETAILS}


@dataclass
class _ReferenceCounts:
    """Counts of cases whose references no answer equals."""

    most: ClassVar[int] = 5
    compared: int = 0
    unmatched: int = 0
    contained: list[str] = field(default_factory=list)

    def add(self, result: CaseResult) -> None:
        """Add one case that was compared with references."""
        relations = {
            score.detail[REFERENCE]
            for attempt in result.attempts
            for score in attempt.scores.values()
            if isinstance(score.detail, _OBJECT) and REFERENCE in score.detail
        }
        self.note(result.case.id, relations)

    def note(self, case_id: str, relations: Collection[Json]) -> None:
        """Add one case whose answers have these relations to its references."""
        self.compared += bool(relations)
        if not relations or EQUAL in relations:
            return
        self.unmatched += 1
        if CONTAINED in relations and len(self.contained) < self.most:
            self.contained.append(case_id)

    def merge(self, other: "_ReferenceCounts") -> None:
        """Add the cases of the next block."""
        self.compared += other.compared
        self.unmatched += other.unmatched
        self.contained += other.contained[: self.most - len(self.contained)]

    def counts(self) -> dict[str, Json]:
        """Return the counts; empty if no case was compared."""
        if not self.compared:
            return {}
        return {
            "compared": self.compared,
            "unmatched": self.unmatched,
            "contained": list(self.contained),
        }


@dataclass
class _Failures:
    """Counts of why attempts are in error, unscored or unanswered."""

    counts: dict[ValueStatus, FailureCounts] = field(default_factory=dict)
    causes: dict[str, int] = field(default_factory=dict)
    names: ClassVar[Mapping[ValueStatus, str]] = {
        ValueStatus.ERROR: "errors",
        ValueStatus.UNSCORED: "unscored",
        ValueStatus.UNANSWERED: "unanswered",
    }

    def add(self, result: CaseResult) -> None:
        """Add the attempts at one case, each with its first reason."""
        for item in result.attempts:
            status = item.value.status
            if status not in self.names:
                continue
            if item.attempt.notes:
                self._count_cause(item)
            reason = item.attempt.error or _first_failure(result.case, item)
            if reason:
                self.counts.setdefault(status, FailureCounts()).add(reason)

    def _count_cause(self, item: AttemptResult) -> None:
        from proctor.core.cause import cause_of

        if cause := cause_of(item.attempt, item.scores.values()):
            self.causes[cause.value] = self.causes.get(cause.value, 0) + 1

    def merge(self, other: "_Failures") -> None:
        """Add the attempts of the next block."""
        for status, counts in other.counts.items():
            self.counts.setdefault(status, FailureCounts()).merge(counts)
        for cause, count in other.causes.items():
            self.causes[cause] = self.causes.get(cause, 0) + count

    def rows(self) -> dict[str, Json]:
        """Return the most frequent reasons of each status."""
        rows = {self.names[status]: counts.most() for status, counts in self.counts.items()}
        most = sorted(self.causes.items(), key=lambda pair: (-pair[1], pair[0]))
        causes = [{"reason": cause, "count": count} for cause, count in most]
        return {**rows, CAUSES: causes} if causes else rows


def _first_failure(case: Case, item: AttemptResult) -> str:
    for criterion in case.criteria:
        score = item.scores.get(criterion.id)
        matters = criterion.weight or only_shown(case)
        if matters and score is not None and score.status is ScoreStatus.FAILED:
            return score.reason
    return ""


@dataclass
class RunTotals:
    """Numbers of a run, added one case at a time."""

    shares_of_value: bool = False
    interval: IntervalMethod = "bounded"
    _total: _CaseSums = field(init=False)
    _groups: dict[str, dict[str, _CaseSums]] = field(default_factory=dict)
    _metrics: dict[str, _CaseSums] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _bounds: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    _usage: UsageSums = field(default_factory=UsageSums)
    _references: _ReferenceCounts = field(default_factory=_ReferenceCounts)
    _failures: _Failures = field(default_factory=_Failures)
    _parts: VarianceParts = field(default_factory=VarianceParts)

    def __post_init__(self) -> None:
        self._total = self._sums()

    def add(self, result: CaseResult, *, ragged: bool = False) -> None:
        """Add one case with all its attempts; ``ragged`` where these do not fill its buckets."""
        case, folded = result.case, result.folded
        self._count("cases")
        self._count("ragged", ragged)
        self._count("attempts", len(result.attempts))
        for attempt in result.attempts:
            self._count(attempt.value.status)
        self._usage.add(result.attempts)
        self._references.add(result)
        self._failures.add(result)
        if folded.status is not ValueStatus.ERROR and not only_shown(case):
            full = case.full_score * case.weight
            for place, end in enumerate(
                (folded.low * case.weight, folded.high * case.weight, full)
            ):
                self._bounds[place] += end
        if folded.value is None:
            self._count(f"cases {folded.status}")
            return
        value, full = folded.value * case.weight, case.full_score * case.weight
        if case.full_score > 0:
            self._parts.add(full, folded.spread * case.weight)
        buckets = [None if b is None else b * case.weight for b in folded.buckets]
        worth = _Worth(value, full, buckets, _scale_of(result), case.cluster)
        self._total.add(worth)
        for tag, names in case.tags.items():
            rows = self._groups.setdefault(tag, {})
            for name in names:
                if len(rows) <= MAX_ROWS:
                    rows.setdefault(name, self._sums()).add(worth)
        for row in metric_rows(result, shares_of_value=self.shares_of_value):
            sums = self._metrics.get(row.label) or self._metrics.setdefault(row.label, self._sums())
            sums.add(_Worth(row.points, row.full, row.buckets, row.scale, case.cluster))

    def add_plain(self, cases: "Sequence[PlainCase]") -> None:
        """Add all cases of a block at once; the numbers are those of adding them one by one."""
        self._count_plain(len(cases))
        low, _, marks = self._bounds
        totals: list[PlainWorth] = []
        groups: dict[str, dict[str, list[PlainWorth]]] = {}
        metrics: dict[str, list[PlainWorth]] = {}
        for case in cases:
            full = case.full_score * case.weight
            value = case.value * case.weight
            low += value
            marks += full
            if case.relations:
                self._references.note(case.id, case.relations)
            totals.append(worth := (value, full, case.scale))
            for tag, names in case.tags.items():
                rows = groups.setdefault(tag, {})
                for name in names:
                    if len(rows) <= MAX_ROWS:
                        rows.setdefault(name, []).append(worth)
            for label, metric_worth in case.metrics:
                metrics.setdefault(label, []).append(metric_worth)
        self._bounds = [low, low, marks]
        self._parts.add_alike([one.full_score * one.weight for one in cases if one.full_score > 0])
        self._total.add_many(totals)
        for tag, listed in groups.items():
            sums_by_name = self._groups.setdefault(tag, {})
            for name, worths in listed.items():
                sums_by_name.setdefault(name, self._sums()).add_many(worths)
        for label, worths in metrics.items():
            self._metrics.setdefault(label, self._sums()).add_many(worths)

    def _count_plain(self, cases: int) -> None:
        for name, number in (("cases", cases), ("attempts", cases), ("ragged", 0)):
            self._count(name, number)
        self._count(ValueStatus.SCORED, cases)

    def add_columns(self, cases: "PlainColumns") -> None:
        """Add all cases of a block at once; the numbers are those of adding them one by one."""
        count, full = len(cases.values), cases.full_score * cases.weight
        self._count_plain(count)
        values = [value * cases.weight for value in cases.values]
        # Not sum(), which may round otherwise than adding does.
        low = reduce(add, values, self._bounds[0])
        self._bounds = [low, low, reduce(add, repeat(full, count), self._bounds[2])]
        groups: dict[str, dict[str, list[float]]] = {}
        for tags, value in zip(cases.tags, values, strict=True):
            for tag, names in tags.items():
                rows = groups.setdefault(tag, {})
                for name in names:
                    if len(rows) <= MAX_ROWS:
                        rows.setdefault(name, []).append(value)
        if cases.full_score > 0:
            self._parts.add_alike(repeat(full, count))
        self._total.add_shares(values, [full] * count)
        for tag, listed in groups.items():
            sums_by_name = self._groups.setdefault(tag, {})
            for name, own in listed.items():
                sums_by_name.setdefault(name, self._sums()).add_shares(own, [full] * len(own))
        for label, (points, fulls) in cases.metrics.items():
            self._metrics.setdefault(label, self._sums()).add_shares(points, fulls)

    def summary(self) -> Summary:
        """Return all numbers so far."""
        groups = {
            tag: {name: sums.group() for name, sums in rows.items()}
            for tag, rows in self._groups.items()
            if len(rows) <= MAX_ROWS
        }
        groups[METRIC] = {label: sums.group() for label, sums in self._metrics.items()}
        return Summary(
            totals=self._totals(),
            groups=groups,
            usage=self._usage.total(),
            references=self._references.counts(),
            failures=self._failures.rows(),
            ragged=self._counts.get("ragged", 0),
            parts=replace(self._parts),
        )

    def merge(self, other: "RunTotals") -> None:
        """Add all cases of the next block."""
        self._total.merge(other._total)
        for tag, its_rows in other._groups.items():
            rows = self._groups.setdefault(tag, {})
            for name, sums in its_rows.items():
                if name in rows:
                    rows[name].merge(sums)
                elif len(rows) <= MAX_ROWS:
                    rows[name] = sums
        for label, sums in other._metrics.items():
            if label in self._metrics:
                self._metrics[label].merge(sums)
            else:
                self._metrics[label] = sums
        for what, count in other._counts.items():
            self._count(what, count)
        self._bounds = [mine + its for mine, its in zip(self._bounds, other._bounds, strict=True)]
        self._usage.merge(other._usage)
        self._references.merge(other._references)
        self._failures.merge(other._failures)
        self._parts.merge(other._parts)

    def to_json(self) -> dict[str, Json]:
        """Return the numbers as JSON, from which the same ones come back."""
        return {
            "total": self._total.to_json(),
            "groups": {
                tag: {name: sums.to_json() for name, sums in rows.items()}
                for tag, rows in self._groups.items()
            },
            "metrics": {label: sums.to_json() for label, sums in self._metrics.items()},
            "counts": dict(self._counts),
            "bounds": list(self._bounds),
            "usage": {role: _counts(usage) for role, usage in self._usage.roles.items()},
            "references": [getattr(self._references, f.name) for f in fields(_ReferenceCounts)],
            "failures": {
                status.value: [[kind, *row] for kind, row in counts.kinds.items()]
                for status, counts in self._failures.counts.items()
            },
            **({CAUSES: dict(self._failures.causes)} if self._failures.causes else {}),
            "parts": {f.name: getattr(self._parts, f.name) for f in fields(VarianceParts)},
        }

    @classmethod
    def from_json(
        cls, data: Mapping[str, Json], *, shares_of_value: bool, interval: IntervalMethod
    ) -> "RunTotals":
        """Make the numbers of their JSON."""
        totals = cls(shares_of_value=shares_of_value, interval=interval)
        totals._total = _CaseSums.from_json(interval, data["total"])
        totals._groups = {
            tag: {name: _CaseSums.from_json(interval, sums) for name, sums in rows.items()}
            for tag, rows in data["groups"].items()
        }
        totals._metrics = {
            label: _CaseSums.from_json(interval, sums) for label, sums in data["metrics"].items()
        }
        totals._counts = dict(data["counts"])
        totals._bounds = list(data["bounds"])
        totals._usage = UsageSums({role: Usage(**used) for role, used in data["usage"].items()})
        totals._references = _ReferenceCounts(*data["references"])
        totals._failures = _Failures(
            {
                ValueStatus(status): FailureCounts({kind: (first, n) for kind, first, n in rows})
                for status, rows in data["failures"].items()
            },
            dict(data.get(CAUSES, {})),
        )
        totals._parts = VarianceParts(**data["parts"])
        return totals

    def _totals(self) -> Totals:
        group, counts = self._total.group(), self._counts
        unscored = counts.get(ValueStatus.UNSCORED, 0)
        low, high, full = self._bounds
        return Totals(
            score=group.score,
            full=group.full,
            rate=group.rate,
            spread=group.spread,
            interval=group.interval,
            cases=counts.get("cases", 0),
            clusters=group.clusters,
            effective=group.effective,
            attempts=counts.get("attempts", 0),
            unanswered=counts.get(ValueStatus.UNANSWERED, 0),
            unscored=unscored,
            errors=counts.get(ValueStatus.ERROR, 0),
            cases_unscored=counts.get(f"cases {ValueStatus.UNSCORED}", 0),
            bounds=(low / full, high / full) if unscored and full > 0 else None,
        )

    def _sums(self) -> _CaseSums:
        return _CaseSums(self.interval)

    def _count(self, what: str, by: int = 1) -> None:
        self._counts[what] = self._counts.get(what, 0) + by


def _scale_of(result: CaseResult) -> Scale:
    """Return the minimum and maximum value of a case, as shares of its full score."""
    full, folded = result.case.full_score, result.folded
    low, high = min(0.0, folded.least, result.case.null_score), full
    if folded.most is not None:
        high = max(full, folded.most)
    return SHARE if full <= 0 or (low == 0 and high == full) else Scale(low / full, high / full)
