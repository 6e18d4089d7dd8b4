"""Gates: conditions on a run's numbers."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.core.expression import Expression
from proctor.core.run import CorrectedScore, Group, Measured, Summary, Totals
from proctor.core.suite import Suite
from proctor.engine.run.aggregate import METRIC, RunTotals

_COUNTS = ("cases", "attempts", "unanswered", "errors", "full")
"""What a gate may name besides the rate, and unscored cases cannot change."""
_UNLABELLED = CorrectedScore(
    raw=None,
    value=None,
    interval=None,
    bias=None,
    trust=0.0,
    labelled=0,
    cases=0,
    unlike=None,
)


def check_gates(texts: Iterable[str], suite: Suite, measures: Iterable[str]) -> None:
    """Check gates against empty numbers before a run, so that a misspelt one costs nothing."""
    nothing = Group(score=0.0, full=0.0, rate=None, spread=0.0, interval=None, cases=0)
    rows: dict[str, dict[str, Group]] = {METRIC: {}}
    for case in suite.cases:
        for tag, values in case.tags.items():
            rows.setdefault(tag, {}).update(dict.fromkeys(values, nothing))
        rows[METRIC].update(dict.fromkeys((c.label for c in case.criteria), nothing))
    criteria = dict.fromkeys(c.id for case in suite.cases for c in case.criteria)
    summary = Summary(
        totals=RunTotals().summary().totals,
        groups=rows,
        corrected=dict.fromkeys(criteria, _UNLABELLED),
        measures={name: Measured(value=None, interval=None, n=0) for name in measures},
    )
    missed_gates(texts, summary)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """Result of one gate, and how unscored cases could change it."""

    gate: str
    passed: bool
    note: str = ""
    """How far the rate is open, where cases are unscored, and what that means for the gate."""

    @property
    def words(self) -> str:
        """Return the gate with its note."""
        return f"{self.gate} ({self.note})" if self.note else self.gate


def missed_gates(gates: Iterable[str], summary: Summary) -> list[str]:
    """Return the gates that do not hold; a number that is not known misses its gate."""
    return [result.gate for result in gate_results(gates, summary) if not result.passed]


def gate_results(gates: Iterable[str], summary: Summary) -> list[GateResult]:
    """Return what came of each gate; a number that is not known misses its gate."""
    names = summary_gate_names(summary)
    results = []
    for gate in gates:
        expression = Expression(gate)
        passed = expression.holds(names)
        note = _openness(expression, passed, names, summary.totals)
        results.append(GateResult(gate=gate, passed=passed, note=note))
    return results


def _openness(
    expression: Expression, passed: bool, names: Mapping[str, Any], totals: Totals
) -> str:
    """Say what the unscored cases could still make of a gate; nothing where there are none."""
    if totals.bounds is None or not (totals.cases_unscored or totals.unscored):
        return ""
    worst, best = totals.bounds
    count = totals.cases_unscored
    cases = f"{count} case{' is' if count == 1 else 's are'} unscored"
    many = cases if count else "attempts are unscored"
    open_rate = f"{many}, so the rate may be anything in [{worst:.4f}, {best:.4f}]"
    if not _is_about_the_rate(expression.tree):
        return f"{open_rate}; whether that would change it is not known"
    ends = [expression.holds({**names, "rate": {"value": end}}) for end in totals.bounds]
    if passed:
        return f"{open_rate}; it {'still holds' if all(ends) else 'would be missed'} at the worst"
    return f"{open_rate}; it {'would hold' if any(ends) else 'is missed even'} at the best"


def _is_about_the_rate(tree: ast.expr) -> bool:
    """Tell whether all that an expression names is the rate itself, or a count of what is there."""
    if any(isinstance(part, ast.Attribute) for part in ast.walk(tree)):
        return False
    named = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}
    return "rate" in named and named <= {"rate", *_COUNTS}


def summary_gate_names(summary: Summary) -> Mapping[str, Any]:
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
    names["corrected"] = _corrected(summary)
    for name, measured in summary.measures.items():
        low, high = measured.interval or (None, None)
        names[name.replace("@", "_at_")] = {
            "value": measured.value,
            "low": low,
            "high": high,
            "n": measured.n,
        }
    for tag, rows in summary.groups.items():
        names.setdefault(tag, {value: _ranged(group) for value, group in rows.items()})
    return names


def _corrected(summary: Summary) -> dict[str, Any]:
    """Return the score that labels have corrected, and by criterion where there are several."""
    rows: dict[str, Any] = {"value": None, "low": None, "high": None, "labelled": 0}
    for name, score in reversed(list(summary.corrected.items())):
        low, high = score.interval or (None, None)
        row = {"value": score.value, "low": low, "high": high, "labelled": score.labelled}
        rows |= row
        rows.setdefault(name, row)
    return rows


def _ranged(group: Group) -> dict[str, Any]:
    low, high = group.interval or (None, None)
    return {"value": group.rate, "low": low, "high": high}
