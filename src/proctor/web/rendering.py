"""Rendering of responses: a page in the reader's language, or the same data as JSON."""

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from proctor.reports.structured import clean
from proctor.web import addresses, reading, rich_text, theme
from proctor.web.api.response import HtmlPage, Page, ResponseModel
from proctor.web.compiled_templates import CompiledTemplates
from proctor.web.highlight import pieces, visible
from proctor.web.sentences import in_language
from proctor.web.static_files import asset, script, style_sheet
from proctor.web.wording import COOKIE, LANGUAGES, language_of, words

YEAR = 365 * 24 * 3600


def answer_with(
    request: Request, result: Page[ResponseModel] | HtmlPage | ResponseModel | Response
) -> Response:
    """Render what a handler returned: a page, or its JSON where the address ends in .json."""
    if isinstance(result, Response):
        return result
    if isinstance(result, ResponseModel):
        return json_answer(result.to_json())
    if isinstance(result, HtmlPage):
        return _html(request, result.template, result.data, 200)
    if addresses.wants_json(request):
        return json_answer(result.data.to_json(), status=result.status)
    data = {**result.data.to_json(), **result.only_page}
    return _html(request, result.template, data, result.status)


def fragment(template: str, language: str, data: Mapping[str, Any]) -> Markup:
    """Render a part of a page in a language."""
    page = _environment().get_template(f"{template}.html")
    return Markup(page.render(**data, t=PageWords(language)))  # noqa: S704  # nosec B704 - autoescaped


def load_pages() -> None:
    """Load what pages are made of, before a later version is installed beside this server.

    Templates of another version want what this version's code does not give them.
    """
    environment = _environment()
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)
    for language in LANGUAGES:
        words(language)


@dataclass(frozen=True, slots=True)
class PageWords:
    """The texts of a page in its language, by their keys."""

    language: str

    def __call__(self, key: str, **values: object) -> str:
        text = words(self.language)[key]
        return text.format(**values) if values else text


def worded(text: str, t: PageWords) -> str:
    """Return a sentence of the engine in the language of a page, where it has one."""
    return in_language(text, t.language)


def short_name(name: str) -> str:
    """Return the name of a model without the address at which it was asked."""
    return name.partition("@http")[0]


def _html(request: Request, template: str, data: Mapping[str, Any], status: int) -> Response:
    if chosen := theme.asked_theme(request):
        # Kept in the browser and not in the address, which people send to each other.
        kept = RedirectResponse(theme.address_without(request), 303)
        kept.set_cookie(theme.COOKIE, chosen, max_age=YEAR, samesite="strict")
        return kept
    language = language_of(request)
    page = _environment().get_template(f"{template}.html").render(
        **data,
        t=PageWords(language),
        language=language,
        languages=_languages(request),
        theme=theme.theme_of(request),
        themes=theme.theme_links(request),
        twin=addresses.twin_of(request) if status == 200 else "",
        link=addresses,
    )  # fmt: skip
    answer = HTMLResponse(page, status_code=status)
    if request.query_params.get("lang") == language:
        answer.set_cookie(COOKIE, language, max_age=YEAR, samesite="strict", httponly=True)
    if (text_mode := request.query_params.get("text")) in reading.CHOICES:
        answer.set_cookie(
            reading.COOKIE, str(text_mode), max_age=YEAR, samesite="strict", httponly=True
        )
    return answer


def json_answer(data: Any, *, status: int = 200) -> Response:
    """Make a JSON response in which every number is finite and every text can be encoded."""
    import json

    text = json.dumps(clean(data, _encodable), ensure_ascii=False, allow_nan=False)
    return Response(text, status_code=status, media_type="application/json")


def percent(value: float | None) -> str:
    """Format a share as a percentage."""
    return "–" if value is None else _with_minus(f"{100 * value:.1f}", "0.0") + "%"


def signed(value: float | None) -> str:
    """Format a difference of shares in percentage points, with its sign."""
    if value is None:
        return "–"
    return _with_minus(f"{100 * value:+.1f}", "0.0")


def coefficient(value: float | None) -> str:
    """Format a number between -1 and 1, such as a correlation or kappa."""
    if value is None:
        return "–"
    return _with_minus(f"{value:.2f}", "0.00")


def _with_minus(shown: str, nothing: str) -> str:
    """Return a number with the sign that is as wide as a plus, and none where it came to zero."""
    return nothing if float(shown) == 0 else shown.replace("-", "−", 1)


def percent_short(value: float | None) -> str:
    """Format a share as a percentage in as few digits as it needs."""
    return "–" if value is None else _with_minus(f"{100 * value:.3g}", "0") + "%"


def number(value: float | None, digits: int = 4) -> str:
    """Format a number briefly, with all digits before the point, in threes; None is a dash."""
    if value is None:
        return "–"
    if 10**digits <= abs(value) < 1e15:
        return f"{value:,.0f}".replace("-", "−")
    shown = f"{value:.{digits}g}"
    if "e-" in shown and abs(value) >= 1e-9:
        # Zeros after the point are read faster than a power of ten.
        shown = f"{value:.{2 - math.floor(math.log10(abs(value)))}f}".rstrip("0")
    if "e" not in shown and abs(float(shown)) >= 1000:
        whole, point, rest = shown.partition(".")
        shown = f"{int(whole):,}{point}{rest}"
    if float(shown.replace(",", "")) == 0:
        return "0"
    # The exponent of a very small number keeps its hyphen.
    return f"−{shown[1:]}" if value < 0 else shown


def marked(text: str, words: Sequence[str]) -> str | Markup:
    """Return a text with some words marked, in upper or lower case."""
    wanted = [word for word in words if word.strip()]
    if not wanted:
        return text
    spans = [
        match.span()
        for word in wanted
        for match in re.finditer(re.escape(word), text, re.IGNORECASE)
    ]
    shown = (
        Markup("<mark>{}</mark>").format(visible(piece["text"]))
        if piece["hit"]
        else escape(visible(piece["text"]))
        for piece in pieces(text, spans, most=None)
    )
    return Markup("").join(shown)


_NO_TEXT = re.compile(r"(<math.*?</math>|<[^>]*>|&[^;\s]{1,10};)", re.S)
"""What is no text in our own HTML: formulas, tags and entities."""


def marked_html(html: Markup, words: Sequence[str]) -> Markup:
    """Return HTML of our own with some words of its texts marked, in upper or lower case."""
    wanted = [re.escape(str(escape(visible(word)))) for word in words if word.strip()]
    if not wanted:
        return html
    pattern = re.compile("|".join(wanted), re.IGNORECASE)
    parts = _NO_TEXT.split(str(html))
    # Every other part is a tag; what is text was escaped when it was written.
    parts[::2] = [pattern.sub(r"<mark>\g<0></mark>", part) for part in parts[::2]]
    return Markup("").join(map(Markup, parts))


_SIGNS = re.compile(
    r"```\w*\s*(?P<block>.*?)\s*(?:```|$)|`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*"
    r"|(?<![\w$\\])\$(?P<formula>[^\s$](?:[^$\n]{0,200}[^\s$\\])?)\$(?![\w$])",
    re.S,
)
_HEADING = re.compile(r"^#{1,6} ")
IN_LIST = 180
"""How many characters of a text two lines of a list can show; a browser measures each of them."""


def beginning(text: str, words: Sequence[str] = ()) -> str | Markup:
    """Return the first lines of a text for a list: code, bold, formulas as such, words marked."""
    text = _HEADING.sub("", text)
    text = text if len(text) <= IN_LIST else f"{text[:IN_LIST]}…"
    shown, end = Markup(""), 0
    for match in _SIGNS.finditer(text):
        name = match.lastgroup or "block"
        tag = Markup("<b>{}</b>") if name == "bold" else Markup("<code>{}</code>")
        shown += marked(visible(text[end : match.start()]), words)
        if name == "formula":
            formula = rich_text.formula(match[name])
            shown += marked(visible(match[0]), words) if formula is None else formula
        elif match[name]:
            shown += tag.format(marked(visible(match[name]), words))
        end = match.end()
    return shown + marked(visible(text[end:]), words)


def changed(text_pieces: Sequence[Mapping[str, Any]], first: bool) -> Markup:
    """Return a text in pieces with what only this one of two texts has marked."""
    start, end = ("<del>", "</del>") if first else ("<ins>", "</ins>")
    parts = []
    for piece in text_pieces:
        text = escape(visible(piece["text"]))
        parts.append(f"{start}{text}{end}" if piece["hit"] else text)
    return Markup("".join(parts))  # noqa: S704  # nosec B704 - escaped above


def rich(text_pieces: Sequence[Mapping[str, Any]]) -> Markup | None:
    """Return a text in pieces as rendered HTML; None where it is cut, or says the same as it is."""
    if any(piece["more"] for piece in text_pieces):
        return None
    return rich_text.rendered("".join(piece["text"] for piece in text_pieces))


def length(text_pieces: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of characters of a text in pieces."""
    return sum(len(piece["text"]) + piece["more"] for piece in text_pieces)


def in_colours(text_pieces: Sequence[Mapping[str, Any]], language: str) -> Markup:
    """Return code in pieces with its words coloured."""
    return rich_text.coloured(visible("".join(piece["text"] for piece in text_pieces)), language)


def place(share: float) -> str:
    """Format where a share is on a bar of 100 units."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}"


def seconds_long(seconds: float | None) -> str:
    """Format a duration in the unit that suits it."""
    if seconds is None:
        return "–"
    if seconds < 0.00095:
        return f"{1000 * seconds:.1g} ms"
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 99.5:
        # As many digits after the point as their neighbours in a column have.
        digits = 2 if seconds < 0.995 else 1 if seconds < 9.95 else 0
        return f"{seconds:.{digits}f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"


def moment(seconds: float | None) -> str:
    """Format a timestamp, in UTC, with its zone."""
    shown = _moment(seconds)
    return f"{shown} UTC" if shown[0].isdigit() else shown


def local_moment(seconds: float | None) -> str | Markup:
    """Return a timestamp that a script of the page turns into the reader's own time."""
    return _time(seconds, Markup('<time datetime="{}">{} UTC</time>'))


def ago(seconds: float | None, t: PageWords) -> str | Markup:
    """Return how long ago a moment was; a script of the page says when, under the pointer."""
    past = max(0.0, time.time() - (seconds or 0.0))
    unit, length = next((one for one in _UNITS if past >= one[1]), _UNITS[-1])
    count = int(past / length)
    told = t(f"ago.{unit}" if count == 1 else f"ago.{unit}s", count=count)
    return _time(
        seconds, Markup('<time datetime="{}" title="{} UTC" data-ago>{}</time>'), escape(told)
    )


_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def _time(seconds: float | None, template: Markup, *more: Markup) -> str | Markup:
    shown = _moment(seconds)
    if not seconds or not shown[0].isdigit():
        return shown
    exact = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return template.format(exact, shown, *more)


def day(seconds: float | None) -> str:
    """Format the day of a timestamp, in UTC."""
    return _moment(seconds).partition(" ")[0]


def _moment(seconds: float | None) -> str:
    if not seconds:
        return "–"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return "?"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _languages(request: Request) -> list[tuple[str, str, str]]:
    """Return each language with the address of this page in it."""
    pairs = [pair for pair in request.query_params.multi_items() if pair[0] != "lang"]
    return [
        (code, name, "?" + urlencode([*pairs, ("lang", code)], errors="replace"))
        for code, name in LANGUAGES.items()
    ]


def _seen(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("proctor.web"),
        bytecode_cache=CompiledTemplates(),
        autoescape=True,
        auto_reload=False,
        finalize=_seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "percent": percent,
        "percent_short": percent_short,
        "place": place,
        "marked": marked,
        "marked_html": marked_html,
        "beginning": beginning,
        "rich": rich,
        "length_of": length,
        "in_colours": in_colours,
        "seconds": seconds_long,
        "local": local_moment,
        "ago": ago,
        "worded": worded,
        "short_name": short_name,
        "number": number,
        "signed": signed,
        "coefficient": coefficient,
        "moment": moment,
        "day": day,
        "visible": visible,
        "changed": changed,
    }
    environment.filters.update(filters)
    environment.globals["asset"] = asset
    environment.globals["style_sheet"] = style_sheet
    environment.globals["script"] = script
    return environment
