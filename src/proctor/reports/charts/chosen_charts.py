"""Choice of charts for runs: by metric, by tag, per candidate, distribution, battles."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.contracts.report import RunView
from proctor.core.comparison import BattleOutcome
from proctor.core.run import Measured
from proctor.core.score import Score, ScoreStatus
from proctor.reports.charts.of_battles import ladder, wins
from proctor.reports.charts.of_runs import grouped_bars, histogram, radar
from proctor.reports.charts.parts import Bar, Chart, top_of

_MOST = 40
"""The maximum number of values of a tag in a chart."""
_AXES = range(3, 17)
"""The minimum and maximum number of axes of a radar chart."""
Series = Mapping[str, RunView]


def charts_of(
    views: Sequence[RunView], battles: Sequence[BattleOutcome] = (), *, by: Sequence[str] = ()
) -> list[Chart]:
    """Draw runs side by side: breakdowns by the given tags (else all), measures, battles."""
    series = _named(views)
    return [
        *_rates(series, by),
        *_measures(series),
        *_histograms(series),
        *_battles(battles),
    ]


def _named(views: Sequence[RunView]) -> dict[str, RunView]:
    """Give each run a unique name."""
    shown = [
        f"{view.run.name} (imported)" if view.run.imported else view.run.name for view in views
    ]
    return {
        name if shown.count(name) == 1 else f"{name} ({view.run.id[-6:]})": view
        for name, view in zip(shown, views, strict=True)
    }


def _rates(series: Series, by: Sequence[str]) -> Iterator[Chart]:
    tags = list(by) or list(dict.fromkeys(tag for v in series.values() for tag in v.summary.groups))
    for tag in tags:
        rows: dict[str, float] = {}
        for view in series.values():
            for name, group in view.summary.groups.get(tag, {}).items():
                rows[name] = max(rows.get(name, 0.0), group.full)
        largest = sorted(rows, key=lambda name: -rows[name])[:_MOST]
        bars = [
            Bar(group=name, series=label, value=tagged.rate, interval=tagged.interval)
            for label, view in series.items()
            for name in largest
            if (tagged := view.summary.groups.get(tag, {}).get(name)) is not None
            and tagged.rate is not None
        ]
        if not bars:
            continue
        yield grouped_bars(f"rate-by-{tag}", f"Rate by {tag}", bars, y="rate", top=1.0)
        if len(largest) in _AXES:
            yield radar(f"radar-{tag}", f"Rate by {tag}", bars, top=1.0)


def _measures(series: Series) -> Iterator[Chart]:
    names = list(dict.fromkeys(name for v in series.values() for name in v.summary.measures))
    scales: dict[float, list[str]] = {}
    for name in names:
        measured = [view.summary.measures.get(name) for view in series.values()]
        if (top := _scale([one for one in measured if one is not None])) is not None:
            scales.setdefault(top, []).append(name)
    for top, listed in scales.items():
        yield from _overall(series, listed, top, suffix="" if top == 1 else f"-{top:g}")
        for name in listed:
            if bars := _by_category(series, name):
                yield grouped_bars(f"metric-{name}", name, bars, y=name, top=top)
        if top != 1:
            yield from _categories(series, listed, top)


def _overall(series: Series, names: Sequence[str], top: float, suffix: str) -> Iterator[Chart]:
    bars = [
        Bar(group=name, series=label, value=measured.value, interval=measured.interval)
        for label, view in series.items()
        for name in names
        if (measured := view.summary.measures.get(name)) is not None and measured.value is not None
    ]
    if len({bar.group for bar in bars}) > 1:
        title = "Measures" if top == 1 else f"Measures out of {top:g}"
        yield grouped_bars(f"measures{suffix}", title, bars, top=top)
    if len({bar.group for bar in bars}) in _AXES:
        yield radar(f"radar-measures{suffix}", "Measures of each candidate", bars, top=top)


def _categories(series: Series, names: Sequence[str], top: float) -> Iterator[Chart]:
    """Draw the ratings of each category side by side."""
    rows: dict[str, list[Bar]] = {}
    for name in names:
        for bar in _by_category(series, name):
            moved = Bar(group=name, series=bar.series, value=bar.value, interval=bar.interval)
            rows.setdefault(bar.group, []).append(moved)
    for category, bars in rows.items():
        if len({bar.group for bar in bars}) > 1:
            yield grouped_bars(f"category-{category}", category, bars, y="rating", top=top)
        if len({bar.group for bar in bars}) in _AXES:
            yield radar(f"radar-category-{category}", category, bars, top=top)


def _by_category(series: Series, name: str) -> list[Bar]:
    bars = []
    for label, view in series.items():
        measured = view.summary.measures.get(name)
        for category, row in _rows(measured).items():
            ends = row.get("interval")
            interval = (ends[0], ends[1]) if ends else None
            bars.append(
                Bar(group=category, series=label, value=row.get("value"), interval=interval)
            )
    return bars[: _MOST * max(1, len(series))]


def _rows(measured: Measured | None) -> Mapping[str, Mapping[str, Any]]:
    if measured is None or not isinstance(measured.detail, Mapping):
        return {}
    rows = measured.detail.get("by")
    return rows if isinstance(rows, Mapping) else {}


def _scale(results: Sequence[Measured]) -> float | None:
    """Return the top of a measure's scale, from its values in all runs."""
    values = [one.value for one in results]
    for one in results:
        values += [row.get("value") for row in _rows(one).values()]
    return top_of(values)


def _histograms(series: Series) -> Iterator[Chart]:
    values: dict[str, list[float]] = {}
    metrics: dict[str, dict[str, list[float]]] = {}
    for label, view in series.items():
        for result in view.results():
            if result.folded.value is not None and result.case.full_score:
                share = result.folded.value / result.case.full_score
                values.setdefault(label, []).append(share)
            for attempt in result.attempts:
                for score in attempt.scores.values():
                    for name, number in _metrics(score):
                        metrics.setdefault(name, {}).setdefault(label, []).append(number)
    if values:
        yield histogram("histogram-values", "Distribution of case values", values, top=1.0)
    for name, numbers in metrics.items():
        yield histogram(f"histogram-{name}", f"{name}: distribution of answers", numbers)


def _metrics(score: Score) -> Iterator[tuple[str, float]]:
    detail = score.detail if isinstance(score.detail, Mapping) else {}
    metrics = detail.get("metrics")
    if score.status is ScoreStatus.SCORED and isinstance(metrics, Mapping):
        for name, number in metrics.items():
            if isinstance(number, int | float) and not isinstance(number, bool):
                yield str(name), float(number)


def _battles(battles: Sequence[BattleOutcome]) -> Iterator[Chart]:
    for number, outcome in enumerate(battles, 1):
        mark = "" if number == 1 else f"-{number}"
        judge = f", judged by {outcome.judge}" if outcome.judge else ""
        rows = [
            (outcome.name_of(pair.first), outcome.name_of(pair.second), pair)
            for pair in outcome.pairs
        ]
        if not rows:
            continue
        yield wins(f"battle{mark}", f"Wins, ties and losses{judge}", rows)
        for pair in outcome.pairs:
            first, second = outcome.name_of(pair.first), outcome.name_of(pair.second)
            for tag, groups in pair.groups.items():
                if 1 < len(groups) <= _MOST:
                    listed = [(value, "", tally) for value, tally in groups.items()]
                    title = f"{first} against {second} by {tag}{judge}"
                    words = f"{first} wins", "tie", f"{second} wins"
                    name = f"battle{mark}-{first}-{second}-by-{tag}"
                    yield wins(name, title, listed, words=words)
        if outcome.leaderboard:
            yield ladder(f"leaderboard{mark}", f"Strength{judge}", outcome)
