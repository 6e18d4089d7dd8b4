"""All rows that are shown together, tested together: one family, whichever runs and tags."""

from collections.abc import Sequence
from dataclasses import replace

from proctor.engine.compare.results import Contrast
from proctor.engine.compare.verdict import GroupContrast
from proctor.stats.paired import holm


def adjusted_together(contrasts: Sequence[Contrast], margin: float | None = None) -> list[Contrast]:
    """Adjust every row for all others, so that all that is said of them errs as one test would."""
    rows: list[GroupContrast] = []
    for contrast in contrasts:
        rows.append(contrast)
        rows.extend(group for groups in contrast.groups.values() for group in groups.values())
    p_values = [row.decision_p for row in rows]
    tested = sum(p is not None for p in p_values)
    adjusted = iter(holm(p_values))

    def settled(row: GroupContrast) -> GroupContrast:
        return replace(row, adjusted_p=next(adjusted), tested=tested, margin=margin)

    adjusted_contrasts = []
    for contrast in contrasts:
        whole = settled(contrast)
        groups = {
            tag: {name: settled(group) for name, group in rows.items()}
            for tag, rows in contrast.groups.items()
        }
        assert isinstance(whole, Contrast)
        adjusted_contrasts.append(replace(whole, groups=groups))
    return adjusted_contrasts
