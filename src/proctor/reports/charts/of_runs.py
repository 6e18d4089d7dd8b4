"""Charts of runs as Vega-Lite specs: bars, radars, histograms."""

from collections.abc import Mapping, Sequence
from math import cos, isfinite, pi, sin
from typing import Any

from proctor.core.suite import Json
from proctor.reports.charts.parts import (
    BREADTH,
    FAINT,
    INK,
    Bar,
    Chart,
    chart_of,
    color_of,
    label,
    palette,
    top_of,
    unique,
)

__all__ = ["Bar", "Chart", "grouped_bars", "histogram", "radar", "top_of"]

_NUMBERED = 36
"""With more bars than this, values are not written on them."""
_FEW = 8
_BINS = 20
_DISCRETE = 11
"""With fewer distinct whole or half values than this, a histogram has a bar for each."""


def grouped_bars(
    name: str, title: str, bars: Sequence[Bar], *, y: str = "score", top: float | None = None
) -> Chart:
    """Draw grouped bars, one per series; whiskers show the intervals."""
    groups = unique(bar.group for bar in bars)
    series = unique(bar.series for bar in bars)
    step = _step(groups, len(series))
    end = top if top is not None else top_of(bar.value for bar in bars)
    finite = [bar for bar in bars if bar.value is not None and isfinite(bar.value)]
    values = [_bar_row(bar, end) for bar in finite]
    shared: dict[str, Json] = {
        "x": {
            "field": "group",
            "type": "nominal",
            "sort": [label(group) for group in groups],
            "title": None,
            "axis": {"labelAngle": _angle(groups, step), "labelLimit": 260, "ticks": False},
        },
        "xOffset": {"field": "series", "sort": [label(one) for one in series]},
    }
    height = {"field": "value", "type": "quantitative", "title": y, **_upright(end)}
    layers: list[Json] = [
        {
            "mark": {"type": "bar", "cornerRadiusEnd": 2},
            "encoding": {"y": height, **color_of(series)},
        }
    ]
    if any("low" in row for row in values):
        ends = {"y": {**height, "field": "low"}, "y2": {"field": "high"}}
        layers.append({"mark": {"type": "rule", "color": INK, "opacity": 0.55}, "encoding": ends})
    if len(values) <= _NUMBERED:
        words = {"type": "text", "dy": -6, "fontSize": 10, "color": INK, "baseline": "bottom"}
        encoding = {"y": {**height, "field": "peak"}, "text": {"field": "shown"}}
        layers.append({"mark": words, "encoding": encoding})
    room = {"step": step, "for": "position"}
    spec = {"width": room, "height": 300, "encoding": shared, "layer": layers}
    return chart_of(name, title, spec, values)


def radar(name: str, title: str, bars: Sequence[Bar], *, top: float | None = None) -> Chart:
    """Draw one closed line per series over three axes or more, all on one scale."""
    axes, series = unique(b.group for b in bars), unique(b.series for b in bars)
    end = top or top_of(bar.value for bar in bars) or max(bar.value or 0.0 for bar in bars) or 1.0
    values_by_axis = {(bar.group, bar.series): bar.value for bar in bars}
    lines = [
        {
            **_spot(place, len(axes), (values_by_axis.get((axis, one)) or 0.0) / end),
            "series": label(one),
        }
        for one in series
        for place, axis in enumerate(axes)
    ]
    shares = [part / (5 if end == 5 else 4) for part in range(1, 6 if end == 5 else 5)]
    rings = [
        {**_spot(place, len(axes), share), "ring": share}
        for share in shares
        for place in range(len(axes))
    ]
    spokes = [{**_spot(place, len(axes), 1.0), "zero": 0} for place in range(len(axes))]
    ticks = [{"x": 0.02, "y": share, "label": f"{share * end:g}"} for share in shares]
    field: dict[str, Json] = {"x": _free("x"), "y": _free("y")}
    order = {"order": {"field": "place"}}
    closed = {"type": "line", "interpolate": "linear-closed", "strokeJoin": "round"}
    faint = {"color": FAINT, "strokeWidth": 1}
    many = len(series) > 1
    layers: list[Json] = [
        {"data": {"values": rings}, "mark": {**closed, **faint},
         "encoding": {**field, **order, "detail": {"field": "ring"}}},
        {"data": {"values": spokes}, "mark": {"type": "rule", **faint},
         "encoding": {"x": _free("zero"), "y": _free("zero"), "x2": {"field": "x"},
                      "y2": {"field": "y"}}},
        {"mark": {**closed, "strokeWidth": 2.5, "fillOpacity": 0.08 if many else 0.2},
         "encoding": {**field, **order, **color_of(series),
                      "fill": {"field": "series", "legend": None, "scale": palette(series)}}},
        {"mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
         "encoding": {**field, **color_of(series)}},
        {"data": {"values": ticks},
         "mark": {"type": "text", "align": "left", "fontSize": 9, "color": "#7a808a"},
         "encoding": {**field, "text": {"field": "label"}}},
        *_axis_names(axes, field),
    ]  # fmt: skip
    spec = {"width": 380, "height": 380, "layer": layers}
    return chart_of(name, title, spec, lines)


def histogram(
    name: str, title: str, numbers: Mapping[str, Sequence[float]], *, top: float | None = None
) -> Chart:
    """Draw the distribution of each series: a bar for each value, or for each range."""
    finite = {
        one: [float(n) for n in series_numbers if isfinite(n)]
        for one, series_numbers in numbers.items()
    }
    distinct = sorted({number for series_numbers in finite.values() for number in series_numbers})
    if len(distinct) < _DISCRETE and all((2 * number).is_integer() for number in distinct):
        bars = [
            Bar(
                group=f"{value:g}",
                series=one,
                value=series_numbers.count(value) / len(series_numbers),
            )
            for one, series_numbers in finite.items()
            for value in distinct
            if series_numbers
        ]
        most = max((bar.value or 0.0 for bar in bars), default=1.0)
        end = next(end for end in (0.25, 0.5, 1.0) if most <= end)
        return grouped_bars(name, title, bars, y="share of answers", top=end)
    low, high = min(0.0, distinct[0]), top or top_of(distinct) or distinct[-1]
    width = (high - low) / _BINS
    values = [
        row
        for one, series_numbers in finite.items()
        for row in _bins(one, series_numbers, low, width)
    ]
    x = {"field": "from", "type": "quantitative", "bin": {"binned": True, "step": width}}
    y: dict[str, Json] = {"field": "share", "type": "quantitative", "title": "share"}
    y["axis"] = {"format": "%", "tickCount": 4}
    series = list(finite)
    row: dict[str, Json] = {"field": "series", "type": "nominal", "title": None}
    row["sort"] = [label(s) for s in series]
    row["header"] = {"labelAngle": 0, "labelAlign": "left", "labelLimit": 200, "labelFontSize": 12}
    inner = {
        "width": BREADTH,
        "height": 110 if len(series) > 1 else 260,
        "mark": {"type": "bar", "binSpacing": 1},
        "encoding": {
            "x": {**x, "title": None},
            "x2": {"field": "to"},
            "y": y,
            "color": {**color_of(series)["color"], "legend": None},
        },
    }
    spec = {"facet": {"row": row}, "spec": inner} if len(series) > 1 else inner
    return chart_of(name, title, spec, values)


def _bins(series: str, numbers: Sequence[float], low: float, width: float) -> list[Json]:
    counts = [0] * _BINS
    for number in numbers:
        counts[min(_BINS - 1, max(0, int((number - low) / width)))] += 1
    total = len(numbers) or 1
    return [
        {
            "series": label(series),
            "from": low + place * width,
            "to": low + (place + 1) * width,
            "share": count / total,
        }
        for place, count in enumerate(counts)
    ]


def _upright(end: float | None) -> dict[str, Json]:
    """Return an axis from 0 to the top of its scale, with room for a label above."""
    if end is None:
        return {}
    ticks = [end * part / 5 for part in range(6)]
    scale = {"domain": [0, end * 1.1], "clamp": True, "nice": False}
    return {"scale": scale, "axis": {"values": ticks}}


def _axis_names(axes: Sequence[str], field: Mapping[str, Json]) -> list[Json]:
    """Write the names of a radar's axes outside, aligned away from the centre."""
    layers: list[Json] = []
    for align in ("left", "right", "center"):
        rows = []
        for place, axis in enumerate(axes):
            spot = _spot(place, len(axes), 1.09)
            side = "center" if abs(spot["x"]) < 0.15 else "left" if spot["x"] > 0 else "right"
            if side == align:
                rows.append({**spot, "label": label(axis)})
        if rows:
            mark = {"type": "text", "align": align, "fontSize": 12, "color": INK}
            encoding = {**field, "text": {"field": "label"}}
            layers.append({"data": {"values": rows}, "mark": mark, "encoding": encoding})
    return layers


def _spot(place: int, count: int, far: float) -> dict[str, Any]:
    """Return the point on an axis of a radar, the first axis upwards, then clockwise."""
    turn = 2 * pi * place / count
    return {"x": far * sin(turn), "y": far * cos(turn), "place": place}


def _free(name: str) -> Json:
    return {
        "field": name,
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [-1.15, 1.15], "nice": False, "zero": False},
    }


def _bar_row(bar: Bar, end: float | None) -> dict[str, Json]:
    assert bar.value is not None
    row: dict[str, Json] = {
        "group": label(bar.group),
        "series": label(bar.series),
        "value": bar.value,
        "peak": bar.value,
        "shown": f"{bar.value:.2f}",
    }
    if bar.interval is not None:
        low, high = bar.interval
        if end is not None:
            low, high = max(0.0, low), min(max(end, bar.value), high)
        row |= {"low": low, "high": high}
        row["peak"] = max(bar.value, high)
    return row


def _step(names: Sequence[str], series: int) -> float:
    """Return the distance between groups; a few groups with long names get more room."""
    step = max(46.0, 24.0 * series + 18)
    if len(names) > _FEW:
        return step
    widest = max((_width(label(name)) for name in names), default=0.0)
    return max(step, min(150.0, widest + 12))


def _angle(names: Sequence[str], step: float) -> int:
    """Return 0 where the labels fit side by side, else an angle."""
    widest = max((_width(label(name)) for name in names), default=0.0)
    return 0 if widest <= step - 6 else -35


def _width(text: str) -> float:
    """Estimate the width of a text at the size of a label."""
    return sum(11.5 if ord(char) > 0x2E7F else 6.3 for char in text)
