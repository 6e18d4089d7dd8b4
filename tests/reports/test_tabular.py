"""The table, Markdown and CSV reports, to the letter."""

import csv
import io
import random
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.run import Group, Run
from proctor.core.score import Score
from proctor.core.suite import Spec
from proctor.errors import UsageError
from proctor.registry import build
from proctor.reports import tabular
from proctor.reports.tabular import CsvReport, MarkdownReport, TableReport, printed

TABLE = """\
incomplete: 2 of 10 attempts failed; 1 of 3 cases could not be scored

first · suite suite_x · candidate gpt-4_0.2 · incomplete

Group             Score     ±  Full    Rate       ±  Interval 95%    Share  Cases
─────────────────────────────────────────────────────────────────────────────────
Overall            1.25  0.19  3.00  41.67%   6.25%   -12.5–95.0%  100.00%      3

lang: python       0.75  0.25  2.00  37.50%  12.50%    25.0–50.0%   66.67%      2
lang: sql          0.50  0.50  1.00  50.00%  50.00%             –   33.33%      1
lang: web          0.50  0.50  1.00  50.00%  50.00%             –   33.33%      1

metric: rouge      0.00  0.00  1.00   0.00%   0.00%             –   33.33%      1
metric: keywords   0.75  0.25  1.00  75.00%  25.00%             –   33.33%      1
metric: blanks     0.50  0.50  1.00  50.00%  50.00%             –   33.33%      1

Case    Value  Full               Status  Why
──────────────────────────────────────────────────────────────────────────
0-0-2    0.75     1               scored  keywords 1 of 2: 1 of 2 keywords
0-0-10    0.5     1               scored  blank_filling 0 of 2
0-0-3       0     1           unanswered  no answer
0-0-4       –     1  unscored (verifier)  unit_test: no sandbox
0-0-5       –     1                error  connection refused

Unanswered: 2 of 10 attempts
Unscored: 2 of 10 attempts, 1 case without a value; the rate lies within 31.2–56.2%
Errors: 2 of 10 attempts failed and are not counted; the same command retries them
accuracy: 0.0000 [0.0000, 0.5615] (n = 3)
Calls: 4, tokens in 900, out 100, $0.5000
Signature: keywords:1|n:3
"""

MARKDOWN = """\
**incomplete: 2 of 10 attempts failed; 1 of 3 cases could not be scored**

**first · suite suite_x · candidate gpt-4_0.2 · incomplete**

| Group | Score | ± | Full | Rate | ± | Interval 95% | Share | Cases |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| Overall | 1.25 | 0.19 | 3.00 | 41.67% | 6.25% | -12.5–95.0% | 100.00% | 3 |
| lang: python | 0.75 | 0.25 | 2.00 | 37.50% | 12.50% | 25.0–50.0% | 66.67% | 2 |
| lang: sql | 0.50 | 0.50 | 1.00 | 50.00% | 50.00% | – | 33.33% | 1 |
| lang: web | 0.50 | 0.50 | 1.00 | 50.00% | 50.00% | – | 33.33% | 1 |

- Unanswered: 2 of 10 attempts
- Unscored: 2 of 10 attempts, 1 case without a value; the rate lies within 31.2–56.2%
- Errors: 2 of 10 attempts failed and are not counted; the same command retries them
- accuracy: 0.0000 \\[0.0000, 0.5615\\] (n = 3)
- Calls: 4, tokens in 900, out 100, $0.5000

Signature: `keywords:1|n:3`
"""

MARKDOWN_CASES = """
| Case | Value | Full | Status | Why |
| --- | ---: | ---: | ---: | ---: |
| 0-0-2 | 0.75 | 1 | scored | keywords 1 of 2: 1 of 2 keywords |
| 0-0-10 | 0.5 | 1 | scored | blank_filling 0 of 2 |
| 0-0-3 | 0 | 1 | unanswered | no answer |
| 0-0-4 | – | 1 | unscored (verifier) | unit_test: no sandbox |
| 0-0-5 | – | 1 | error | connection refused |
"""

CSV = """\
section,name,score,score_spread,full,rate,spread,interval_low,interval_high,share,cases
overall,overall,1.25,0.1875,3.0,0.4166666666666667,0.0625,-0.125,0.95,1.0,3
type,qa,1.25,0.25,2.0,0.625,0.125,,,0.6666666666666666,2
type,debug,0.0,0.0,1.0,0.0,0.0,,,0.3333333333333333,1
"""

CSV_CASES = """\
id,status,value,full,rate,low,high,lang,type
0-0-2,scored,0.75,1.0,0.75,0.75,0.75,python,qa
0-0-10,scored,0.5,1.0,0.5,0.5,0.5,sql; web,qa
0-0-3,unanswered,0.0,1.0,0.0,0.0,0.0,python,debug
0-0-4,unscored,,1.0,,0.0,1.0,go,debug
0-0-5,error,,1.0,,0.0,1.0,go,debug
"""


def test_table(make_view: Any) -> None:
    made = TableReport(width=90).render(make_view(), by=["lang", "metric"], cases=True)
    assert made == TABLE


def test_markdown(make_view: Any) -> None:
    assert MarkdownReport().render(make_view(), by=["lang"]) == MARKDOWN
    whole = MarkdownReport().render(make_view(), by=["lang"], cases=True)
    assert whole == MARKDOWN + MARKDOWN_CASES


def test_csv(make_view: Any) -> None:
    assert CsvReport().render(make_view(), by=["type"]) == CSV
    assert CsvReport().render(make_view(), cases=True) == CSV_CASES


@pytest.mark.parametrize("name", ["table", "md", "csv"])
def test_all_breakdowns_unless_told(make_view: Any, name: str) -> None:
    report = build("report", Spec(name=name))
    made = report.render(make_view())
    places = [made.index(word) for word in ("python", "debug", "rouge")]
    assert places == sorted(places)
    assert "rouge" not in report.render(make_view(), by=["lang"])
    with pytest.raises(UsageError, match="no breakdown by 'nothing'"):
        report.render(make_view(), by=["nothing"])


def test_nothing_to_note_is_not_noted(make_view: Any) -> None:
    view = make_view()
    totals = replace(
        view.summary.totals, unanswered=0, unscored=0, errors=0, bounds=None, rate=None, full=0.0
    )
    summary = replace(view.summary, totals=totals, groups={}, measures={})
    made = MarkdownReport().render(replace(view, summary=summary))
    assert made.splitlines()[6:] == [
        "| Overall | 1.25 | 0.00 | 0.00 | – | 6.25% | -12.5–95.0% | – | 3 |",
        "",
        "- Calls: 4, tokens in 900, out 100, $0.5000",
        "",
        "Signature: `keywords:1|n:3`",
    ]


@pytest.mark.parametrize("width", [20, 60, 80, 200])
def test_no_width_costs_a_number(make_view: Any, width: int) -> None:
    made = TableReport(width=width).render(make_view(), cases=True)
    assert "…" not in made.split("Case")[0]
    for number in ("41.67%", "-12.5–95.0%", "25.0–50.0%", "100.00%"):
        assert number in made
    if width > 100:
        assert max(map(len, made.splitlines())) <= width


def test_nothing_is_cut_where_no_width_is_given(make_view: Any) -> None:
    made = TableReport().render(make_view(), cases=True)
    narrow = TableReport(width=60).render(make_view(), cases=True)
    assert "…" not in made + narrow
    words = made.split("Case")[1].split()
    assert [word for word in words if len(word) < 10 and word not in narrow] == []


def test_colour_only_when_asked_for(make_view: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    assert "\x1b" not in TableReport().render(make_view())
    assert "\x1b" in TableReport(color=True).render(make_view())


HOSTILE = "[red]x[/red]|=1+\x1b[2J\n\u202e:smile:"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("table", "lang: [red]x[/red]|=1+ [2J :smile:"),
        ("md", r"| lang: \[red\]x\[/red\]\|=1+ \[2J :smile: |"),
    ],
)
def test_names_are_shown_and_never_obeyed(make_view: Any, name: str, shown: str) -> None:
    view = make_view()
    found: Group = view.summary.groups["lang"]["sql"]
    summary = replace(view.summary, groups={"lang": {HOSTILE: found}})
    run: Run = replace(view.run, name="a\x1b[31mb", signature="s`\x07")
    made = build("report", Spec(name=name)).render(replace(view, summary=summary, run=run))
    assert shown in made
    assert not any(mark in made for mark in ("\x1b", "\u202e", "\x07"))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("\rx", "'\nx"),
        ("a\r=1", "a\n=1"),
        ("a=1", "a=1"),
        ('say "hi", ok', 'say "hi", ok'),
        ("half \ud800 nul \0", "half ? nul "),
    ],
)
def test_csv_cells_are_no_formulas(make_view: Any, make_case: Any, text: str, cell: str) -> None:
    view = make_view()
    found: Group = view.summary.groups["lang"]["sql"]
    named = replace(view, summary=replace(view.summary, groups={"lang": {text: found}}))
    assert list(csv.reader(io.StringIO(CsvReport().render(named))))[2][1] == cell
    score = {"contains": Score(points=-1.0, out_of=1.0)}
    case = make_case(text, ["contains"], [score], tags={"id": (text,)})
    rows = list(csv.reader(io.StringIO(CsvReport().render(make_view([case]), cases=True))))
    assert rows[0][-1] == "tag:id"
    assert rows[1] == [cell, "scored", "-1.0", "1.0", "-1.0", "-1.0", "-1.0", cell]


def test_a_table_for_a_pipe_is_what_rich_would_draw() -> None:
    draw = random.Random(3)

    def cell() -> str:
        size = draw.randint(0, 14)
        return "".join(draw.choice('abcdefgh c–±é%.|[]"…') for _ in range(size)).strip()

    for _ in range(40):
        columns, text_last = draw.randint(2, 7), draw.random() < 0.5
        header = [cell() or "x" for _ in range(columns)]
        sections = [
            [[cell() for _ in range(columns)] for _ in range(draw.randint(1, 3))]
            for _ in range(draw.randint(0, 3))
        ]
        drawn = printed([tabular._rich_table(header, sections, fold_last=text_last)])
        lines = tabular._plain_table(header, sections, text_last=text_last)
        assert "".join(f"{line.rstrip()}\n" for line in lines) == drawn


@pytest.mark.parametrize("text", ["数学", "e\u0301", "\u200d", "🙂", "a\tb", "a\nb", "\x1b[1m"])
def test_characters_of_another_width_are_left_to_rich(text: str) -> None:
    assert not tabular._is_plain(text)
    assert tabular._is_plain("Größe – ±5 % …")


def counted(unmatched: int, *contained: str) -> dict[str, Any]:
    return {"compared": 4, "unmatched": unmatched, "contained": list(contained)}


@pytest.mark.parametrize(
    ("several", "notes"),
    [
        ([{}, {}], []),
        ([counted(1), counted(0)], []),
        (
            [counted(2, "a", "b"), counted(3, "b", "c"), counted(0)],
            [
                "References: in 2 of 3 runs answers to some cases equal none, but contain one"
                " (a, b, c); to count these, write contains: {any: references}"
            ],
        ),
        (
            [counted(4), counted(4), counted(2, *"abcdef")],
            [
                "References: in 1 of 3 runs answers to some cases equal none, but contain one"
                " (a, b, c, d, e); to count these, write contains: {any: references}",
                "References: in 2 of 3 runs no answer to any case equals one; are they right?",
            ],
        ),
    ],
)
def test_strict_references_are_noted_once_for_several_runs(
    several: list[dict[str, Any]], notes: list[str]
) -> None:
    assert tabular.shared_reference_notes(several) == notes
