"""Untrusted text as HTML: what people meant is shown, and nothing else gets through."""

from html.parser import HTMLParser

import pytest

from proctor.web.rich_text import MOST, MOST_CODE, coloured, formula, rendered

ELEMENTS = {
    "a", "blockquote", "br", "code", "em", "hr", "img", "li", "ol", "p", "pre", "s", "small", "span", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul", "math", "mi", "mn", "mo", "mrow", "msup", "msub", "mfrac",
    "msqrt", "mtext", "mstyle", "mtable", "mtr", "mtd", "mspace", "mover", "munder", "munderover", "msubsup",
    "mpadded", "mphantom", "menclose", "mroot",
}  # fmt: skip
ATTRIBUTES = {"href", "rel", "target", "class", "src", "alt", "start", "display", "stretchy", "fence",
              "form", "displaystyle", "columnalign", "separator", "linethickness", "mathvariant", "accent",
              "movablelimits", "minsize", "maxsize", "width", "rowspacing", "columnspacing"}  # fmt: skip


class Elements(HTMLParser):
    """All elements and attributes of a document."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A", '<p class="heading level-1">A</p>'),
        ("**b** _c_ ~~d~~", "<p><strong>b</strong> <em>c</em> <s>d</s></p>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("3. a", '<ol start="3"><li>a</li></ol>'),
        ("> a", "<blockquote><p>a</p></blockquote>"),
        ("a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"),
        ("`a < b`", "<p><code>a &lt; b</code></p>"),
        ("```\na < b\n```", '<pre class="code">a &lt; b</pre>'),
        ("|a|\n|-|\n|1|", "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"),
        ("$x$ is", '<p><math display="inline"><mrow><mi>x</mi></mrow></math> is</p>'),
        ("`$x$` *a*", "<p><code>$x$</code> <em>a</em></p>"),
        ("*a\u200bb*", "<p><em>a⟦U+200B⟧b</em></p>"),
    ],
)  # fmt: skip
def test_what_is_rendered(text: str, expected: str) -> None:
    assert rendered(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "   ", "plain words", "two\nlines", "it costs $5 or $6", "a" * (MOST + 1), "<b>x</b>"],
)
def test_what_is_shown_as_it_is(text: str) -> None:
    assert rendered(text) is None


def test_addresses_are_shown_and_only_some_are_links() -> None:
    text = rendered("[a](https://x.org/?q=1) [b](javascript:alert(1)) ![c](https://x.org/p.png)")
    assert text is not None
    assert 'href="https://x.org/?q=1"' in text
    assert text.count("<a ") == 1
    assert "(javascript:alert(1))" in text
    assert "<img" not in text
    picture = rendered("![dot](data:image/png;base64,iVBORw0KGgo=)")
    assert picture is not None
    assert '<img src="data:image/png;base64,iVBORw0KGgo=" alt="dot">' in picture


def test_json_is_indented() -> None:
    text = rendered('{"a":[1,"<i>"]}')
    assert text is not None
    assert "&lt;i&gt;" in text
    assert text.count("\n") >= 4
    assert rendered('{"a": broken}') is None


def test_code_is_coloured_in_known_languages() -> None:
    assert coloured("def f(): pass", "python").count('<span class="c-') > 3
    assert coloured("def f(): pass", "unknown") == "def f(): pass"
    assert "<span" not in coloured("x = 1\n" * MOST_CODE, "python")


@pytest.mark.parametrize("latex", [r"\frac{a}{", "{" * 30 + "x" + "}" * 30, "x" * 3000, r"\left("])
def test_formulas_that_cannot_be_read(latex: str) -> None:
    assert formula(latex) is None


SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    f"# {SCRIPT}",
    f"**{SCRIPT}**",
    f"`{SCRIPT}`",
    f"```html\n{SCRIPT}\n```",
    f"```{SCRIPT}\nx\n```",
    '```python" onmouseover="alert(1)\nx\n```',
    f"| {SCRIPT} |\n|-|\n| {SCRIPT} |",
    f"> {SCRIPT}",
    f"- {SCRIPT}",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    '[x](https://a.b/"onclick="alert(1))',
    "[x](https://a.b 'title\" onclick=alert(1)')",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    '<https://a.b/" onclick="x>',
    "![x](javascript:alert(1))",
    "![x](https://evil.example/p.png)",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    '![" onerror="alert(1)](data:image/png;base64,AAAA)',
    '![x](data:image/png;base64,AAAA" onerror="alert(1))',
    f"$\\text{{{SCRIPT}}}$ *a*",
    r"$\href{javascript:alert(1)}{x}$ *a*",
    r"$$\style{background:url(https://evil.example)}{x}$$ *a*",
    r"$\color{red\" onclick=\"alert(1)}{x}$ *a*",
    r"\[\text{&#x0003C;script&#x0003E;}\] *a*",
    r"\(\class{x\" onload=\"y}{z}\) *a*",
    f'{{"a": "{SCRIPT}"}}',
    '{"' + SCRIPT.replace('"', "") + '": 1}',
    f"<div>\n{SCRIPT}\n</div>\n\n*a*",
    "<iframe src=https://evil.example></iframe> *a*",
    "<img src=x onerror=alert(1)> *a*",
    "<svg/onload=alert(1)> *a*",
    "<!--><script>alert(1)</script>--> *a*",
    "&lt;script&gt;alert(1)&lt;/script&gt; *a*",
    "\ue0000\ue001 *a*",
    "\u202e" + SCRIPT + " *a*",
    "<a href='x' style='position:fixed'>x</a> *a*",
    "*" * 5000 + "a" + "*" * 5000,
    "[" * 5000 + "a" + "](x)" * 100,
    "> " * 3000 + "a",
    "$" * 4001 + " *a*",
    "`" * 5000 + " *a*",
    "\\[" * 2000 + " *a*",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_inert(text: str) -> None:
    html = rendered(text)
    if html is None:
        return
    found = Elements(html)
    assert found.tags <= ELEMENTS
    assert {name for _, name, _ in found.attributes} <= ATTRIBUTES
    for tag, name, value in found.attributes:
        if name == "href":
            assert value.lower().startswith(("https://", "http://", "mailto:")), value
        if name == "src":
            assert tag == "img"
            assert value.startswith("data:image/png;base64,")


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 40
    assert sum(rendered(text) is not None for text in HOSTILE) >= 30
