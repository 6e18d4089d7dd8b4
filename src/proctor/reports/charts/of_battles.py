"""Charts of battles as Vega-Lite specs: wins, ties and losses, and the leaderboard."""

from collections.abc import Sequence

from proctor.core.comparison import BattleOutcome, Tally
from proctor.core.suite import Json
from proctor.reports.charts.parts import BREADTH, DRAWN, INK, LOST, WON, Chart, chart_of, label


def wins(
    name: str,
    title: str,
    rows: Sequence[tuple[str, str, Tally]],
    *,
    words: tuple[str, str, str] = ("left wins", "tie", "right wins"),
) -> Chart:
    """Draw a bar of wins, ties and losses for each row, with its two contenders."""
    shown = [label(word) for word in words]
    values, sides = [], []
    for place, (left, right, tally) in enumerate(rows):
        sides.append({"row": place, "left": label(left), "right": label(right)})
        values += _parts(place, tally, shown)
    y = {"field": "row", "type": "ordinal", "axis": None}
    axis = {"format": "%", "tickCount": 5, "grid": False}
    x: dict[str, Json] = {"field": "from", "type": "quantitative", "title": None, "axis": axis}
    x["scale"] = {"domain": [0, 1], "nice": False}
    color = {
        "field": "outcome",
        "type": "nominal",
        "sort": shown,
        "scale": {"domain": shown, "range": [WON, DRAWN, LOST]},
        "legend": {"title": None, "orient": "top", "labelLimit": 260},
    }
    names = {"type": "text", "fontSize": 12, "color": INK, "limit": 260}
    inside = {"field": "ink", "type": "nominal", "scale": None}
    layers: list[Json] = [
        {"mark": {"type": "bar", "height": {"band": 0.72}},
         "encoding": {"y": y, "x": x, "x2": {"field": "to"}, "color": color}},
        {"mark": {"type": "text", "fontSize": 11},
         "encoding": {"y": y, "x": {**x, "field": "middle"}, "text": {"field": "label"},
                      "color": inside}},
        {"data": {"values": sides}, "mark": {**names, "align": "right", "dx": -8},
         "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "left"}}},
        {"data": {"values": sides}, "mark": {**names, "align": "left", "dx": 8},
         "encoding": {"y": y, "x": {"value": BREADTH}, "text": {"field": "right"}}},
    ]  # fmt: skip
    spec: dict[str, Json] = {"width": BREADTH, "height": {"step": 30}, "layer": layers}
    spec["resolve"] = {"scale": {"color": "independent"}}
    return chart_of(name, title, spec, values)


def _parts(place: int, tally: Tally, words: Sequence[str]) -> list[dict[str, Json]]:
    """Split a bar into wins, ties and losses, each with its count if there is room."""
    total, before = tally.valid or 1, 0.0
    parts = []
    for word, count in zip(words, (tally.win, tally.tie, tally.loss), strict=True):
        share = count / total
        room = share * BREADTH > 8 * len(str(count)) + 2
        parts.append(
            {
                "row": place,
                "from": before,
                "to": before + share,
                "middle": before + share / 2,
                "outcome": word,
                "label": str(count) if count and room else "",
                "ink": INK if word == words[1] else "white",
            }
        )
        before += share
    return parts


def ladder(name: str, title: str, outcome: BattleOutcome) -> Chart:
    """Draw the strengths of a leaderboard, the best on top, with their intervals."""
    values = [
        {
            "run": label(outcome.name_of(standing.run)),
            "elo": standing.elo,
            "low": ends[0],
            "high": ends[1],
            "shown": f"{standing.elo:.0f}",
        }
        for standing in outcome.leaderboard
        if (ends := standing.elo_interval) is not None
    ]
    y: dict[str, Json] = {"field": "run", "type": "nominal", "sort": None, "title": None}
    y["axis"] = {"labelLimit": 260, "ticks": False, "domain": False}
    x = {"field": "elo", "type": "quantitative", "title": "Elo", "scale": {"zero": False}}
    layers: list[Json] = [
        {"mark": {"type": "rule", "strokeWidth": 2, "color": WON, "opacity": 0.6},
         "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}}},
        {"mark": {"type": "point", "filled": True, "size": 90, "opacity": 1, "color": WON},
         "encoding": {"y": y, "x": x}},
        {"mark": {"type": "text", "dy": -11, "fontSize": 11, "color": INK},
         "encoding": {"y": y, "x": x, "text": {"field": "shown"}}},
    ]  # fmt: skip
    return chart_of(
        name, title, {"width": BREADTH, "height": {"step": 38}, "layer": layers}, values
    )
