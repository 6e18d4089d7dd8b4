"""What is known of a run's judge, in words: scores corrected by labels."""

from collections.abc import Mapping

from proctor.core.run import CorrectedScore, Summary
from proctor.core.suite import Json
from proctor.reports.reasons import one_line


def judge_notes(summary: Summary) -> list[str]:
    """Say what labels make of judged criteria, one line each."""
    return [
        line
        for name, score in summary.corrected.items()
        for line in _corrected_lines(one_line(name), score)
    ]


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
