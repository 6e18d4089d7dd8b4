"""An audit of a judge as text and JSON."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from proctor.core.audit import Estimated, JudgeAudit, NoiseFloor
from proctor.core.suite import Json
from proctor.reports.judged import floor_text, noise_floor_object
from proctor.reports.reasons import one_line
from proctor.reports.tabular import printed

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADER = ("Probe", "Points", "Interval 95%", "Cases", "What was shown")


def audit_table(
    audit: JudgeAudit,
    name: str,
    words: Mapping[str, str],
    floor: NoiseFloor | None,
    *,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Return the findings of an audit; ``words`` describe each probe."""
    parts: list[RenderableType] = [
        one_line(f"{name} · judge {audit.judge} · {audit.answers} scores of {audit.cases} cases"),
        "",
        *_flip_lines(audit, floor),
        "",
    ]
    if audit.probes:
        parts += [_table(audit, words), ""]
        parts.append(
            "Points of 100 that the judge gives more (+) or less (-) than for the answer as it is."
        )
    for criterion, agreement in audit.labels.items():
        parts += _label_lines(one_line(criterion), agreement)
    if audit.unread:
        parts.append(f"Unread: {audit.unread} rulings could not be obtained")
    parts += audit.notes
    usage = audit.usage
    if usage.get("calls"):
        cost = usage.get("cost")
        money = "" if cost is None else f", ${cost:,.4f}"
        parts.append(f"Calls: {usage['calls']:,}, stored ones included{money}")
    return printed(parts, width=width, color=color)


def audit_object(audit: JudgeAudit, floor: NoiseFloor | None) -> dict[str, Json]:
    """Make the object that ``audit --json`` prints; shares of full marks, not points of 100."""
    return {
        "judge": audit.judge,
        "seed": audit.seed,
        "cases": audit.cases,
        "answers": audit.answers,
        "repeats": audit.repeats,
        "flip_rate": _object(audit.flips),
        "flip_chance": _object(audit.flip_chance),
        **noise_floor_object(floor),
        "probes": {name: _object(estimated) for name, estimated in audit.probes.items()},
        "labels": dict(audit.labels),
        "usage": dict(audit.usage),
        "unread": audit.unread,
        "notes": list(audit.notes),
    }


def _flip_lines(audit: JudgeAudit, floor: NoiseFloor | None) -> list[str]:
    if audit.flips is None:
        return ["No score of the sample was given by a judge: nothing was asked again"]
    lines = [f"Asked again, rulings differ in {_share(audit.flips)} of pairs"]
    if audit.flip_chance is not None:
        lines.append(
            f"as if each ruling were turned around with a chance of {_share(audit.flip_chance)}"
        )
    if floor is not None:
        lines.append(
            f"Noise floor: {floor_text(floor)}: judged again, the rate of the run"
            " would stay within that 19 times of 20"
        )
    return lines


def _label_lines(criterion: str, agreement: Mapping[str, Json]) -> list[str]:
    kappa, ends = agreement["kappa"], agreement["interval"]
    shown = "–" if kappa is None else f"{kappa:.3f}"
    interval = "" if ends is None else f" [{ends[0]:.3f}, {ends[1]:.3f}]"
    lines = [
        f"Labels of {criterion}: kappa {shown}{interval}, alike {agreement['agreed']}"
        f" of {agreement['n']} on {agreement['cases']} cases"
    ]
    rows = ", ".join(f"{one:g}/{own:g}: {times}" for one, own, times in agreement["confusion"][:12])
    lines.append(f"  judge/people: {rows}")
    score = agreement["corrected"]
    if score.get("value") is not None and score.get("interval") is not None:
        low, high = score["interval"]
        lines.append(f"  corrected {score['value']:.4f} [{low:.4f}, {high:.4f}]")
    return lines


def _table(audit: JudgeAudit, words: Mapping[str, str]) -> "RenderableType":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in HEADER:
        table.add_column(name, justify="left" if name in ("Probe", HEADER[-1]) else "right")
    for name, estimated in audit.probes.items():
        ends = estimated.interval
        shown = "–" if ends is None else f"{100 * ends[0]:+.1f} to {100 * ends[1]:+.1f}"
        cells = (
            name,
            f"{100 * estimated.value:+.1f}",
            shown,
            str(estimated.n),
            words.get(name, ""),
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _share(estimated: Estimated) -> str:
    ends = estimated.interval
    shown = "" if ends is None else f" [{100 * ends[0]:.1f}–{100 * ends[1]:.1f}%]"
    return f"{100 * estimated.value:.1f}%{shown}"


def _object(estimated: Estimated | None) -> Json:
    if estimated is None:
        return None
    return {"value": estimated.value, "interval": estimated.interval, "n": estimated.n}
