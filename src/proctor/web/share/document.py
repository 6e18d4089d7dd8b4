"""The shared page, written from top to bottom, case by case, with nothing to load."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast, get_args

from proctor.contracts.report import RunView
from proctor.core.suite import Json
from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.comparing import CompareSettings, compare
from proctor.engine.compare.wording import Language
from proctor.engine.run.stored_view import view_of
from proctor.errors import UsageError
from proctor.reports.reasons import one_line
from proctor.reports.structured import to_object
from proctor.store.store import Store
from proctor.version import __version__
from proctor.web.share.data import Blocks, Questions, case_parts, written

LANGUAGES: tuple[Language, ...] = get_args(Language)
MOST_RUNS = 4
MOST_BYTES = 256 * 1024 * 1024
"""Above this size browsers cannot open the page well."""
MANY_BYTES = 48 * 1024 * 1024
"""Above this size a page takes seconds to open, and a notice says so."""


@dataclass(frozen=True, kw_only=True)
class ShareSettings:
    """Contents of a shared page."""

    language: str = ""
    """Empty: the suite's language."""
    limit: int | None = None
    """How many cases of each run to include, from the first; numbers cover all cases."""
    force: bool = False
    """Whether to compare runs whose numbers are not comparable."""


def write_page(
    store: Store, references: Sequence[str], file: BinaryIO, settings: ShareSettings
) -> int:
    """Write runs as one page; return the number of cases in it."""
    if not 1 <= len(references) <= MOST_RUNS:
        raise UsageError(f"expected 1 to {MOST_RUNS} runs to share, not {len(references)}")
    views = [view_of(store, reference) for reference in references]
    compared = {}
    if len(views) > 1:
        comparison = compare(
            store, [view.run.id for view in views], CompareSettings(force=settings.force)
        )
        compared = {name: compared_object(comparison, name) for name in LANGUAGES}
    writer = _PageWriter(file)
    writer.write(_opening(views, _language(settings.language, views)))
    questions = Questions()
    heads: list[Json] = []
    for number, view in enumerate(views):
        rows = _put_cases(writer, view, number, questions, settings.limit)
        heads.append({**to_object(view), "rows": rows, "language": view.suite.language})
    for block in questions.blocks.rest():
        writer.write(block)
    count = sum(len(head["rows"]) for head in heads)
    _put_heads(writer, heads, compared)
    writer.write(_closing())
    return count


class _PageWriter:
    """Writer of the page's text, with a limit on its size."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size = file, 0

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self.size += len(data)
        if self.size > MOST_BYTES:
            raise UsageError(
                f"the page would be larger than {MOST_BYTES // 2**20} MB, too much for a browser"
                " (fix: --limit N puts only the first N cases into it; or share the run as"
                " .jsonl, or its pages with `proctor view`)"
            )
        self.file.write(data)


def _put_cases(
    writer: _PageWriter, view: RunView, number: int, questions: Questions, limit: int | None
) -> list[str]:
    """Write the cases of a run, and return their table rows."""
    blocks = Blocks(f"came-{number}")
    rows = []
    for result in islice(view.results(), limit):
        row, question, came = case_parts(result)
        at, finished = questions.add(written(question))
        for block in (*finished, *blocks.add(written(came))):
            writer.write(block)
        rows.append(f"[{written(row)[1:-1]},{at}]")
    for block in blocks.rest():
        writer.write(block)
    return rows


def _put_heads(writer: _PageWriter, heads: Sequence[Json], compared: Json) -> None:
    """Write the head data: totals, rows, comparison and texts."""
    writer.write('<script type="application/json" id="head">{"runs":[')
    for number, head in enumerate(heads):
        rows = head.pop("rows")
        writer.write(("," if number else "") + written(head)[:-1] + ',"rows":[')
        for place in range(0, len(rows), 1000):
            writer.write(("," if place else "") + ",".join(rows[place : place + 1000]))
        writer.write("]}")
    words = {name: {**_web_words(name), **_own_words()[name]} for name in LANGUAGES}
    more = {"compared": compared, "words": words, "version": __version__}
    writer.write("]," + written(more)[1:] + "</script>\n")


def _opening(views: Sequence[RunView], language: str) -> str:
    title = one_line(" · ".join(view.run.name for view in views)) or "Proctor"
    words = _own_words()[language]
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n"
        '<header class="top"></header>\n<main id="main">\n'
        f"<h1>{escape(title)}</h1>\n<noscript><p>{escape(words['no_script'])}</p></noscript>\n"
        "</main>\n"
    )


def _closing() -> str:
    return f"<script>{_script()}</script>\n</body>\n</html>\n"


@cache
def _policy() -> str:
    """Return a policy that allows only this page's own script and style, by their hashes."""
    return (
        f"default-src 'none'; script-src {_hashed(_script())}; style-src {_hashed(_style())};"
        " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _style() -> str:
    return "".join(_styles())


def _styles() -> Iterator[str]:
    web = files("proctor.web")
    for name in ("static/style.css", "static/details.css", "share/page.css"):
        yield web.joinpath(name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    return "".join(
        files("proctor.web.share").joinpath(name).read_text(encoding="utf-8")
        for name in ("making.js", "lists.js", "cases.js", "page.js")
    )


@cache
def _own_words() -> dict[str, dict[str, str]]:
    text = files("proctor.web.share").joinpath("words.json").read_text(encoding="utf-8")
    texts = json.loads(text)
    return {
        language: {f"share.{key}": word for key, word in texts[language].items()}
        | {"no_script": texts[language]["no_script"]}
        for language in LANGUAGES
    }


def _web_words(language: str) -> dict[str, str]:
    path = files("proctor.web").joinpath("words", f"{language}.json")
    texts: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return texts


def _language(requested: str, views: Sequence[RunView]) -> str:
    """Return the language of the page: the requested one, or that of the first suite."""
    language = (requested or views[0].suite.language).lower().partition("-")[0]
    if language in LANGUAGES:
        return language
    if requested:
        raise UsageError(f"expected the language {' or '.join(LANGUAGES)}, not {requested!r}")
    return cast(str, LANGUAGES[0])


def size_notice(path: Path) -> str:
    """Return a notice if a page is so large that it opens slowly."""
    size = path.stat().st_size
    if size <= MANY_BYTES:
        return ""
    return (
        f"{path} has {size / 2**20:.0f} MB and opens slowly"
        " (--limit N puts only the first N cases into it)"
    )
