"""Numbers of a suite's runs side by side: over time, by measure, by tag."""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.run import Run, sound_summary
from proctor.store.store import Store
from proctor.web.api.response import Interval, ListedRun, Named, ResponseModel
from proctor.web.lookup import listed_run

MOST_POINTS = 100
"""How many runs the chart over time shows, the newest ones."""
MOST_COLUMNS = 8
"""How many runs a table shows side by side."""
MOST_VALUES = 30
"""How many values of one tag a page lists; the JSON has all of them."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 720, 220, 44, 12, 10, 26

Described = tuple[ListedRun, Mapping[str, Any]]


class TrendPoint(ResponseModel):
    """The rate of one run in the chart over time."""

    run: str
    name: str
    candidate: str
    started: float
    imported: bool
    rate: float
    interval: Interval | None


class Cell(ResponseModel):
    """A number of a run in a table with one column per run."""

    value: float | None = None
    rate: float | None = None
    interval: Interval | None
    cases: int | None


Row = list[Cell | None]


class SideBySide(ResponseModel):
    """Measures and breakdowns of several runs."""

    columns: list[Named]
    measures: dict[str, Row]
    groups: dict[str, dict[str, Row]]


def described(store: Store, runs: Sequence[Run]) -> list[Described]:
    """Return each run with its numbers."""
    return [
        (listed_run(store, run), sound_summary(store.summaries.get(run.id)) or {}) for run in runs
    ]


def over_time(runs: Sequence[ListedRun]) -> list[TrendPoint]:
    """Return the rates of runs with their intervals, the oldest first."""
    rated_runs = [(run, run.totals.rate) for run in runs if run.totals.rate is not None]
    return [
        TrendPoint(
            run=run.id,
            name=run.name,
            candidate=run.candidate,
            started=run.started,
            imported=run.imported,
            rate=rate,
            interval=run.totals.interval,
        )
        for run, rate in reversed(rated_runs[:MOST_POINTS])
    ]


def drawn(points: Sequence[TrendPoint]) -> dict[str, Any]:
    """Lay out the chart of rates over time, the oldest run on the left."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - FOOT
    ends = [end for one in points for end in (one.rate, *(one.interval or ()))]
    low: float = min([0.0, *ends])
    top: float = max([1.0, *ends])

    def y(rate: float) -> float:
        return round(TOP + high * (top - rate) / (top - low), 1)

    step = wide / max(1, len(points))
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "foot": HEIGHT - FOOT + 18,
        "lines": [{"y": y(share), "rate": share} for share in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "points": [
            {
                **one.to_json(),
                "x": round(LEFT + step * (place + 0.5), 1),
                "y": y(one.rate),
                "low": y(one.interval[0]) if one.interval else None,
                "high": y(one.interval[1]) if one.interval else None,
            }
            for place, one in enumerate(points)
        ],
    }


def side_by_side(described_runs: Sequence[Described]) -> SideBySide:
    """Return measures and breakdowns as tables with one column per run that has numbers."""
    shown = [(run, numbers) for run, numbers in described_runs if numbers][:MOST_COLUMNS]
    measures = dict.fromkeys(name for _, numbers in shown for name in numbers.get("measures", {}))
    tags = dict.fromkeys(tag for _, numbers in shown for tag in numbers.get("groups", {}))
    return SideBySide(
        columns=[Named(id=run.id, name=run.name, imported=run.imported) for run, _ in shown],
        measures={
            name: [_cell(numbers.get("measures", {}).get(name), "value") for _, numbers in shown]
            for name in measures
        },
        groups={tag: _values(tag, [numbers for _, numbers in shown]) for tag in tags},
    )


def _values(tag: str, run_numbers: Sequence[Mapping[str, Any]]) -> dict[str, Row]:
    rows = [numbers.get("groups", {}).get(tag, {}) for numbers in run_numbers]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_cell(row.get(name), "rate") for row in rows] for name in names}


def _cell(numbers: Mapping[str, Any] | None, name: str) -> Cell | None:
    if numbers is None:
        return None
    cases = numbers.get("cases", numbers.get("n"))
    return Cell(**{name: numbers.get(name)}, interval=numbers.get("interval"), cases=cases)
