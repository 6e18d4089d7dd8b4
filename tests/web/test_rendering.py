"""Rendering: numbers as people read them, JSON that every parser reads, one page for both."""

import json
import math
from typing import Any

import pytest
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from proctor.web import rendering
from proctor.web.api.response import ErrorTold, HtmlPage, Page
from proctor.web.rendering import (
    IN_LIST,
    PageWords,
    ago,
    answer_with,
    beginning,
    coefficient,
    day,
    json_answer,
    local_moment,
    marked_html,
    moment,
    number,
    percent,
    percent_short,
    place,
    seconds_long,
    short_name,
    signed,
)


@pytest.mark.parametrize(
    ("show", "value", "text"),
    [
        (percent, None, "–"),
        (percent, 0.12345, "12.3%"),
        (percent, 1.0, "100.0%"),
        (percent, -0.162, "−16.2%"),
        (percent, -0.0001, "0.0%"),
        (signed, None, "–"),
        (signed, 0.125, "+12.5"),
        (signed, -0.125, "−12.5"),
        (signed, -0.0001, "0.0"),
        (signed, 0.0, "0.0"),
        (number, None, "–"),
        (number, 0.123456, "0.1235"),
        (number, 3.0, "3"),
        (number, 16_840.0, "16,840"),
        (number, 6040, "6,040"),
        (number, -1234.4, "−1,234"),
        (number, 999.96, "1,000"),
        (number, -20_000.4, "−20,000"),
        (number, -0.0, "0"),
        (number, 1e20, "1e+20"),
        (number, 0.0000108, "0.0000108"),
        (number, -0.00000765, "−0.00000765"),
        (number, 1.15e-37, "1.15e-37"),
        (number, -1.15e-37, "−1.15e-37"),
        (coefficient, None, "–"),
        (coefficient, -0.8695, "−0.87"),
        (coefficient, -0.001, "0.00"),
        (short_name, "openai:judge@http://127.0.0.1:1/v1", "openai:judge"),
        (short_name, "openai:judge", "openai:judge"),
        (
            beginning,
            "## Title\n\nand `code`, **bold** <b>",
            "Title\n\nand <code>code</code>, <b>bold</b> &lt;b&gt;",
        ),
        (beginning, "```python def f(): pass ``` then", "<code>def f(): pass</code> then"),
        (beginning, "$5 or 6$7, \\$x$", "$5 or 6$7, \\$x$"),
        (beginning, "```sql SELECT <x", "<code>SELECT &lt;x</code>"),
        (percent_short, None, "–"),
        (percent_short, 1.0, "100%"),
        (percent_short, 1 / 3, "33.3%"),
        (percent_short, -1 / 3, "−33.3%"),
        (percent_short, -0.0, "0%"),
        (place, -0.5, "0.00"),
        (place, 0.25, "25.00"),
        (place, 1.5, "100.00"),
        (seconds_long, None, "–"),
        (seconds_long, 0.0123, "12 ms"),
        (seconds_long, 0.6, "0.60 s"),
        (seconds_long, 0.996, "1.0 s"),
        (seconds_long, 1.25, "1.2 s"),
        (seconds_long, 9.96, "10 s"),
        (seconds_long, 75.2, "75 s"),
        (seconds_long, 600.0, "10 min"),
        (seconds_long, 7260.0, "2 h 01 min"),
        (local_moment, None, "–"),
        (local_moment, 1e20, "?"),
        (
            local_moment,
            86400.0,
            '<time datetime="1970-01-02T00:00:00Z">1970-01-02 00:00 UTC</time>',
        ),
        (moment, None, "–"),
        (moment, 0, "–"),
        (moment, 86400.0, "1970-01-02 00:00 UTC"),
        (moment, 1e20, "?"),
        (moment, math.nan, "?"),
        (day, 86400.0, "1970-01-02"),
        (day, None, "–"),
    ],
)
def test_values_are_short_and_never_break_a_page(show: Any, value: Any, text: str) -> None:
    assert show(value) == text


def test_json_has_finite_numbers_and_texts_that_can_be_sent() -> None:
    answer = json_answer(
        {"a": [math.nan, math.inf, 1.5], "b": "half \ud800", "c": "漢"}, status=400
    )
    assert (answer.status_code, answer.media_type) == (400, "application/json")
    read = json.loads(answer.body)
    assert read["a"] == [None, None, 1.5]
    assert read["b"] == "half \\ud800"
    assert "漢" in answer.body.decode()


def request(path: str, query: str = "") -> Request:
    return Request(
        {
            "type": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [],
        }
    )


def test_a_page_is_its_data_as_json_where_the_address_says_so() -> None:
    data = ErrorTold(status=404, message="<b>gone</b>")
    page = Page(template="error", data=data, status=404, only_page={"link": "x"})
    twin = answer_with(request("/x.json"), page)
    assert (twin.status_code, json.loads(twin.body)) == (
        404,
        {"status": 404, "message": "<b>gone</b>"},
    )
    plain = PlainTextResponse("as it is")
    assert answer_with(request("/x.json"), plain) is plain
    assert json.loads(answer_with(request("/x"), data).body) == data.to_json()


def test_a_page_is_escaped_and_remembers_the_language_that_was_chosen() -> None:
    html = HtmlPage(template="error", data={"error": {"status": 404, "message": "<b>gone</b>"}})
    chosen = answer_with(request("/x", "lang=zh"), html)
    assert b"<b>gone</b>" not in chosen.body
    assert b'lang="zh' in chosen.body
    assert "zh" in chosen.headers["set-cookie"]
    assert "HttpOnly" in chosen.headers["set-cookie"]
    assert "set-cookie" not in answer_with(request("/x"), html).headers
    assert "set-cookie" not in answer_with(request("/x", "lang=xx"), html).headers


@pytest.mark.parametrize(
    ("html", "words", "wanted"),
    [
        ("<p>No Parcel.</p>", ["parcel"], "<p>No <mark>Parcel</mark>.</p>"),
        ("<p>a</p>", [], "<p>a</p>"),
        ("<p>a &amp; b</p>", ["amp"], "<p>a &amp; b</p>"),
        ('<a class="p">p</a>', ["p"], '<a class="p"><mark>p</mark></a>'),
        ("<math><mi>p</mi></math> p", ["p"], "<math><mi>p</mi></math> <mark>p</mark>"),
        ("<p>x</p>", ["<p>"], "<p>x</p>"),
        ("<p>(a.b)</p>", ["(a.b)"], "<p><mark>(a.b)</mark></p>"),
        ("<p>x</p>", ["\\g<0>", " "], "<p>x</p>"),
    ],
)
def test_words_are_marked_in_our_own_html(html: str, words: list[str], wanted: str) -> None:
    assert marked_html(Markup(html), words) == wanted


def test_a_formula_in_the_beginning_of_a_text_is_one() -> None:
    shown = beginning("always $O(1)$ <b>", ["always"])
    assert str(shown).startswith("<mark>always</mark> <math")
    assert "$" not in shown
    assert str(shown).endswith("</math> &lt;b&gt;")
    # What cannot be read as a formula stays as it is.
    assert str(beginning("$" + "{" * 150 + "$")) == "$" + "{" * 150 + "$"


def test_a_list_has_as_much_of_a_text_as_two_lines_show() -> None:
    shown = str(beginning("word " * 200, ["word"]))
    assert shown.count("<mark>") == IN_LIST // 5
    assert shown.endswith(" …")
    assert str(beginning("x" * IN_LIST)) == "x" * IN_LIST


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (0.4, "0 seconds ago", "0 秒前"),
        (1, "1 second ago", "1 秒前"),
        (119, "1 minute ago", "1 分钟前"),
        (7200, "2 hours ago", "2 小时前"),
        (86400 * 12.9, "12 days ago", "12 天前"),
        (-60, "0 seconds ago", "0 秒前"),
    ],
)
def test_how_long_ago_a_moment_was(
    monkeypatch: pytest.MonkeyPatch, seconds: float, english: str, chinese: str
) -> None:
    monkeypatch.setattr("time.time", lambda: 1.7e9)
    for language, told in (("en", english), ("zh", chinese)):
        shown = str(ago(1.7e9 - seconds, PageWords(language)))
        assert shown.startswith('<time datetime="2023-11-')
        assert shown.endswith(f' UTC" data-ago>{told}</time>')
    assert ago(None, PageWords("en")) == "–"


def test_loaded_pages_read_no_file_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rendering.load_pages()
    environment = rendering._environment()

    def gone(*_: object) -> None:
        raise AssertionError("a template is read again")

    monkeypatch.setattr(environment.loader, "get_source", gone)
    names = environment.list_templates(extensions=["html"])
    assert {"home.html", "run.html", "case.html", "compare.html"} <= set(names)
    for name in names:
        assert environment.get_template(name).name == name
