"""Gates: conditions that a run's numbers must fulfil."""

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.core.expression import Expression
from proctor.core.run import Group, Measured, Summary
from proctor.core.suite import Suite
from proctor.engine.aggregate import METRIC, Summer


def check_gates(texts: Iterable[str], suite: Suite, measures: Iterable[str]) -> None:
    """Try gates on empty numbers before anything is run, so that a misspelt one costs nothing."""
    nothing = Group(score=0.0, full=0.0, rate=None, spread=0.0, interval=None, cases=0)
    rows: dict[str, dict[str, Group]] = {METRIC: {}}
    for case in suite.cases:
        for tag, values in case.tags.items():
            rows.setdefault(tag, {}).update(dict.fromkeys(values, nothing))
        rows[METRIC].update(dict.fromkeys((c.label for c in case.criteria), nothing))
    summary = Summary(
        totals=Summer().summary().totals,
        groups=rows,
        measures={name: Measured(value=None, interval=None, n=0) for name in measures},
    )
    missed_gates(texts, summary)


def missed_gates(gates: Iterable[str], summary: Summary) -> list[str]:
    """Return the gates that do not hold; a number that is not known misses its gate."""
    names = gate_names(summary)
    return [gate for gate in gates if not Expression(gate).holds(names)]


def gate_names(summary: Summary) -> Mapping[str, Any]:
    """Return what a gate may name: the totals, the measures, and groups by tag and value.

    A measure called as one of the totals hides it; ``pass@1`` is written ``pass_at_1``.
    """
    totals = summary.totals
    names: dict[str, Any] = {
        "rate": _ranged(totals),
        "score": totals.score,
        "full": totals.full,
        "spread": totals.spread,
        "cases": totals.cases,
        "attempts": totals.attempts,
        "unanswered": totals.unanswered,
        "unscored": totals.unscored,
        "errors": totals.errors,
    }
    for name, found in summary.measures.items():
        low, high = found.interval or (None, None)
        names[name.replace("@", "_at_")] = {
            "value": found.value,
            "low": low,
            "high": high,
            "n": found.n,
        }
    for tag, rows in summary.groups.items():
        names.setdefault(tag, {value: _ranged(group) for value, group in rows.items()})
    return names


def _ranged(group: Group) -> dict[str, Any]:
    low, high = group.interval or (None, None)
    return {"value": group.rate, "low": low, "high": high}
