"""Later findings on a run: labels, audits of its judge, and what follows from them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from proctor.contracts.report import RunView
from proctor.core.fold import parse_fold
from proctor.core.run import CorrectedScore
from proctor.core.variance import VarianceParts, variance_budget
from proctor.store.rows import ResultRow
from proctor.store.store import Store

if TYPE_CHECKING:
    from proctor.core.audit import JudgeAudit

MOST_ROWS = 50_000
"""Maximum number of cases for which a run of an earlier version is summed up again."""


def with_later_findings(store: Store, view: RunView) -> RunView:
    """Return a run with corrected scores, the newest audit of its judge, and its uncertainty."""
    summary, totals = view.summary, view.summary.totals
    audit = newest_audit(store, view.run.id)
    parts = summary.parts
    if parts is None and totals.cases <= MOST_ROWS:
        parts = VarianceParts()
        for _ in counted_rows(store.results.iter_rows(view.run.id), parts):
            pass
    budget = None
    if parts is not None:
        mean = parse_fold(view.suite.reduce).pick == "avg"
        budget = variance_budget(
            parts,
            totals.interval,
            totals.attempts / totals.cases if mean and totals.cases else 1.0,
            None if audit is None else audit.noise_variance,
            summary.usage,
        )
    corrected = _corrected(store, view.run.id)
    return replace(
        view, summary=replace(summary, corrected=corrected, audit=audit, variance=budget)
    )


def _corrected(store: Store, run_id: str) -> Mapping[str, CorrectedScore]:
    """Return the scores corrected by labels; without labels nothing is loaded."""
    if not store.labels.criteria(run_id):
        return {}
    from proctor.engine.labels.agreement import corrected_scores

    return corrected_scores(store, run_id)


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
