"""Common parts of charts: their types, colours, fonts, and the frame of a spec."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from proctor.core.suite import Json
from proctor.reports.reasons import one_line

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
COLORS = (
    *("#0b6db7", "#e8871e", "#1a936f", "#b5438f", "#6c8ebf", "#c0392b"),
    *("#7f6a3d", "#4b4e6d", "#8fb339", "#d98cb3", "#5f9ea0", "#999999"),
)
"""Colours that colour-blind readers can tell apart, the first ones best."""
FONT = "Noto Sans SC, Noto Sans CJK SC, Noto Sans, DejaVu Sans, Arial, sans-serif"
WON, DRAWN, LOST = "#0b6db7", "#c9ced6", "#e8871e"
INK, FAINT = "#2b2f36", "#e3e6ea"
LONGEST = 42
BREADTH = 480
"""The width of a chart whose width does not depend on its data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart: a name for its file, its title, and its spec."""

    name: str
    title: str
    spec: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One number of a chart: its group, its series, and its interval."""

    group: str
    series: str
    value: float | None
    interval: tuple[float, float] | None = None


def top_of(values: Iterable[float | None]) -> float | None:
    """Return the top of the scale that numbers seem to be on; None if unclear."""
    numbers = [value for value in values if value is not None and isfinite(value)]
    if not numbers or min(numbers) < 0:
        return None
    return next((top for top in (1.0, 5.0, 10.0, 100.0) if max(numbers) <= top), None)


def color_of(series: Sequence[str]) -> dict[str, Json]:
    """Return the encoding that gives each series its colour, with a legend for several."""
    legend = {"title": None, "orient": "top", "labelLimit": 260, "columns": 4}
    color: dict[str, Json] = {"field": "series", "type": "nominal", "scale": palette(series)}
    color["sort"] = [label(one) for one in series]
    color["legend"] = legend if len(series) > 1 else None
    return {"color": color}


def palette(series: Sequence[str]) -> Json:
    """Return the scale from series to colours."""
    names = [label(one) for one in series]
    colors = [COLORS[place % len(COLORS)] for place in range(len(names))]
    return {"domain": names, "range": colors}


def chart_of(name: str, title: str, spec: Mapping[str, Json], values: Sequence[Json]) -> Chart:
    """Add the common frame to a spec."""
    words = {"text": label(title, 90), "anchor": "start", "fontSize": 15, "offset": 12}
    whole = {
        "$schema": SCHEMA,
        "title": {**words, "color": INK, "fontWeight": 600},
        "background": "white",
        "padding": 14,
        "data": {"values": list(values)},
        **spec,
        "config": {
            "font": FONT,
            "view": {"stroke": None},
            "axis": {
                "gridColor": FAINT,
                "domainColor": "#b7bcc4",
                "tickColor": "#b7bcc4",
                "labelColor": INK,
                "titleColor": INK,
                "labelFontSize": 11,
                "titleFontSize": 11,
                "titleFontWeight": "normal",
            },
            "legend": {"labelColor": INK, "labelFontSize": 12, "symbolType": "square"},
        },
    }
    return Chart(name=name, title=title, spec=whole)


def label(text: str, limit: int = LONGEST) -> str:
    """Return a label that is safe in an image; a long one is cut in the middle."""
    line = one_line(str(text))
    if len(line) <= limit:
        return line
    half = limit // 2
    return f"{line[: half - 1]}…{line[-half:]}"


def unique(names: Iterable[str]) -> list[str]:
    """Return each name once, in the order of appearance."""
    return list(dict.fromkeys(names))
