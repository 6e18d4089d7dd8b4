"""Comparing run by run as if the cases came one after the other: evidence at any time."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proctor.core.case_value import ValueStatus, least_value
from proctor.core.random_order import ORDER_SEED, order_key
from proctor.core.run import Run
from proctor.core.suite import Case
from proctor.engine.compare.results import Contrast, share
from proctor.engine.compare.verdict import SequentialEvidence
from proctor.stats.sequential import SURE, SequentialComparison, ValueRange
from proctor.store.rows import PairedRow
from proctor.store.store import Store


@dataclass(frozen=True, slots=True)
class PairedEnds:
    """Ends of the difference of one case, and its weight."""

    low: float
    high: float
    weight: float


def sequential_contrasts(
    store: Store, contrasts: Sequence[Contrast], margin: float | None
) -> list[Contrast]:
    """Add to each pair of runs what the evidence on their cases comes to."""
    return [_with_evidence(store, contrast, margin, len(contrasts)) for contrast in contrasts]


def order_seed(*runs: Run) -> int:
    """Return the seed of the order in which cases are taken: that of a run that was stopped."""
    for run in runs:
        seed = (run.stopped_early or {}).get("seed")
        if isinstance(seed, int):
            return seed
    return ORDER_SEED


def paired_ends(row: PairedRow) -> PairedEnds | None:
    """Return the ends of the difference of a case; none where it does not count in both runs."""
    absent = row.status_2 is None or row.full_2 is None
    weight = row.weight * row.full
    left_out = {ValueStatus.ERROR, ValueStatus.SHOWN}
    if absent or weight <= 0 or {row.status, row.status_2} & left_out:
        return None
    first = share(row.low, row.full), share(row.high, row.full)
    full_2 = row.full_2 or 0.0
    second = share(row.low_2 or 0.0, full_2), share(row.high_2 or 0.0, full_2)
    return PairedEnds(second[0] - first[1], second[1] - first[0], weight)


def draw_name(case_id: str, cluster: str) -> str:
    """Name what is drawn: a case by itself, or the cluster that it lies in."""
    return f"cluster {cluster}" if cluster else case_id


def merged_ends(ends: Sequence[PairedEnds]) -> PairedEnds:
    """Return the ends of a cluster: the weighted means of those of its cases."""
    if len(ends) == 1:
        return ends[0]
    weight = sum(one.weight for one in ends)
    low = sum(one.low * one.weight for one in ends) / weight
    high = sum(one.high * one.weight for one in ends) / weight
    return PairedEnds(low, high, weight)


@dataclass(frozen=True, slots=True)
class SuiteBounds:
    """What a suite says of its cases before any is answered."""

    least: float
    """The least that a case can be worth, as a part of its full marks: below 0 by penalties."""
    heaviest: float
    """The weight of the heaviest draw: a case, or a cluster of cases."""

    @classmethod
    def of(cls, cases: Iterable[Case]) -> "SuiteBounds":
        """Gather both from all cases."""
        least = heaviest = 0.0
        clusters: dict[str, float] = {}
        for case in cases:
            least = min(least, share(least_value(case), case.full_score))
            weight = max(0.0, case.weight * case.full_score)
            if case.cluster:
                weight = clusters[case.cluster] = clusters.get(case.cluster, 0.0) + weight
            heaviest = max(heaviest, weight)
        return cls(least, heaviest)


def unfinished_draws(store: Store, run: Run) -> list[str]:
    """Return the clusters of a run of which some cases were not asked before it stopped.

    Cases of a cluster come in the order of the suite, so that the first ones may not be like the
    others: a cluster counts, as it did for the run, when its last case is there.
    """
    open_cases: Counter[str] = Counter()
    for _, _, case in store.suites.iter_cases(run.suite_key):
        if case.cluster:
            open_cases[draw_name(case.id, case.cluster)] += 1
    if open_cases:
        open_cases.subtract(
            draw_name(row.case_id, row.cluster)
            for row in store.results.iter_rows(run.id)
            if row.cluster
        )
    return [name for name, number in open_cases.items() if number > 0]


def bounds_of(ends: Sequence[PairedEnds], least: float) -> ValueRange:
    """Return how far a case can change: by full marks, and by all penalties that there are."""
    most = max([1.0 - least, *(max(-one.low, one.high) for one in ends)])
    return ValueRange(-most, most)


def _with_evidence(store: Store, contrast: Contrast, margin: float | None, tested: int) -> Contrast:
    """Add the evidence of all cases that there are; of a run that was stopped, where it stopped.

    The order of a run that was stopped was fixed before its first case. Of other runs there may be
    more cases at the next look, which come in between in any random order: only evidence that does
    not depend on the order is then safe however often somebody looks.
    """
    first, second = contrast.first.run, contrast.second.run
    seed = order_seed(second, first)
    draws: dict[str, list[PairedEnds]] = {}
    for case_id, cluster, row in store.pairs.iter_met(first, second):
        if (case_ends := paired_ends(row)) is not None:
            draws.setdefault(draw_name(case_id, cluster), []).append(case_ends)
    for stopped in (run for run in (first, second) if run.stopped_early is not None):
        for name in unfinished_draws(store, stopped):
            draws.pop(name, None)
    cases = sum(map(len, draws.values()))
    order = sorted(draws, key=lambda name: order_key(name, seed))
    ends = [merged_ends(draws[name]) for name in order]
    reach = SuiteBounds.of(case for _, _, case in store.suites.iter_cases(first.suite_key))
    heaviest = max([reach.heaviest, *(one.weight for one in ends)]) or 1.0
    comparison = SequentialComparison(
        margin=margin, bounds=bounds_of(ends, reach.least), sure=SURE * tested
    )
    for one in ends:
        comparison.add(one.low, one.high, one.weight / heaviest)
    is_ordered = first.stopped_early is not None or second.stopped_early is not None
    look = comparison.look() if is_ordered else comparison.last()
    evidence = SequentialEvidence(
        decision=look.decision,
        odds=look.odds,
        sure=comparison.sure,
        cases=look.cases,
        clustered=cases > len(ends),
        interval=comparison.interval(1 - (1 - 0.95) / tested),
        seed=seed,
    )
    p = min(1.0, tested / look.odds) if look.odds > 0 else 1.0
    return replace(contrast, sequential=evidence, adjusted_p=p, tested=tested)
