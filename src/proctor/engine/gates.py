"""Gates: conditions that a run's numbers must fulfil."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.core.expression import Expression
from proctor.core.run import Group, Summary


def check_gates(texts: Iterable[str]) -> list[Expression]:
    """Read gates before anything is run, so that a misspelt one costs nothing."""
    return [Expression(text) for text in texts]


def missed_gates(gates: Sequence[Expression], summary: Summary) -> list[str]:
    """Return the gates that do not hold; a number that is not known misses its gate."""
    names = gate_names(summary)
    return [gate.text for gate in gates if not gate.holds(names)]


def gate_names(summary: Summary) -> Mapping[str, Any]:
    """Return what a gate may name: the totals, the measures, and groups by tag and value."""
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
        names[name] = {"value": found.value, "low": low, "high": high, "n": found.n}
    for tag, rows in summary.groups.items():
        names.setdefault(tag, {value: _ranged(group) for value, group in rows.items()})
    return names


def _ranged(group: Group) -> dict[str, Any]:
    low, high = group.interval or (None, None)
    return {"value": group.rate, "low": low, "high": high}
