"""What stands above and below the lists of the shared page, written by templates."""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, get_args
from urllib.parse import urlencode

from markupsafe import Markup

from proctor.contracts.report import RunView
from proctor.core.suite import Json
from proctor.engine.compare.wording import Language
from proctor.reports.structured import to_object
from proctor.web.pages.case_view import histogram_svg
from proctor.web.pages.compare_numbers import MOST_BY_TAG, MOST_TAGS
from proctor.web.rendering import fragment
from proctor.web.share.trees import Tree, tree_of

LANGUAGES: tuple[Language, ...] = get_args(Language)
LETTERS = "ABCD"
TENTHS = 10


def run_head(view: RunView, place: int, counts: Sequence[int]) -> dict[str, Json]:
    """Return a run's totals, and what stands above and below its cases in every language."""
    about = _about(view, place)
    # The drawing is ours, and has numbers alone.
    drawn = Markup(histogram_svg(counts))  # noqa: S704  # nosec B704
    data = {**about, "histogram": drawn, "linked": linked}
    return {
        "run": about["run"],
        "totals": about["totals"],
        **{
            part: {name: _tree("share_run", name, {**data, "part": part}) for name in LANGUAGES}
            for part in ("facts", "breakdowns")
        },
    }


def compare_heads(
    views: Sequence[RunView], compared: Mapping[str, Json], language: str
) -> dict[str, Tree]:
    """Return what stands above the cases of each pair of runs, by the places of both."""
    runs = [_about(view, place) for place, view in enumerate(views)]
    places = {one["run"]["id"]: one["place"] for one in runs}
    heads = {}
    for pair in compared["pairs"]:
        first, second = places[pair["first"]], places[pair["second"]]
        others = [one for one in runs if one["place"] not in (first, second)]
        sides = [runs[first], runs[second], *others]
        rows = _tag_rows(pair)
        data = {
            "pair": pair,
            "pairs": compared["pairs"],
            "warnings": compared["warnings"],
            "sides": sides,
            "runs": runs,
            "chosen": f"{first}-{second}",
            "letters": LETTERS,
            "measures": list(dict.fromkeys(name for side in sides for name in side["measures"])),
            "tags": rows,
            "widest": max((_widest(row) for row in rows), default=0.01),
            "linked": linked,
        }
        heads[f"{first}-{second}"] = _tree("share_compare", language, data)
    return heads


def shared_tags(views: Sequence[RunView]) -> tuple[str, ...]:
    """Return the tags to break differences down by, as the pages of a server do."""
    if any(view.run.stopped_early or view.summary.totals.cases > MOST_BY_TAG for view in views):
        return ()
    first, *others = (view.summary.groups for view in views)
    shared = (tag for tag in first if all(tag in other for other in others))
    return tuple(islice((tag for tag in shared if tag != "metric"), MOST_TAGS))


def linked(**state: object) -> str:
    """Return the address of a state of the page; the page keeps the rest of its own."""
    texts = {name: json.dumps(value) if isinstance(value, list) else value
             for name, value in state.items()}  # fmt: skip
    return "#" + urlencode(texts)


def _about(view: RunView, place: int) -> dict[str, Any]:
    judges = [str(judge["model"]) for judge in view.run.settings.get("judges") or ()]
    return {**to_object(view), "place": place, "judges": judges, "started": view.run.started}


def _tree(template: str, language: str, data: Mapping[str, Any]) -> Tree:
    return tree_of(fragment(template, language, data))


def _tag_rows(pair: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Return the differences by tag, the most damage first."""
    rows = [
        {
            "tag": tag,
            "value": value,
            "cases": group["cases"],
            "rates": group["rates"],
            "difference": group["difference"]["value"],
            "low": group["difference"]["low"],
            "high": group["difference"]["high"],
            "verdict": group["verdict"],
            "p": group["adjusted_p"],
        }
        for tag, groups in pair["groups"].items()
        for value, group in groups.items()
        if group["difference"]["value"] is not None
    ]
    return sorted(rows, key=lambda row: (row["difference"] * row["cases"], row["tag"]))


def _widest(row: Mapping[str, Any]) -> float:
    ends: list[float] = [row[name] for name in ("difference", "low", "high") if row[name]]
    return max([0.01, *map(abs, ends)])
