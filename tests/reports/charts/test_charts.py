"""Charts: what they show, that they can be drawn, and that labels stay labels."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from proctor.contracts.report import RunView
from proctor.core.comparison import BattleOutcome, Contender, Pair, Standing, Tally
from proctor.core.run import Measured
from proctor.core.score import Score
from proctor.errors import MissingResource, ModelError
from proctor.reports.charts import drawing
from proctor.reports.charts.chosen_charts import charts_of
from proctor.reports.charts.of_battles import ladder, wins
from proctor.reports.charts.of_runs import grouped_bars, histogram, radar
from proctor.reports.charts.parts import Bar, Chart, label, top_of

MakeView = Callable[..., RunView]
HOSTILE = "</text><script>alert(1)</script>&\x00\ud800"


def bars(*groups: str, series: tuple[str, ...] = ("m", "n")) -> list[Bar]:
    return [
        Bar(group=group, series=one, value=0.25 * (number % 4), interval=(0.0, 1.5))
        for number, group in enumerate(groups)
        for one in series
    ]


def texts(chart: Chart) -> list[str]:
    """Draw a chart and return all texts in it."""
    tree = ElementTree.fromstring(drawing.svg(chart))
    return [element.text or "" for element in tree.iter() if element.tag.endswith("text")]


def outcome() -> BattleOutcome:
    tallies = {"kind": {"odd": Tally(win=3, loss=1), "even": Tally(tie=2)}}
    return BattleOutcome(
        contenders=tuple(Contender(run=n, name=n, candidate=n) for n in ("m", "n", "甲")),
        pairs=(Pair(first="m", second="n", win=3, tie=2, loss=1, groups=tallies),),
        leaderboard=(
            Standing(run="m", rank=1, strength=1.0, interval=(0.5, 1.5)),
            Standing(run="甲", rank=2, strength=-1.0, interval=(-1.5, -0.5)),
        ),
        judge="j",
    )


@pytest.mark.parametrize(
    ("values", "top"),
    [
        ([0.2, 1.0], 1.0),
        ([0.2, None, 1.1], 5.0),
        ([5.0], 5.0),
        ([7.0], 10.0),
        ([70.0], 100.0),
        ([700.0], None),
        ([-0.1, 0.5], None),
        ([], None),
        ([float("nan"), 0.5], 1.0),
    ],
)
def test_the_scale_that_numbers_seem_to_be_on(
    values: list[float | None], top: float | None
) -> None:
    assert top_of(values) == top


def test_grouped_bars_have_a_bar_for_each_series_and_whiskers_within_the_scale() -> None:
    chart = grouped_bars("x", "Title", bars("chat", "头脑风暴"), y="bleu1", top=1.0)
    rows = chart.spec["data"]["values"]
    assert [(row["group"], row["series"], row["value"]) for row in rows] == [
        ("chat", "m", 0.0), ("chat", "n", 0.0), ("头脑风暴", "m", 0.25), ("头脑风暴", "n", 0.25)]  # fmt: skip
    assert {(row["low"], row["high"]) for row in rows} == {(0.0, 1.0)}
    shown = texts(chart)
    assert {"Title", "bleu1", "chat", "头脑风暴", "m", "n", "0.25", "1.0"} <= set(shown)


def test_a_number_that_is_not_there_has_no_bar() -> None:
    gaps = [
        Bar(group="g", series="m", value=None),
        Bar(group="g", series="n", value=float("nan")),
        Bar(group="g", series="o", value=0.5),
    ]
    assert len(grouped_bars("x", "t", gaps).spec["data"]["values"]) == 1


def test_a_radar_has_a_corner_for_each_axis() -> None:
    axes = ("语言组织", "relevance", "creativity", "fidelity")
    chart = radar("x", "t", bars(*axes), top=1.0)
    points = chart.spec["data"]["values"]
    assert len(points) == 8
    assert (points[1]["x"], points[1]["y"]) == pytest.approx((0.25, 0.0))
    assert (points[2]["x"], points[2]["y"]) == pytest.approx((0.0, -0.5))
    assert {*axes, "0.25", "1", "m", "n"} <= set(texts(chart))


def test_wins_ties_and_losses_fill_a_bar() -> None:
    chart = wins(
        "x", "t", [("m", "n", Tally(win=3, tie=1, loss=4, invalid=9)), ("m", "o", Tally())]
    )
    parts = chart.spec["data"]["values"][:3]
    assert [(part["from"], part["to"]) for part in parts] == [(0, 0.375), (0.375, 0.5), (0.5, 1.0)]
    assert [part["label"] for part in parts] == ["3", "1", "4"]
    assert {"m", "n", "o", "left wins", "tie", "right wins"} <= set(texts(chart))


def test_the_leaderboard() -> None:
    chart = ladder("x", "t", outcome())
    assert [row["run"] for row in chart.spec["data"]["values"]] == ["m", "甲"]
    assert {"m", "甲", "1174", "826", "Elo"} <= set(texts(chart))


def test_a_histogram_of_few_values_has_a_bar_for_each() -> None:
    chart = histogram("x", "t", {"m": [1, 1, 5, 3], "n": [5, 5]})
    rows = {(r["group"], r["series"]): r["value"] for r in chart.spec["data"]["values"]}
    assert rows == {("1", "m"): 0.5, ("3", "m"): 0.25, ("5", "m"): 0.25,
                    ("1", "n"): 0, ("3", "n"): 0, ("5", "n"): 1.0}  # fmt: skip


def test_few_values_that_are_no_grades_have_ranges_too() -> None:
    chart = histogram("x", "t", {"m": [0.1, 0.3, 0.72]}, top=1.0)
    assert len(chart.spec["data"]["values"]) == 20


@pytest.mark.parametrize("names", [("m",), ("m", "n")])
def test_a_histogram_of_many_values_has_ranges(names: tuple[str, ...]) -> None:
    numbers = [n / 100 for n in range(101)]
    chart = histogram("x", "t", dict.fromkeys(names, numbers), top=1.0)
    rows = [row for row in chart.spec["data"]["values"] if row["series"] == "m"]
    assert len(rows) == 20
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert (rows[0]["from"], rows[-1]["to"]) == pytest.approx((0, 1))
    assert "0.50" in texts(chart)


@pytest.mark.parametrize(
    "chart",
    [
        grouped_bars("x", HOSTILE, bars(HOSTILE, "b", series=(HOSTILE, "n"))),
        radar("x", HOSTILE, bars(HOSTILE, "b", "c", series=(HOSTILE, "n"))),
        wins("x", HOSTILE, [(HOSTILE, HOSTILE, Tally(win=1))], words=(HOSTILE, "t", "l")),
        histogram("x", HOSTILE, {HOSTILE: [n / 50 for n in range(50)], "n": [0.5]}),
    ],
    ids=["bars", "radar", "wins", "histogram"],
)
@pytest.mark.sampled(4)
def test_a_label_is_never_more_than_a_label(chart: Chart) -> None:
    drawn = drawing.svg(chart)
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawn).iter()}
    assert "script" not in tags
    assert not {"a", "image", "foreignObject", "use"} & tags
    assert any("<script>alert(1)" in text for text in texts(chart))


def test_long_names_stay_apart() -> None:
    one, two = ("a-suite-with-quite-a-long-name-openai:model-large-v" + n for n in "12")
    assert label(one) != label(two)
    assert len(label(one)) <= 42
    assert label("a\nb\x1b") == "a b"


def test_the_charts_of_two_runs_and_their_battle(make_view: MakeView) -> None:
    one = make_view()
    by = {name: {"value": 3.5, "interval": None, "n": 2} for name in ("chat", "open_qa")}
    ratings = {
        name: Measured(value=3.5, interval=(3.0, 4.0), n=4, detail={"by": by})
        for name in ("relevance", "creativity", "fidelity")
    }
    bleu = Measured(value=0.5, interval=None, n=4, detail={"by": {"chat": {"value": 0.5, "n": 2}}})
    told = Measured(value=None, interval=None, n=4, detail={"stop": 3})
    measures = {**ratings, "bleu1": bleu, "accuracy": Measured(value=0.4, interval=None, n=4)}
    other = replace(
        one,
        run=replace(one.run, id="s" * 32),
        summary=replace(one.summary, measures={**measures, "reasons": told}),
    )
    made = {chart.name: chart for chart in charts_of([one, other], [outcome()])}
    assert list(made) == [
        "rate-by-lang", "radar-lang", "rate-by-type", "rate-by-metric", "radar-metric",
        "measures", "metric-bleu1",
        "measures-5", "radar-measures-5", "metric-relevance", "metric-creativity",
        "metric-fidelity", "category-chat", "radar-category-chat", "category-open_qa",
        "radar-category-open_qa", "histogram-values", "battle", "battle-m-n-by-kind", "leaderboard",
    ]  # fmt: skip
    names = {row["series"] for row in made["rate-by-lang"].spec["data"]["values"]}
    assert names == {"first (rrrrrr)", "first (ssssss)"}
    rows = made["category-chat"].spec["data"]["values"]
    assert [(row["group"], row["value"]) for row in rows] == [(name, 3.5) for name in ratings]
    alone = [chart.name for chart in charts_of([one], by=["type"])]
    assert alone == ["rate-by-type", "histogram-values"]


def test_values_that_criteria_give_are_spread_out(make_view: MakeView, make_case: Any) -> None:
    scores = [Score(points=n / 9, detail={"metrics": {"bleu1": n / 9, "x": "?"}}) for n in range(3)]
    failed = Score.failed("no", detail={"metrics": {"bleu1": 1.0}})
    results = [
        make_case(str(n), ["t"], [{"t": score}]) for n, score in enumerate([*scores, failed])
    ]
    (chart,) = [c for c in charts_of([make_view(results)], by=["type"]) if "bleu1" in c.name]
    shares = [row["share"] for row in chart.spec["data"]["values"]]
    assert sorted(share for share in shares if share) == pytest.approx([1 / 3] * 3)


def test_files(tmp_path: Path) -> None:
    charts = [grouped_bars("metric-../头 脑/x", "t", bars("a")), radar("..", "t", bars(*"abc"))]
    files = drawing.write_charts(charts, tmp_path / "deep" / "er", forms=("svg", "png", "json"))
    assert [path.name for path in files] == [
        f"{name}.{form}"
        for name in ("metric-..-头-脑-x", "chart")
        for form in ("svg", "png", "json")
    ]
    assert files[0].read_text("utf-8").startswith("<svg")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert json.loads(files[2].read_text("utf-8")) == charts[0].spec


def test_chinese_letters_are_drawn_in_png(tmp_path: Path) -> None:
    told: list[str] = []
    one, two = (grouped_bars("x", word, bars("a")) for word in ("中文", "英语"))
    drawn = [drawing.png(chart, notice=told.append) for chart in (one, two)]
    if any("boxes" in words for words in told):
        pytest.skip("no font with Chinese letters can be had here")
    assert drawn[0] != drawn[1]
    assert drawing.shows_chinese()


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for made in (drawing._library, drawing._find_chinese):
        made.cache_clear()
    monkeypatch.setattr(drawing, "_NOTICED", set())
    yield monkeypatch
    for made in (drawing._library, drawing._find_chinese):
        made.cache_clear()


def test_a_font_that_cannot_be_had_is_told_once(fresh: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> bool:
        raise ModelError("there is no network")

    fresh.setattr(drawing, "shows_chinese", lambda: False)
    fresh.setattr(drawing.downloads, "fetch", nothing)
    told: list[str] = []
    for _ in range(2):
        drawing.png(grouped_bars("x", "中文", bars("a")), notice=told.append)
    drawing.png(grouped_bars("x", "latin", bars("a")), notice=told.append)
    (words,) = told
    assert "boxes" in words
    assert "PROCTOR_FONTS" in words


def test_fonts_of_ones_own(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh.setenv("PROCTOR_FONTS", str(tmp_path))
    assert drawing.svg(grouped_bars("x", "t", bars("a")))
    drawing._library.cache_clear()
    fresh.setenv("PROCTOR_FONTS", str(tmp_path / "none"))
    with pytest.raises(MissingResource, match="not a folder"):
        drawing.svg(grouped_bars("x", "t", bars("a")))


def test_without_the_library_it_says_how_to_get_it(fresh: pytest.MonkeyPatch) -> None:
    fresh.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(MissingResource, match=r"proctor\[charts\]"):
        drawing.svg(grouped_bars("x", "t", bars("a")))


def test_specs_are_plain_json() -> None:
    every: list[Mapping[str, Any]] = [
        grouped_bars("x", "t", bars("a")).spec,
        ladder("x", "t", outcome()).spec,
    ]
    assert all(json.loads(json.dumps(spec)) == spec for spec in every)
