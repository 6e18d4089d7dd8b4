"""The end of a run, and later findings on it: labels, audits of its judge, and what follows."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from proctor.contracts.report import RunView
from proctor.core.fold import parse_fold
from proctor.core.run import CaseResult, CorrectedScore, Run, RunStatus, Summary, Totals
from proctor.core.suite import Suite
from proctor.core.variance import VarianceParts, variance_budget
from proctor.engine.run.settings import MAX_UNSCORED
from proctor.records import dataclass
from proctor.store.rows import ResultRow
from proctor.store.store import Store

if TYPE_CHECKING:
    from proctor.core.audit import JudgeAudit, NoiseFloor
    from proctor.core.scan import ScanFindings

MOST_ROWS = 50_000
"""Maximum number of cases for which a run of an earlier version is summed up again."""
MOST_PANELS = 500
"""Of how many cases, picked all over a run, the single rulings are read."""


def with_later_findings(store: Store, view: RunView) -> RunView:
    """Return a run with corrected scores, the newest audit of its judge, scans, its uncertainty."""
    summary, totals = view.summary, view.summary.totals
    reviewed = store.runs.is_reviewed(view.run.id)
    audit = newest_audit(store, view.run.id) if reviewed else None
    parts = parts_of(store, view)
    budget, averaged = None, averaged_attempts(view)
    if parts is not None:
        budget = variance_budget(
            parts,
            totals.interval,
            averaged,
            audit.noise_variance if audit is not None else panel_noise(store, view.run),
            summary.usage,
        )
    corrected = _corrected(store, view.run.id) if reviewed else {}
    scan = _scanned(store, view) if reviewed else None
    later = replace(
        summary, corrected=corrected, audit=audit, averaged=averaged, variance=budget, scan=scan
    )
    return replace(view, summary=later)


def parts_of(store: Store, view: RunView) -> VarianceParts | None:
    """Return the sums of a run's variance, from its cases where an earlier version kept none."""
    parts = view.summary.parts
    if parts is None and view.summary.totals.cases <= MOST_ROWS:
        parts = VarianceParts()
        for _ in counted_rows(store.results.iter_rows(view.run.id), parts):
            pass
    return parts


def averaged_attempts(view: RunView) -> float:
    """Return of how many attempts the value of a case is the mean; 1 where it is that of one."""
    totals = view.summary.totals
    is_mean = parse_fold(view.suite.reduce).pick == "avg"
    return totals.attempts / totals.cases if is_mean and totals.cases else 1.0


def noise_floor(view: RunView, audit: "JudgeAudit") -> "NoiseFloor | None":
    """Return how far the rate of a run would move if this judge judged it again."""
    summary = replace(view.summary, audit=audit, averaged=averaged_attempts(view))
    return summary.noise_floor(summary.totals)


def _scanned(store: Store, view: RunView) -> "ScanFindings | None":
    """Return what scans of a run come to; nothing is loaded where there were none."""
    if not store.scans.of_run(view.run.id):
        return None
    from proctor.engine.scan.findings import findings_of

    return findings_of(store, view)


def _corrected(store: Store, run_id: str) -> Mapping[str, CorrectedScore]:
    """Return the scores corrected by labels; without labels of points nothing is loaded."""
    if not store.labels.criteria(run_id):
        return {}
    from proctor.engine.labels.agreement import corrected_scores

    return corrected_scores(store, run_id)


def panel_noise(store: Store, run: Run) -> float | None:
    """Return the variance that single rulings give the value of a case, where several were made.

    A score of several rulings is their mean, so that it varies less; weights are left out.
    """
    judges = run.settings.get("judges")
    several = isinstance(judges, list | tuple) and len(judges) > 1
    if not several and not run.settings.get("repeats"):
        return None
    from statistics import fmean, variance

    full: dict[tuple[int, int], float] = {}
    noise: dict[tuple[int, int], float] = {}
    for position, number, out_of, points in store.criterion_points.panels(run.id, MOST_PANELS):
        place = (position, number)
        full[place] = full.get(place, 0.0) + out_of
        if len(points) > 1:
            noise[place] = noise.get(place, 0.0) + variance(points) / len(points)
    return (
        fmean(noise.get(place, 0.0) / marks**2 for place, marks in full.items()) if full else None
    )


def newest_audit(store: Store, run_id: str) -> "JudgeAudit | None":
    """Return the newest readable audit of a run, or None."""
    for document in store.audits.of_run(run_id):
        from proctor.core.audit import JudgeAudit

        try:
            return JudgeAudit.of(document)
        except (LookupError, TypeError, ValueError, AttributeError):
            continue
    return None


def counted_rows(rows: Iterable[ResultRow], parts: VarianceParts) -> Iterator[ResultRow]:
    """Yield rows unchanged, and add those with a value to the variance."""
    for row in rows:
        if row.value is not None and row.full > 0:
            parts.add(row.full * row.weight, row.spread * row.weight)
        yield row


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended, and how much may be missing in a complete run."""

    stopped: bool = False
    max_unscored: float = MAX_UNSCORED

    def status(self, totals: Totals) -> RunStatus:
        """Return incomplete if attempts failed, or more cases than allowed are unscored."""
        unscored = totals.cases_unscored > self.max_unscored * totals.cases
        lacks = self.stopped or totals.errors or unscored
        return RunStatus.INCOMPLETE if lacks else RunStatus.COMPLETE


def concluded(
    store: Store,
    run: Run,
    summary: Summary,
    header: Suite,
    in_memory: Callable[[], Iterator[CaseResult]] | None = None,
) -> RunView:
    """Store the numbers of a run whose results are stored, and may be kept as well."""
    done = replace(run, finished=time.time())
    with store.batch():
        store.summaries.save(run.id, summary.to_json())
        store.runs.save(done)
    results = in_memory or partial(stored_results, store, run.id, header)
    return with_later_findings(
        store, RunView(run=done, summary=summary, suite=header, results=results)
    )


def stored_results(store: Store, run_id: str, header: Suite) -> Iterator[CaseResult]:
    """Yield the cases of a run as they are stored."""
    from proctor.engine.run.stored_view import results_of

    return results_of(store, run_id, header)
