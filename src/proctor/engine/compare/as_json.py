"""A comparison as one JSON object."""

from collections.abc import Iterable
from dataclasses import asdict

from proctor.core.suite import Json
from proctor.engine.compare.results import CasePair, Compared, Contrast
from proctor.engine.compare.verdict import GroupContrast
from proctor.engine.compare.wording import Language, sentence


def compared_object(compared: Compared, language: Language = "en") -> dict[str, Json]:
    """Make the object that ``proctor compare --json`` prints, without the single cases."""
    ranks = compared.ranks
    return {
        "runs": [
            {
                "id": side.run.id,
                "name": side.run.name,
                "suite": side.run.suite,
                "candidate": side.candidate,
                "status": side.run.status.value,
                "signature": side.run.signature,
                "imported": side.run.imported,
                "stopped_early": side.run.stopped_early is not None,
                "rate": side.totals.rate,
                "interval": side.totals.interval,
                "rank": ranks[side.run.id],
            }
            for side in compared.sides
        ],
        "pairs": [contrast_object(contrast, language) for contrast in compared.contrasts],
        "warnings": list(compared.warnings),
    }


def contrast_object(contrast: Contrast, language: Language = "en") -> dict[str, Json]:
    """Make the object of one pair of runs."""
    return {
        "first": contrast.first.run.id,
        "second": contrast.second.run.id,
        "sentence": sentence(contrast, language),
        **group_object(contrast),
        "sequential": None if contrast.sequential is None else asdict(contrast.sequential),
        "left_out": asdict(contrast.left_out),
        "groups": {
            tag: {name: group_object(group) for name, group in rows.items()}
            for tag, rows in contrast.groups.items()
        },
        "flips": {kind: pair_objects(pairs) for kind, pairs in contrast.examples.items()},
    }


def pair_objects(pairs: Iterable[CasePair]) -> list[Json]:
    """Make an object of each case."""
    return [
        {
            "id": pair.id,
            "kind": pair.kind,
            "first": pair.first,
            "second": pair.second,
            "full": pair.full,
            "difference": pair.difference,
        }
        for pair in pairs
    ]


def group_object(group: GroupContrast) -> dict[str, Json]:
    """Make the object of the numbers of one row."""
    paired = group.paired
    low, high = group.interval or (None, None)
    outlook = paired.outlook
    needed = None if outlook is None else outlook.needed(group.level)
    counts = asdict(group.flips)
    return {
        "verdict": group.verdict,
        "cases": paired.n,
        "clusters": paired.clusters,
        "rates": [paired.first, paired.second],
        "difference": {"value": paired.difference, "low": low, "high": high},
        "level": group.level,
        "margin": group.margin,
        "p": paired.p,
        "adjusted_p": group.adjusted_p,
        "tested": group.tested,
        "test": paired.test,
        "effect": paired.effect,
        "cases_needed": needed,
        "cases_needed_range": None if outlook is None else outlook.needed_range(group.level),
        "more_cases": None if needed is None else max(0, needed - paired.n),
        "detectable": None if outlook is None else outlook.detectable(group.level),
        "bounds": group.bounds,
        "counts": {
            "better": paired.better,
            "worse": paired.worse,
            "same": paired.same,
            **{name: count for name, count in counts.items() if name != "graded"},
        },
    }
