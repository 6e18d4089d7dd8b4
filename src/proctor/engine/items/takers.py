"""Takers of a suite: candidates with their stored runs and scores."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from proctor.core.case_value import ValueStatus
from proctor.core.names import candidate_label
from proctor.core.run import Run, RunStatus
from proctor.errors import StoreError, UsageError
from proctor.io.concurrency import batched
from proctor.store.rows import SuiteRow
from proctor.store.store import Store

AT_ONCE = 500
MOST_RUNS = 200
"""Maximum number of runs of a suite, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenCase:
    """A case with each candidate's score, from 0 to 1."""

    case_id: str
    position: int
    """Its position in the first run that has it."""
    run_id: str
    """That run."""
    scores: tuple[float | None, ...]
    """None where a candidate has no score."""


@dataclass(frozen=True, kw_only=True)
class Takers:
    """The candidates with their runs, ordered by name."""

    store: Store
    runs: Sequence[Run]

    @cached_property
    def names(self) -> list[str]:
        """Return the candidates; several runs of one candidate count as one."""
        return sorted({candidate_label(run.candidate) for run in self.runs})

    def cases(self) -> Iterator[TakenCase]:
        """Yield all cases, those of the first run first, in the order of the runs."""
        for number, run in enumerate(self.runs):
            rows = self.store.results.iter_rows(run.id)
            for chunk in batched(rows, AT_ONCE):
                counted_rows = [row for row in chunk if row.status is not ValueStatus.SHOWN]
                ids = [row.case_id for row in counted_rows]
                before = self._ids_in(self.runs[:number], ids)
                mine = [row for row in counted_rows if row.case_id not in before]
                yield from self._taken(run, number, [(row.case_id, row.position) for row in mine])

    def _ids_in(self, runs: Sequence[Run], ids: Sequence[str]) -> set[str]:
        return {
            case_id for run in runs for case_id in self.store.results.values_of(run.id, list(ids))
        }

    def _taken(
        self, run: Run, number: int, cases: Sequence[tuple[str, int]]
    ) -> Iterator[TakenCase]:
        ids = [case_id for case_id, _ in cases]
        if not ids:
            return
        own = self._contents(run, ids)
        shares: dict[str, dict[str, list[float]]] = {case_id: {} for case_id in ids}
        for other in self.runs[number:]:
            name = candidate_label(other.candidate)
            contents = own if other.suite_key == run.suite_key else self._contents(other, ids)
            for case_id, (value, full) in self.store.results.values_of(other.id, ids).items():
                if value is not None and full > 0 and contents.get(case_id) == own.get(case_id):
                    share = min(1.0, max(0.0, value / full))
                    shares[case_id].setdefault(name, []).append(share)
        for case_id, position in cases:
            scores_by_name = shares[case_id]
            scores = [
                fmean(scores_by_name[name]) if name in scores_by_name else None
                for name in self.names
            ]
            yield TakenCase(case_id=case_id, position=position, run_id=run.id, scores=tuple(scores))

    def _contents(self, run: Run, ids: Sequence[str]) -> dict[str, str]:
        """Return the hash of each case: an edited case counts as another one."""
        if all(other.suite_key == run.suite_key for other in self.runs):
            return {}
        return self.store.suites.case_keys(run.suite_key, ids)


def chosen_runs(store: Store, references: Sequence[str]) -> list[Run]:
    """Return the requested runs, single ones or all of a suite, none twice."""
    chosen: dict[str, Run] = {}
    for reference in references:
        for run in _meant(store, reference):
            chosen.setdefault(run.id, run)
    runs = [run for run in chosen.values() if store.summaries.get(run.id) is not None]
    if not runs:
        raise UsageError("none of these runs has numbers yet")
    names = {run.suite for run in runs}
    if len(names) > 1:
        raise UsageError(
            f"these runs are of {len(names)} suites: {', '.join(sorted(names)[:5])}"
            " (fix: name the runs of one)"
        )
    return runs


def _meant(store: Store, reference: str) -> list[Run]:
    """Return the run with a name or id, else the runs of a suite with that name, newest first."""
    try:
        return [store.runs.get(reference)]
    except StoreError as error:
        rows = [row for row in store.suites.newest() if row.name == reference]
        runs = ended_runs(store, rows or store.suites.matching(reference))
        if not runs:
            raise StoreError(f"{error}; nor is there a suite of this name with runs") from None
        return runs


def ended_runs(store: Store, suites: Iterable[SuiteRow]) -> list[Run]:
    """Return the runs of some suites, or of versions of one, that ended, newest first."""
    runs = [
        run
        for row in suites
        for run in store.runs.newest(suite_key=row.key, limit=MOST_RUNS)
        if run.status in (RunStatus.COMPLETE, RunStatus.INCOMPLETE)
    ]
    return sorted(runs, key=lambda run: -run.started)[:MOST_RUNS]
