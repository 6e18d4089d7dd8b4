"""Pairing of a battle: the stored attempts of runs at the same questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.comparison import Comparison
from proctor.core.fingerprint import digest
from proctor.core.run import Run, sound_summary
from proctor.core.suite import Case
from proctor.errors import UsageError
from proctor.store.store import Store


@dataclass(frozen=True, slots=True)
class BattleJob:
    """One comparison to make: the attempts, in their order."""

    case: Case
    first: str
    second: str
    attempts: tuple[Attempt, Attempt]

    def turned(self) -> "BattleJob":
        """Return the same two attempts in the other order."""
        return BattleJob(self.case, self.second, self.first, self.attempts[::-1])


@dataclass(frozen=True, slots=True)
class BattleEntry:
    """The attempts of a run at one case."""

    case: Case
    attempts: Sequence[Attempt]


Entries = Mapping[str, Mapping[str, BattleEntry]]
"""Entries by run id and case id."""


def chosen(store: Store, runs: Sequence[str]) -> list[Run]:
    """Return the requested runs, at least two and none twice."""
    stored_runs = [store.runs.get(reference) for reference in runs]
    if len(stored_runs) < 2:
        raise UsageError("a battle needs at least two runs")
    ids = [run.id for run in stored_runs]
    for run in stored_runs:
        if ids.count(run.id) > 1:
            raise UsageError(
                f"the run {run.name!r} is named twice; it cannot be compared with itself"
            )
    return stored_runs


def entries_of(
    store: Store, runs: Sequence[Run], attempts: int | None
) -> tuple[Entries, list[str]]:
    """Return the entries of runs, with a limit of attempts per case, and warnings."""
    entries = {
        run.id: {
            row.case.id: BattleEntry(row.case, [attempt for attempt, _ in row.attempts[:attempts]])
            for row in store.attempts.iter_cases(run.id)
        }
        for run in runs
    }
    warnings: list[str] = []
    for one, two in combinations(runs, 2):
        warnings += _unlike(one, two, entries)
    return entries, warnings


def paired(entries: Entries, one: str, two: str) -> Iterator[tuple[Case, Attempt, Attempt]]:
    """Yield the paired attempts of two runs, in the order of the first run."""
    for case_id, entry in entries[one].items():
        other = entries[two].get(case_id)
        if other is None or not _same(entry, other):
            continue
        for first, second in zip(entry.attempts, other.attempts, strict=False):
            yield entry.case, first, second


def jobs_of(
    entries: Entries, runs: Sequence[str], both_orders: bool, *, alternate: bool = False
) -> Iterator[BattleJob]:
    """Yield every possible comparison, both orders of two attempts together.

    With one order, ``alternate`` lets a hash decide who is shown first, so that neither run has
    the better place more often; it is the same whichever run is named first.
    """
    for one, two in combinations(runs, 2):
        for case, first, second in paired(entries, one, two):
            if not _is_finished(first) or not _is_finished(second):
                continue
            job = BattleJob(case, one, two, (first, second))
            turned = alternate and not both_orders and _is_turned(job)
            yield job.turned() if turned else job
            if both_orders:
                yield job.turned()


def _is_turned(job: BattleJob) -> bool:
    """Tell by a hash whether the second answer is to be shown first."""
    sides = [[job.first, job.attempts[0].index], [job.second, job.attempts[1].index]]
    ordered = sorted(sides)
    lower_first = int(digest("order", job.case.id, ordered)[0], 16) % 2 == 0
    return (sides == ordered) != lower_first


def _unlike(one: Run, two: Run, entries: Entries) -> Iterator[str]:
    first, second = entries[one.id], entries[two.id]
    both = f"{one.name!r} and {two.name!r}"
    shared = first.keys() & second.keys()
    same = sum(_same(first[case], second[case]) for case in shared)
    if not same:
        what = "question" if shared else "case"
        raise UsageError(
            f"the runs {both} have no {what} in common (fix: run both on the same suite)"
        )
    yield from _left_out(both, len(first.keys() ^ second.keys()), len(shared) - same)
    unfinished = sum(
        not (_is_finished(a) and _is_finished(b)) for _, a, b in paired(entries, one.id, two.id)
    )
    yield from _unmade(both, unfinished)


def stored_warnings(store: Store, runs: Sequence[Run]) -> list[str]:
    """Return what a battle of runs leaves out, as far as their results tell; no case is read."""
    warnings: list[str] = []
    for one, two in combinations(runs, 2):
        both = f"{one.name!r} and {two.name!r}"
        if one.suite_key != two.suite_key:
            shared = sum(1 for _ in store.pairs.iter_met(one, two))
            alone = store.results.count(one.id) + store.results.count(two.id) - 2 * shared
            changed = store.pairs.iter_changed_cases(one.suite_key, two.suite_key)
            unlike = sum(first.messages != second.messages for first, second in changed)
            warnings += _left_out(both, alone, unlike)
        summaries = [sound_summary(store.summaries.get(run.id)) or {} for run in (one, two)]
        errors = sum(summary.get("totals", {}).get("errors") or 0 for summary in summaries)
        warnings += _unmade(both, errors)
    return warnings


def compared_so_far(
    store: Store, runs: Sequence[Run], comparisons: Iterable[Comparison]
) -> Iterator[str]:
    """Say of which two runs a stored battle compared only some of the cases that both have."""
    compared: dict[frozenset[str], set[str]] = {}
    for comparison in comparisons:
        pair = frozenset((comparison.first, comparison.second))
        compared.setdefault(pair, set()).add(comparison.case_id)
    for one, two in combinations(runs, 2):
        cases = len(compared.get(frozenset((one.id, two.id)), ()))
        if one.suite_key == two.suite_key:
            shared = store.results.count(one.id)
        else:
            shared = sum(1 for _ in store.pairs.iter_met(one, two))
        if 0 < cases < shared:
            both = f"{one.name!r} and {two.name!r}"
            yield f"{cases} of {shared} cases that {both} share were compared"


def _left_out(both: str, alone: int, unlike: int) -> Iterator[str]:
    if alone:
        yield f"{alone} cases are in only one of {both}; they are left out"
    if unlike:
        yield f"{unlike} cases of {both} have one id and two questions; they are left out"


def _unmade(both: str, attempts: int) -> Iterator[str]:
    if attempts:
        yield f"{attempts} attempts of {both} could not be made; run the suite again to make them"


def _same(one: BattleEntry, two: BattleEntry) -> bool:
    return one.case.messages == two.case.messages


def _is_finished(attempt: Attempt) -> bool:
    return attempt.status in (AttemptStatus.ANSWERED, AttemptStatus.UNANSWERED)
