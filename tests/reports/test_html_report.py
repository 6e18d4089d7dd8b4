"""The page of a run: whole, alone, without a script, whatever names and answers say."""

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from proctor.contracts.report import RunView
from proctor.core.run import Measured
from proctor.core.score import Score
from proctor.core.suite import Message
from proctor.reports.charts import drawing
from proctor.reports.html import HtmlReport

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\ud800\u202e&amp;"
EMPTY = {"meta", "img", "br"}


class Page(HTMLParser):
    """Gather tags, attributes and text, and see that all is closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


@pytest.fixture
def page(make_view: Callable[..., RunView]) -> Callable[..., Page]:
    def make(view: RunView | None = None, **how: Any) -> Page:
        report = HtmlReport(charts=how.pop("charts", False))
        found = report.render(view or make_view(), **how)
        found.encode()
        made = Page(found)
        assert made.open == []
        return made

    return make


def test_the_numbers_are_there(page: Any) -> None:
    text = page().text
    for words in (
        "first", "suite suite_x", "gpt-4_0.2", "incomplete", "41.7%", "-12.5% to 95.0%", "of 3.00",
        "By lang", "python", "37.5%", "25.0% to 50.0%", "By type", "accuracy", "0.0000 to 0.5615",
        "Unscored: 2", "Errors: 2", "Calls: 4", "keywords:1|n:3",
    ):  # fmt: skip
        assert words in text, words
    assert "0-0-2" not in text
    assert "By type" not in page(by=["lang"]).text


def test_measures_by_category_and_a_run_without_marks(
    make_view: Callable[..., RunView], page: Any
) -> None:
    view = make_view()
    by = {"chat": {"value": 3.25, "n": 2}, "头脑风暴": {"value": None, "n": 0}}
    measures = {
        "relevance": Measured(value=3.25, interval=None, n=2, detail={"by": by}),
        "bleu1": Measured(value=0.5, interval=None, n=2, detail={"by": {"qa": {"value": 0.5}}}),
        "reasons": Measured(value=None, interval=None, n=2, detail={"stop": 2}),
    }
    totals = replace(view.summary.totals, score=0.0, full=0.0, rate=None)
    summary = replace(view.summary, totals=totals, groups={}, measures=measures)
    text = page(replace(view, summary=summary)).text
    for words in ("Measures by category", "chat", "3.2500", "头脑风暴", "qa", "reasons: stop 2"):
        assert words in text, words
    assert "points" not in text


def test_cases_with_question_answers_and_scores(page: Any) -> None:
    text = page(cases=True).text
    for words in ("0-0-2", "0.75 of 1", "an answer", "1 of 2 keywords", "connection refused"):
        assert words in text, words


def test_clusters_and_what_a_measure_left_out_are_told(
    make_view: Callable[..., RunView], page: Any
) -> None:
    view = make_view()
    left_out = Measured(value=0.5, interval=(0.1, 0.9), n=4, note="6 cases left out")
    summary = replace(
        view.summary,
        totals=replace(view.summary.totals, clusters=2),
        measures={"pass@3": left_out, "accuracy": replace(left_out, note="")},
        clustered_by="question",
    )
    text = page(replace(view, summary=summary)).text
    assert "in 2 questions, " in text
    assert "6 cases left out" in text
    assert "Note" not in page().text


@pytest.mark.slow
def test_whatever_a_stranger_wrote_is_text(
    make_view: Callable[..., RunView], make_case: Any, page: Any
) -> None:
    made = make_case("c", ["t"], [{"t": Score(points=1.0, out_of=1.0, reason=HOSTILE)}])
    case = replace(
        made.case,
        id=HOSTILE,
        messages=(Message(role=HOSTILE, content=HOSTILE, images=("data:x",)),),
        references=(HOSTILE,),
        tags={HOSTILE: (HOSTILE,)},
    )
    (tried,) = made.attempts
    said = (Message(role="assistant", content=HOSTILE),)
    tried = replace(tried, attempt=replace(tried.attempt, messages=said, error=HOSTILE))
    result = replace(made, case=case, attempts=(tried,))
    view = make_view([result])
    group = view.summary.groups["lang"]["sql"]
    hostile = replace(
        view,
        run=replace(view.run, name=HOSTILE, suite=HOSTILE, signature=HOSTILE),
        summary=replace(
            view.summary,
            groups={HOSTILE: {HOSTILE: group, "b": group, "c": group}},
            measures={HOSTILE: Measured(value=0.5, interval=(0.1, 0.9), n=1)},
        ),
    )
    found = page(hostile, cases=True, charts=True)
    tags = {tag for tag, _ in found.tags}
    assert tags <= {
        "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "section",
        "div", "span", "b", "table", "thead", "tbody", "tr", "th", "td", "figure", "img", "details",
        "summary", "pre", "footer", "code",
    }  # fmt: skip
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert found.text.count("<script>alert(1)</script>") >= 10
    assert not re.search("[\x00-\x08\x1b\ud800\u202e]", found.text)


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(page: Any) -> None:
    found = page(charts=True, cases=True)
    images = [attrs["src"] for tag, attrs in found.tags if tag == "img"]
    assert len(images) >= 4
    assert all(str(src).startswith("data:image/svg+xml;base64,") for src in images)
    assert all(attrs["alt"] for tag, attrs in found.tags if tag == "img")
    assert not [attrs for _, attrs in found.tags if "href" in attrs]
    (policy,) = [
        attrs["content"]
        for _, attrs in found.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in str(policy)
    assert "script-src" not in str(policy)


def test_without_the_library_the_page_has_tables_and_says_why(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "missing", lambda: "charts need it")
    found = page(charts=True)
    assert "No charts: charts need it" in found.text
    assert "By lang" in found.text
