"""Comparing: which of several stored runs is better on the same cases, and how sure that is."""

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

from proctor.contracts.report import RunView
from proctor.core.case_value import ValueStatus
from proctor.core.expression import Expression
from proctor.core.run import METRIC
from proctor.engine.compare.obstacles import Side, obstacles
from proctor.engine.compare.pair_sums import MetCases, PairedRowSums, add_columns
from proctor.engine.compare.results import (
    KINDS,
    CasePair,
    Compared,
    Contrast,
    LeftOut,
)
from proctor.engine.compare.sequential import sequential_contrasts
from proctor.engine.compare.verdict import GroupContrast
from proctor.engine.run.gate_ranges import Ranges, comparison_ranges, refuse_impossible
from proctor.engine.run.gates import GateResult, luck_of, unknown_words
from proctor.engine.run.stored_view import view_of
from proctor.engine.run.totals import MAX_ROWS
from proctor.errors import UsageError
from proctor.stats.difference import Method
from proctor.stats.paired import holm
from proctor.store.queries import PairCursor, PairQuery
from proctor.store.rows import Change, StoredPair
from proctor.store.store import Store

MOST_RUNS = 10
SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """The way in which runs are compared."""

    by: tuple[str, ...] = ()
    """The tags to break the differences down by; those that gates name are added."""
    gates: tuple[str, ...] = ()
    method: Method = "t"
    """How the interval is found."""
    margin: float | None = None
    """A difference that does not matter, as a part of full marks."""
    sequential: bool = False
    """Whether evidence decides that may be looked at after every case."""
    force: bool = False
    """Whether runs are compared whose numbers do not mean the same."""
    shown: int = SHOWN
    """How many cases of each kind are kept as examples."""

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 < self.margin < 1:
            raise UsageError(
                f"--margin is in points of 100, above 0 and below 100, not {self.margin * 100:g}"
            )
        if self.sequential and self.by:
            raise UsageError(
                "--sequential looks at all cases together: leave out --by"
                " (fix: decide by all cases with --sequential; compare groups once, by --by"
                " without --sequential, when all planned cases are there)"
            )


def compare(
    store: Store, references: Sequence[str], settings: CompareSettings | None = None
) -> Compared:
    """Compare stored runs with each other, two at a time, case by case."""
    settings = settings or CompareSettings()
    sides = sides_of(store, references)
    settings = replace(settings, by=_tags(sides, settings.by, settings.gates))
    refused, warnings = obstacles_among(store, sides)
    if refused and not settings.force:
        raise UsageError(
            f"these runs cannot be compared: {'; '.join(refused)}"
            " (fix: run both alike, which costs only what differs; or --force)"
        )
    contrasts = [
        _contrast(store, first, second, settings) for first, second in combinations(sides, 2)
    ]
    together = adjusted_together(contrasts, settings.margin)
    early = [side for side in sides if side.run.stopped_early is not None]
    if settings.sequential or early:
        together = sequential_contrasts(store, together, settings.margin)
    return Compared(
        sides=tuple(sides),
        contrasts=tuple(together),
        warnings=(*refused, *warnings, *map(_early_warning, early)),
        overruled=tuple(refused),
    )


def _early_warning(side: Side) -> str:
    return (
        f"the run {side.name!r} was stopped early, as soon as its question was answered: the"
        " evidence decides, and p values, rates and groups of so few cases would say too much"
    )


def obstacles_among(store: Store, sides: Sequence[Side]) -> tuple[list[str], list[str]]:
    """Return why runs cannot be compared with each other, and what else to know of them."""
    warnings: dict[str, None] = {}
    refused: dict[str, None] = {}
    for first, second in combinations(sides, 2):
        against, noted = obstacles(store, first, second)
        refused.update(dict.fromkeys(against))
        warnings.update(dict.fromkeys(noted))
    return list(refused), list(warnings)


def sides_of(store: Store, references: Sequence[str]) -> list[Side]:
    """Return the runs that a person named: at least two, and none twice."""
    if not 2 <= len(references) <= MOST_RUNS:
        raise UsageError(f"name 2 to {MOST_RUNS} runs to compare, not {len(references)}")
    return sides_of_views([view_of(store, reference) for reference in references])


def sides_of_views(views: Sequence[RunView]) -> list[Side]:
    """Return runs with names that tell them apart; none may be there twice."""
    ids = [view.run.id for view in views]
    names = [view.run.name for view in views]
    for view in views:
        if ids.count(view.run.id) > 1:
            raise UsageError(
                f"the run {view.run.name!r} is named twice; it cannot be compared with itself"
            )
    return [
        Side(
            run=view.run,
            name=name if names.count(name) == 1 else f"{name} ({view.run.id})",
            candidate=view.candidate,
            suite=view.suite,
            totals=view.summary.totals,
            tags=tuple(tag for tag in view.summary.groups if tag != METRIC),
        )
        for view, name in zip(views, names, strict=True)
    ]


def case_pairs(
    store: Store, first: Side, second: Side, change: Change | None = None, *, after: int = -1
) -> Iterator[CasePair]:
    """Yield the cases that count in both runs, all or of one kind, in the order of the first."""
    return map(_case_pair, store.pairs.iter_cases(first.run, second.run, change, after=after))


def listed_pairs(
    store: Store,
    sides: Sequence[Side],
    pair_query: PairQuery,
    limit: int,
    after: PairCursor,
) -> tuple[list[CasePair], PairCursor | None]:
    """Return a page of the cases that count in the first two runs, and where the next begins."""
    pairs, following = store.paired_listing.page(
        sides[0].run, sides[1].run, pair_query, limit, after
    )
    return list(map(_case_pair, pairs)), following


def missed_gates(gates: Iterable[str], compared: Compared) -> list[str]:
    """Return the gates that do not hold for the first run against each of the others."""
    return [result.gate for result in gate_results(gates, compared) if not result.passed]


def gate_results(gates: Iterable[str], compared: Compared) -> list[GateResult]:
    """Return what came of each gate, for the first run against each of the others."""
    rows = [
        contrast_gate_names(contrast)
        for contrast in compared.contrasts
        if contrast.first is compared.sides[0]
    ]
    results = []
    ranges = _ranges(compared)
    for gate in gates:
        expression = Expression(gate)
        for names in rows:
            expression.check_names(names)
        refuse_impossible(gate, ranges)
        chances = [luck for names in rows if (luck := luck_of(expression, names)) is not None]
        missed = [names for names in rows if not expression.surely_holds(names)]
        notes = dict.fromkeys(unknown_words(expression, names) for names in missed)
        results.append(
            GateResult(
                gate=gate,
                passed=not missed,
                note="; ".join(filter(None, notes)),
                luck=max(chances, default=None),
            )
        )
    return results


def _ranges(compared: Compared) -> Ranges:
    """Return what the numbers of these comparisons can be; a penalty that counted opens them."""
    tags: dict[str, dict[str, None]] = {}
    for contrast in compared.contrasts:
        for tag, rows in contrast.groups.items():
            tags.setdefault(tag, {}).update(dict.fromkeys(rows))
    plain = all(
        (paired.estimate is None or paired.estimate.bounded)
        and all(0 <= rate <= 1 for rate in (paired.first, paired.second) if rate is not None)
        for paired in (contrast.paired for contrast in compared.contrasts)
    )
    return comparison_ranges(tags, plain=plain)


def contrast_gate_names(contrast: Contrast) -> Mapping[str, Any]:
    """Return what a gate may name: the difference, counts, and differences by tag and value."""
    paired = contrast.paired
    names: dict[str, Any] = {
        "difference": _ranged(contrast),
        "verdict": contrast.verdict,
        "p": contrast.adjusted_p,
        "effect": paired.effect,
        "first": paired.first,
        "second": paired.second,
        "cases": paired.n,
        "better": paired.better,
        "worse": paired.worse,
        "to_right": contrast.flips.to_right,
        "to_wrong": contrast.flips.to_wrong,
        "unscored": contrast.left_out.unscored,
        "errors": contrast.left_out.errors,
    }
    for tag, rows in contrast.groups.items():
        names.setdefault(tag, {value: _ranged(group) for value, group in rows.items()})
    return names


def _contrast(store: Store, first: Side, second: Side, settings: CompareSettings) -> Contrast:
    pairs = store.pairs.columns(first.run, second.run)
    whole = PairedRowSums()
    counts = (
        _add_counts(store, first, second, whole) if pairs is None else add_columns(pairs, whole)
    )
    if not counts.met:
        raise UsageError(f"the runs {first.name!r} and {second.name!r} have no case in common")
    changes = ((kind, store.pairs.largest_changes(first.run, second.run, kind, settings.shown))
               for kind in KINDS[:4])  # fmt: skip
    whole_contrast = whole.contrast(settings.method)
    return Contrast(
        first=first,
        second=second,
        paired=whole_contrast.paired,
        flips=whole_contrast.flips,
        extremes=whole_contrast.extremes,
        left_out=LeftOut(
            unscored=whole.unscored,
            errors=counts.errors,
            only_first=counts.only_first,
            only_second=store.results.count(second.run.id) - counts.met,
        ),
        groups={tag: _groups(store, first, second, tag, settings.method) for tag in settings.by},
        examples={kind: tuple(map(_case_pair, pairs)) for kind, pairs in changes},
    )


def _add_counts(store: Store, first: Side, second: Side, sums: PairedRowSums) -> MetCases:
    """Add all pairs of two runs in rows, and count who has them."""
    counts = MetCases()
    for row, count, _, cluster in store.pairs.iter_counts(first.run, second.run):
        if row.status_2 is None:
            counts.only_first += count
            continue
        counts.met += count
        if ValueStatus.ERROR in (row.status, row.status_2):
            counts.errors += count
        else:
            sums.add(row, count, cluster)
    return counts


def _groups(
    store: Store, first: Side, second: Side, tag: str, method: Method
) -> dict[str, GroupContrast]:
    rows: dict[str, PairedRowSums] = {}
    pairs = store.pairs.columns(first.run, second.run)
    if pairs is not None:
        column = pairs.first.tag(tag)
        for name in sorted({name for values in column.values for name in values})[:MAX_ROWS]:
            rows[name] = PairedRowSums()
            add_columns(pairs, rows[name], column.mask(partial(operator.eq, name)))
        return _shown_groups(rows, method)
    for row, count, name, cluster in store.pairs.iter_counts(first.run, second.run, tag=tag):
        if row.status_2 is None or ValueStatus.ERROR in (row.status, row.status_2):
            continue
        if name in rows or len(rows) < MAX_ROWS:
            rows.setdefault(name, PairedRowSums()).add(row, count, cluster)
    return _shown_groups(rows, method)


def _shown_groups(rows: Mapping[str, PairedRowSums], method: Method) -> dict[str, GroupContrast]:
    return {name: row.contrast(method) for name, row in rows.items() if any(row.seen.pairs.changes)}


def _case_pair(case: StoredPair) -> CasePair:
    row = case.row
    assert row.value is not None
    assert row.value_2 is not None
    assert row.full_2 is not None
    return CasePair(
        id=case.id,
        position=case.position,
        tags=case.tags,
        first=row.value,
        second=row.value_2,
        full=row.full,
        full_2=row.full_2,
        weight=row.weight,
    )


def _ranged(group: GroupContrast) -> dict[str, Any]:
    low, high = group.interval or (None, None)
    return {"value": group.paired.difference, "low": low, "high": high}


def _tags(sides: Sequence[Side], by: Sequence[str], gates: Iterable[str]) -> tuple[str, ...]:
    """Return the tags to break down by, after making sure that gates and tags can be read."""
    available = dict.fromkeys(name for side in sides for name in side.tags)
    for tag in by:
        if tag not in available:
            there = f"there are: {', '.join(available)}" if available else "these runs have none"
            raise UsageError(f"no breakdown by {tag!r} ({there})")
    words = {word for gate in gates for word in re.findall(r"\w+", Expression(gate).text)}
    return tuple(dict.fromkeys([*by, *(tag for tag in available if tag in words)]))


def adjusted_together(contrasts: Sequence[Contrast], margin: float | None = None) -> list[Contrast]:
    """Adjust every row for all others, so that all that is said of them errs as one test would."""
    rows: list[GroupContrast] = []
    for contrast in contrasts:
        rows.append(contrast)
        rows.extend(group for groups in contrast.groups.values() for group in groups.values())
    p_values = [row.decision_p for row in rows]
    tested = sum(p is not None for p in p_values)
    adjusted = iter(holm(p_values))

    def settled(row: GroupContrast) -> GroupContrast:
        return replace(row, adjusted_p=next(adjusted), tested=tested, margin=margin)

    adjusted_contrasts = []
    for contrast in contrasts:
        whole = settled(contrast)
        groups = {
            tag: {name: settled(group) for name, group in rows.items()}
            for tag, rows in contrast.groups.items()
        }
        assert isinstance(whole, Contrast)
        adjusted_contrasts.append(replace(whole, groups=groups))
    return adjusted_contrasts
