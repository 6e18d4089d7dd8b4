"""The chart of a suite's rates over time: a colour per candidate, a marker at each new edition."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from math import log
from typing import Any

from pydantic import Field

from proctor.web.api.response import Interval, ListedRun, ResponseModel

MOST_POINTS = 100
"""How many runs the chart over time shows, the newest ones."""
COLOURS = 6
"""How many colours there are; the last one is for all others."""
STRETCHED = 30.0
"""From how many times the least cost on the greatest is drawn by its logarithm."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 720, 230, 48, 16, 12, 28
MOST_TICKS = 6
DAY = 86_400.0


class TrendPoint(ResponseModel):
    """The rate of one run in the chart over time."""

    run: str
    name: str
    candidate: str
    started: float
    imported: bool
    rate: float
    interval: Interval | None
    suite_key: str = Field(description="the edition of the suite")


def over_time(runs: Sequence[ListedRun]) -> list[TrendPoint]:
    """Return the rates of runs with their intervals, the oldest first."""
    newest_first = sorted(runs, key=lambda run: -run.started)
    rated_runs = [(run, run.totals.rate) for run in newest_first if run.totals.rate is not None]
    return [
        TrendPoint(
            run=run.id,
            name=run.name,
            candidate=run.candidate,
            started=run.started,
            imported=run.imported,
            rate=rate,
            interval=run.totals.interval,
            suite_key=run.suite_key,
        )
        for run, rate in reversed(rated_runs[:MOST_POINTS])
    ]


def colours_of(names: Sequence[str], chosen: str = "") -> dict[str, int]:
    """Return the colour of each candidate; beyond six, those of fewest runs share one.

    A candidate that is chosen stands out by being the only one with a colour.
    """
    if chosen in names:
        return {name: 0 if name == chosen else COLOURS - 1 for name in names}
    counts = Counter(names)
    own = COLOURS if len(counts) <= COLOURS else COLOURS - 1
    frequent = {name for name, _ in counts.most_common(own)}
    places = {name: place for place, name in enumerate(one for one in counts if one in frequent)}
    return {name: places.get(name, COLOURS - 1) for name in counts}


def drawn(points: Sequence[TrendPoint], chosen: str = "") -> dict[str, Any]:
    """Lay out the chart: time from left to right, a line through each candidate's runs."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - FOOT
    ends = [end for one in points for end in (one.rate, *(one.interval or ()))]
    low: float = min([0.0, *ends])
    top: float = max([1.0, *ends])
    first = points[0].started if points else 0.0
    span = (points[-1].started - first if points else 0.0) or 1.0
    names = list(dict.fromkeys(one.candidate for one in points))
    colours = colours_of([one.candidate for one in points], chosen)

    def x(moment: float) -> float:
        share = (moment - first) / span if len(points) > 1 else 0.5
        return round(LEFT + 8 + (wide - 16) * share, 1)

    def y(rate: float) -> float:
        return round(TOP + high * (top - rate) / (top - low), 1)

    placed = [
        {
            **one.to_json(),
            "x": x(one.started),
            "y": y(one.rate),
            "low": y(one.interval[0]) if one.interval else None,
            "high": y(one.interval[1]) if one.interval else None,
            "colour": colours[one.candidate],
        }
        for one in points
    ]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - FOOT,
        "foot": HEIGHT - FOOT + 18,
        "lines": [{"y": y(share), "rate": share} for share in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "points": placed,
        "paths": [_path(placed, name, colours[name]) for name in names],
        "colours": colours,
        "ticks": _ticks(points, x),
        "editions": [
            x(after.started)
            for before, after in pairwise(points)
            if before.suite_key != after.suite_key
        ],
    }


class CostPoint(ResponseModel):
    """What a run's candidate cost per case, beside its rate."""

    run: str
    name: str
    candidate: str
    cost: float = Field(description="dollars per case, of the candidate alone")
    rate: float
    interval: Interval | None


def cost_point(run: ListedRun, usage: Mapping[str, Any]) -> CostPoint | None:
    """Return the candidate's cost and the rate of a run; none where one of them is not known."""
    roles = usage.get("roles")
    own = roles.get("candidate") if isinstance(roles, Mapping) else None
    cost = own.get("cost") if isinstance(own, Mapping) else None
    if not isinstance(cost, int | float) or run.totals.rate is None or not run.totals.cases:
        return None
    return CostPoint(
        run=run.id,
        name=run.name,
        candidate=run.candidate,
        cost=cost / run.totals.cases,
        rate=run.totals.rate,
        interval=run.totals.interval,
    )


def drawn_by_cost(points: Sequence[CostPoint], colours: Mapping[str, int]) -> dict[str, Any]:
    """Lay out cost from left to right and rate upwards."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - FOOT
    most = max((one.cost for one in points), default=0.0) or 1.0
    ends = [end for one in points for end in (one.rate, *(one.interval or ()))]
    low: float = min([0.0, *ends])
    top: float = max([1.0, *ends])
    least = min((one.cost for one in points), default=0.0)
    stretched = least > 0 and most / least > STRETCHED

    def x(cost: float) -> float:
        share = log(cost / least) / log(most / least) if stretched else cost / most
        return round(LEFT + 8 + (wide - 16) * share, 1)

    def y(rate: float) -> float:
        return round(TOP + high * (top - rate) / (top - low), 1)

    parts = [part / 4 for part in range(5)]
    ticks = [least * (most / least) ** part if stretched else most * part for part in parts]

    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "foot": HEIGHT - FOOT + 18,
        "lines": [{"y": y(share), "rate": share} for share in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "ticks": [{"x": x(cost), "cost": cost} for cost in ticks],
        "stretched": stretched,
        "points": [
            {
                **one.to_json(),
                "x": x(one.cost),
                "y": y(one.rate),
                "low": y(one.interval[0]) if one.interval else None,
                "high": y(one.interval[1]) if one.interval else None,
                "colour": colours.get(one.candidate, COLOURS - 1),
            }
            for one in points
        ],
    }


def _path(placed: Sequence[dict[str, Any]], name: str, colour: int) -> dict[str, Any]:
    mine = [one for one in placed if one["candidate"] == name]
    line = " ".join(f"{one['x']},{one['y']}" for one in mine)
    return {"name": name, "colour": colour, "points": line, "count": len(mine)}


def _ticks(points: Sequence[TrendPoint], x: Any) -> list[dict[str, Any]]:
    """Return moments along the axis: days, or hours where all lies within two days."""
    if not points:
        return []
    first, last = points[0].started, points[-1].started
    form = "%Y-%m-%d" if last - first > 2 * DAY else "%m-%d %H:%M"
    count = MOST_TICKS if last > first else 1
    moments = [first + (last - first) * place / max(1, count - 1) for place in range(count)]
    ticks = []
    for moment in moments:
        try:
            label = datetime.fromtimestamp(moment, UTC).strftime(form)
        except (OverflowError, ValueError, OSError):
            label = "?"
        ticks.append({"x": x(moment), "label": label})
    return ticks
