"""Gates: conditions on a run's numbers."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from math import inf, sqrt
from statistics import NormalDist
from typing import Any

from proctor import registry
from proctor.core.expression import Expression, raw_value
from proctor.core.fingerprint import digest
from proctor.core.run import METRIC, CorrectedScore, Group, Measured, Summary, Totals
from proctor.core.suite import Suite
from proctor.engine.run.gate_ranges import (
    ANY,
    COUNT,
    NumberRange,
    Ranges,
    comparison_ranges,
    refuse_impossible,
)
from proctor.engine.run.gate_ranges import SHARE as NUMBER_SHARE
from proctor.engine.run.totals import RunTotals
from proctor.errors import UsageError
from proctor.store.store import Store

Ends = tuple[float | None, float | None]
Z95 = NormalDist().inv_cdf(0.975)
LEAST_LUCK = 0.005
"""Less than this is no longer luck."""

_COUNTS = ("cases", "attempts", "unanswered", "errors", "full")
"""What a gate may name besides the rate, and unscored cases cannot change."""
AGAINST = "against"
"""The name under which a gate finds the comparison with an earlier run."""
NO_BASELINE = "there is no baseline yet to compare with"
_COMPARED = (
    *("verdict", "p", "effect", "first", "second", "cases", "better", "worse"),
    *("to_right", "to_wrong", "unscored", "errors"),
)
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


def check_gates(
    texts: Iterable[str], suite: Suite, measures: Mapping[str, Ends], *, against: bool = False
) -> None:
    """Check gates before a run: a name that nobody knows, and what can never be, cost nothing.

    ``measures`` are the ends of each measure's number, by its label; ``against`` tells whether the
    run will be compared with an earlier one.
    """
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
    names, ranges = dict(summary_gate_names(summary)), _ranges(suite, rows, measures)
    if against:
        tags = {tag: values for tag, values in rows.items() if tag != METRIC}
        names[AGAINST] = unpaired_gate_names(tags)
        ranges = {**ranges, AGAINST: comparison_ranges(tags, plain=_is_plain(suite))}
    for text in texts:
        expression = Expression(text)
        if "corrected" in text and "corrected" not in ranges:
            ranges = {**ranges, "corrected": _corrected_ranges(suite)}
        if not against and AGAINST not in names and names_comparison(expression):
            raise UsageError(f"the gate {text!r} needs a run to compare with: --against RUN|FILE")
        expression.check_names(names)
        expression.holds(names)
        refuse_impossible(text, ranges)


def _corrected_ranges(suite: Suite) -> dict[str, Any]:
    """Return what corrected scores can be: shares, or ratings on the scale of their scorer."""
    from proctor.engine.labels.criterion_scale import scale_of

    ends: dict[str, NumberRange] = {}
    scorers: dict[str, NumberRange] = {}
    for criterion in chain.from_iterable(case.criteria for case in suite.cases):
        key = digest(criterion.scorer)
        if key not in scorers:
            scale = scale_of(criterion)
            scorers[key] = NumberRange(scale.points(0.0), scale.points(1.0))
        ends[criterion.id] = _around(ends.get(criterion.id, scorers[key]), scorers[key])
    whole = reduce(_around, ends.values()) if ends else ANY
    return {
        **{name: _corrected_ends(one) for name, one in ends.items()},
        **_corrected_ends(whole),
    }


def _corrected_ends(number_range: NumberRange) -> dict[str, NumberRange]:
    return {**dict.fromkeys(("value", "low", "high"), number_range), "labelled": COUNT}


def _around(one: NumberRange, other: NumberRange) -> NumberRange:
    return NumberRange(min(one.low, other.low), max(one.high, other.high))


def measure_ends(suite: Suite) -> dict[str, Ends]:
    """Return the ends of the number of each measure of a suite, by its label."""
    if not suite.measures:
        return {}
    from proctor.engine.run.measure_sums import measure_label

    return {
        measure_label(spec, suite): registry.class_of("measure", spec).ends
        for spec in suite.measures
    }


def _ranges(
    suite: Suite, rows: Mapping[str, Mapping[str, Group]], measures: Mapping[str, Ends]
) -> Ranges:
    """Return what the numbers of a run can be; penalties leave the ends of a rate open."""
    rate = _ends_of(NUMBER_SHARE if _is_plain(suite) else ANY)
    counts = dict.fromkeys((*_COUNTS, "unscored", "spread"), COUNT)
    groups = {
        tag: dict.fromkeys(values, rate if tag != METRIC else _ends_of(ANY))
        for tag, values in rows.items()
    }
    measured = {
        gate_name(name): _ends_of(
            NumberRange(-inf if low is None else low, inf if high is None else high)
        )
        for name, (low, high) in measures.items()
    }
    return {**groups, **counts, "rate": rate, **measured}


def _is_plain(suite: Suite) -> bool:
    """Tell whether every case is worth something between nothing and full marks."""
    return not any(
        case.null_score < 0 or case.out_of is not None or any(c.weight < 0 for c in case.criteria)
        for case in suite.cases
    )


def _ends_of(number_range: NumberRange) -> dict[str, NumberRange]:
    return {"value": number_range, "low": number_range, "high": number_range, "n": COUNT}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """Result of one gate, and how unscored cases could change it."""

    gate: str
    passed: bool
    note: str = ""
    """How far the rate is open, where cases are unscored, and what that means for the gate."""
    luck: float | None = None
    """How often other cases like these would decide the gate the other way; none where the gate
    names no bare rate, or where that is not known."""

    @property
    def words(self) -> str:
        """Return the gate with its notes."""
        notes = "; ".join(filter(None, (self.note, luck_words(self.luck))))
        return f"{self.gate} ({notes})" if notes else self.gate

    def to_json(self) -> dict[str, Any]:
        """Return what programs are told."""
        return {"gate": self.gate, "held": self.passed, "note": self.note, "luck": self.luck}


def missed_gates(gates: Iterable[str], summary: Summary) -> list[str]:
    """Return the gates that do not hold; a number that is not known misses its gate."""
    return [result.gate for result in gate_results(gates, summary) if not result.passed]


def gate_results(
    gates: Iterable[str],
    summary: Summary,
    against: Mapping[str, Any] | None = None,
    refused: str = "",
) -> list[GateResult]:
    """Return what came of each gate; a number that is not known misses its gate.

    ``against`` is what gates may name of a comparison with an earlier run; where it was
    ``refused``, such gates are missed, and where there is nothing to compare with, they hold.
    """
    names = dict(summary_gate_names(summary))
    if against is not None:
        names[AGAINST] = against
    results = []
    for gate in gates:
        expression = Expression(gate)
        for criterion in _corrected_criteria(expression):
            names["corrected"].setdefault(criterion, _corrected_row(_UNLABELLED))
        if (refused or against is None) and names_comparison(expression):
            note = refused or NO_BASELINE
            results.append(GateResult(gate=gate, passed=not refused, note=note))
            continue
        passed = expression.surely_holds(names)
        openness = _openness(expression, passed, names, summary.totals)
        unknown = "" if passed else unknown_words(expression, names)
        note = "; ".join(filter(None, (openness, unknown)))
        luck = luck_of(expression, names)
        results.append(GateResult(gate=gate, passed=passed, note=note, luck=luck))
    return results


def note_gates(store: Store, run_id: str, results: Sequence[GateResult]) -> None:
    """Store what came of a run's gates beside its numbers."""
    stored = store.summaries.get(run_id)
    if stored is not None:
        store.summaries.save(run_id, {**stored, "gates": [one.to_json() for one in results]})


def _corrected_criteria(expression: Expression) -> Iterator[str]:
    """Yield the criteria of which a gate names the corrected score: some may have no labels yet."""
    for part in ast.walk(expression.tree):
        match part:
            case ast.Attribute(value=ast.Name(id="corrected"), attr=name):
                if name not in _corrected_row(_UNLABELLED):
                    yield name


def names_comparison(expression: Expression) -> bool:
    """Tell whether a gate names a number of the comparison with an earlier run."""
    return any(
        isinstance(part, ast.Name) and part.id == AGAINST for part in ast.walk(expression.tree)
    )


def unpaired_gate_names(tags: Mapping[str, Iterable[str]] | None = None) -> dict[str, Any]:
    """Return what a gate may name of a comparison that is yet to be made."""
    unknown = {"value": None, "low": None, "high": None}
    names: dict[str, Any] = {"difference": unknown, **dict.fromkeys(_COMPARED)}
    for tag, values in (tags or {}).items():
        names.setdefault(tag, dict.fromkeys(values, unknown))
    return names


def unknown_words(expression: Expression, names: Mapping[str, Any]) -> str:
    """Say which numbers of a gate are not known; nothing where all are."""
    unknown = expression.unknown(names)
    if not unknown:
        return ""
    words = f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not known"
    if any(name.split(".")[0] == "corrected" for name in unknown):
        words += " without labels: add some with `proctor labels`, then give the same command"
    return words


def luck_of(expression: Expression, names: Mapping[str, Any]) -> float | None:
    """Return how often other cases like these would be on the other side of a bare number's gate.

    The interval says how far the number would scatter; of several comparisons the closest counts.
    Whether two numbers are equal has no other side.
    """
    chances = []
    for left, op, right in _ordered_pairs(expression.tree):
        sides = [_resolved(part, names, expression.text) for part in (left, right)]
        at_least, at_most = ((ast.GtE, ast.LtE), (ast.LtE, ast.GtE))
        for (one, other), (least, most) in zip(
            (sides, sides[::-1]), (at_least, at_most), strict=True
        ):
            if not isinstance(one, Mapping) or type(other) not in (int, float):
                continue
            # No other cases bring a share below 0 or above 1.
            sure = (isinstance(op, least) and other <= 0) or (isinstance(op, most) and other >= 1)
            chances.append(0.0 if sure and _is_share(one) else _chance_beyond(one, other))
    known_chances = [chance for chance in chances if chance is not None]
    return max(known_chances) if known_chances else None


def _ordered_pairs(tree: ast.expr) -> Iterator[tuple[ast.expr, ast.cmpop, ast.expr]]:
    """Yield what is compared by less or more, two at a time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            for left, op, right in zip(sides, node.ops, node.comparators, strict=False):
                if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                    yield left, op, right


def _resolved(node: ast.expr, names: Mapping[str, Any], text: str) -> Any:
    """Return the mapping that a bare name stands for, or the number of a constant."""
    if isinstance(node, ast.Name | ast.Attribute):
        return raw_value(node, names, text)
    is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    return raw_value(node, names, text) if isinstance(node, ast.Constant) or is_negative else None


def _is_share(number: Mapping[str, Any]) -> bool:
    """Tell whether a number lies between 0 and 1, as far as its interval tells."""
    low, high = number.get("low"), number.get("high")
    return low is not None and high is not None and 0 <= low <= high <= 1


def _chance_beyond(number: Mapping[str, Any], threshold: float) -> float | None:
    """Return how often the number of another such run lies beyond a threshold.

    Both numbers scatter around the true one as the interval says, so that they lie apart by the
    square root of 2 more than either lies from the truth.
    """
    value, low, high = (number.get(name) for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return None
    half = value - low if threshold < value else high - value
    away = abs(value - threshold)
    if half <= 0:
        return None
    return NormalDist().cdf(-away / (sqrt(2) * half / Z95))


def luck_words(luck: float | None) -> str:
    """Say how often luck would have decided a gate the other way; nothing where it hardly would."""
    if luck is None or luck < LEAST_LUCK:
        return ""
    return (
        f"with as many other cases like these, luck alone would decide it the other way in about"
        f" {luck:.0%} of runs"
    )


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
    if _is_about_counts(expression.tree):
        return open_rate
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


def _is_about_counts(tree: ast.expr) -> bool:
    """Tell whether all that an expression names are counts, which are what they are."""
    named = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}
    return bool(named) and named <= {"unscored", *_COUNTS}


def summary_gate_names(summary: Summary) -> Mapping[str, Any]:
    """Return what a gate may name: the totals, the measures, and groups by tag and value.

    A measure called as one of the totals hides it.
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
        names[gate_name(name)] = {
            "value": measured.value,
            "low": low,
            "high": high,
            "n": measured.n,
        }
    for tag, rows in summary.groups.items():
        names.setdefault(tag, {value: _ranged(group) for value, group in rows.items()})
    return names


def gate_name(measure: str) -> str:
    """Return how a measure is written in a gate: ``pass@1`` as ``pass_at_1``, ``pass^2`` alike."""
    return measure.replace("@", "_at_").replace("^", "_all_")


def _corrected(summary: Summary) -> dict[str, Any]:
    """Return the score that labels have corrected, and by criterion where there are several."""
    rows = _corrected_row(_UNLABELLED)
    for name, score in reversed(list(summary.corrected.items())):
        row = _corrected_row(score)
        rows |= row
        rows.setdefault(name, row)
    return rows


def _corrected_row(score: CorrectedScore) -> dict[str, Any]:
    low, high = score.interval or (None, None)
    return {"value": score.value, "low": low, "high": high, "labelled": score.labelled}


def _ranged(group: Group) -> dict[str, Any]:
    low, high = group.interval or (None, None)
    return {"value": group.rate, "low": low, "high": high}
