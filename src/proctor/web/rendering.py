"""Rendering of responses: a page in the reader's language, or the same data as JSON."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from proctor.reports.structured import clean
from proctor.web import addresses
from proctor.web.api.response import HtmlPage, Page, ResponseModel
from proctor.web.highlight import visible
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


def _html(request: Request, template: str, data: Mapping[str, Any], status: int) -> Response:
    language = language_of(request)
    texts = words(language)

    def t(key: str, **values: object) -> str:
        return texts[key].format(**values) if values else texts[key]

    text = _environment().get_template(f"{template}.html").render(
        **data,
        t=t,
        language=language,
        languages=_languages(request),
        twin=addresses.twin_of(request) if status == 200 else "",
        link=addresses,
    )  # fmt: skip
    answer = HTMLResponse(text, status_code=status)
    if request.query_params.get("lang") == language:
        answer.set_cookie(COOKIE, language, max_age=YEAR, samesite="strict", httponly=True)
    return answer


def json_answer(data: Any, *, status: int = 200) -> Response:
    """Make a JSON response in which every number is finite and every text can be encoded."""
    import json

    text = json.dumps(clean(data, _encodable), ensure_ascii=False, allow_nan=False)
    return Response(text, status_code=status, media_type="application/json")


def percent(value: float | None) -> str:
    """Format a share as a percentage."""
    return "–" if value is None else f"{100 * value:.1f}%"


def signed(value: float | None) -> str:
    """Format a difference of shares in percentage points, with its sign."""
    if value is None:
        return "–"
    shown = f"{100 * value:+.1f}"
    return "0.0" if float(shown) == 0 else shown.replace("-", "−")


def number(value: float | None, digits: int = 4) -> str:
    """Format a number briefly; None is a dash."""
    return "–" if value is None else f"{value:.{digits}g}"


def moment(seconds: float | None) -> str:
    """Format a timestamp, in UTC."""
    if not seconds:
        return "–"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return "?"


def day(seconds: float | None) -> str:
    """Format the day of a timestamp, in UTC."""
    return moment(seconds).partition(" ")[0]


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
        autoescape=True,
        finalize=_seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "percent": percent,
        "number": number,
        "signed": signed,
        "moment": moment,
        "day": day,
        "visible": visible,
    }
    environment.filters.update(filters)
    return environment
