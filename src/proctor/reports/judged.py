"""Notes on a run's judge and uncertainty: labels, audit, variance."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from proctor.core.run import CorrectedScore, Summary
from proctor.core.suite import Json
from proctor.core.variance import VarianceBudget
from proctor.reports.reasons import one_line

if TYPE_CHECKING:
    from proctor.core.audit import NoiseFloor


def judge_notes(summary: Summary) -> list[str]:
    """Return notes on labels, an audit and the parts of the variance, one line each."""
    lines = [
        line
        for name, score in summary.corrected.items()
        for line in _corrected_lines(one_line(name), score)
    ]
    if (line := _noise_line(summary)) is not None:
        lines.append(line)
    return lines + _variance_lines(summary.variance)


def variance_object(budget: VarianceBudget | None) -> Json:
    """Make the object of the parts of the variance."""
    if budget is None:
        return None
    return {
        "half_width": budget.half_width,
        "cases": budget.cases,
        "attempts": budget.attempts,
        "judge": budget.judge,
        "purchases": [
            {"what": one.what, "half_width": one.half_width, "cost": one.cost}
            for one in budget.purchases
        ],
    }


def _noise_line(summary: Summary) -> str | None:
    audit, floor = summary.audit, summary.noise_floor(summary.totals)
    if audit is None or floor is None:
        return None
    flips = "" if audit.flips is None else f"; rulings differ in {100 * audit.flips.value:.1f}%"
    return (
        f"Noise floor: {floor_text(floor)}: judged again by {one_line(audit.judge)}, the rate would"
        f" stay within that 19 times of 20{flips}"
    )


def noise_floor_object(floor: "NoiseFloor | None") -> dict[str, Json]:
    """Return a noise floor and its interval as JSON; null where nobody audited the judge."""
    return {
        "noise_floor": None if floor is None else floor.value,
        "noise_floor_interval": None if floor is None else floor.interval,
    }


def floor_text(floor: "NoiseFloor") -> str:
    """Return a noise floor with its interval: ``± 5.2 [4.1–6.5] points``."""
    ends = floor.interval
    shown = "" if ends is None else f" [{100 * ends[0]:.1f}–{100 * ends[1]:.1f}]"
    return f"± {100 * floor.value:.1f}{shown} points"


def _variance_lines(budget: VarianceBudget | None) -> list[str]:
    if budget is None or (budget.attempts is None and budget.judge is None):
        return []
    named = (("cases", budget.cases), ("attempts", budget.attempts), ("judge", budget.judge))
    parts = ", ".join(f"{name} {100 * part:.1f}" for name, part in named if part is not None)
    lines = [f"Uncertainty: ± {100 * budget.half_width:.1f} points: {parts}"]
    for one in budget.purchases:
        cost = "" if one.cost is None else f" for ${one.cost:,.2f}"
        lines.append(f"  {one.what} would give ± {100 * one.half_width:.1f}{cost}")
    return lines


def corrected_object(scores: Mapping[str, CorrectedScore]) -> dict[str, Json]:
    """Make the object of corrected scores, by criterion."""
    return {
        name: {
            "value": score.value,
            "interval": score.interval,
            "raw": score.raw,
            "bias": score.bias,
            "labelled": score.labelled,
            "cases": score.cases,
            "unlike": score.unlike,
            "scale": score.scale,
            "warning": score.warning,
        }
        for name, score in scores.items()
    }


def _corrected_lines(name: str, score: CorrectedScore) -> list[str]:
    if score.value is None or score.bias is None:
        return [f"Corrected {name}: – ({score.labelled} labelled case; at least 2 are needed)"]
    shares = score.scale == (0.0, 1.0)

    def shown(value: float) -> str:
        return f"{value * 100:.1f}%" if shares else f"{value:.2f}"

    ends = ""
    if score.interval is not None:
        low, high = (shown(end).removesuffix("%") for end in score.interval)
        ends = f" [{low}–{high}{'%' if shares else ''}]"
    bias = f"{score.bias * 100:+.1f} points" if shares else f"{score.bias:+.2f}"
    judge = "" if score.raw is None else f"the judge alone {shown(score.raw)}, "
    lines = [
        f"Corrected {name}: {shown(score.value)}{ends} ({judge}{bias} too kind on"
        f" {score.labelled} labelled of {score.cases} cases)"
    ]
    if score.bias < 0:
        lines[0] = lines[0].replace(f"{bias} too kind", f"{bias.lstrip('-')} too strict")
    return lines + ([f"Warning: {name}: {score.warning}"] if score.warning else [])
