"""The words of the pages in English and Chinese, and which language a reader wants."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from starlette.requests import Request

LANGUAGES = {"en": "English", "zh": "中文"}
COOKIE = "proctor_lang"


@cache
def words(language: str) -> Mapping[str, str]:
    """Return the words of a language by their keys."""
    text = files("proctor.web").joinpath("words", f"{language}.json").read_text(encoding="utf-8")
    made: dict[str, str] = json.loads(text)
    return made


def language_of(request: Request) -> str:
    """Return the language asked for: by the address, else the cookie, else the browser."""
    asked = (request.query_params.get("lang"), request.cookies.get(COOKIE))
    for wanted in asked:
        if wanted in LANGUAGES:
            return str(wanted)
    for part in request.headers.get("accept-language", "").split(","):
        wanted = part.partition(";")[0].strip().lower().partition("-")[0]
        if wanted in LANGUAGES:
            return wanted
    return "en"
