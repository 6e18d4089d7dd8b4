"""Texts of the pages in English and Chinese, and the choice of language."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from starlette.requests import Request

LANGUAGES = {"en": "English", "zh": "中文"}
COOKIE = "proctor_lang"


@cache
def words(language: str) -> Mapping[str, str]:
    """Return the texts of a language by their keys."""
    text = files("proctor.web").joinpath("words", f"{language}.json").read_text(encoding="utf-8")
    texts: dict[str, str] = json.loads(text)
    return texts


def language_of(request: Request) -> str:
    """Return the language of the query, else of the cookie, else of the browser."""
    explicit = (request.query_params.get("lang"), request.cookies.get(COOKIE))
    for language in explicit:
        if language in LANGUAGES:
            return str(language)
    for part in request.headers.get("accept-language", "").split(","):
        language = part.partition(";")[0].strip().lower().partition("-")[0]
        if language in LANGUAGES:
            return language
    return "en"
