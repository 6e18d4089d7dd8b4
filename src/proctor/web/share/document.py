"""The shared page, written from top to bottom, case by case, with nothing to load."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from proctor.contracts.report import RunView
from proctor.core.suite import Json
from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.comparing import CompareSettings, compare
from proctor.engine.compare.results import Compared
from proctor.engine.compare.wording import Language
from proctor.engine.run.later_findings import with_later_findings
from proctor.engine.run.stored_view import view_of
from proctor.errors import UsageError
from proctor.reports.reasons import one_line
from proctor.store.store import Store
from proctor.version import __version__
from proctor.web.share.data import Blocks, Questions, case_parts, data_block, written
from proctor.web.share.heads import LANGUAGES, TENTHS, compare_heads, run_head, shared_tags
from proctor.web.static_files import hash_source

MOST_RUNS = 4
MOST_BYTES = 256 * 1024 * 1024
"""Above this size browsers cannot open the page well."""
_STYLES = (
    *(f"static/{name}.css" for name in ("style", "lists", "details", "compare")),
    "share/page.css",
)
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
    views = [with_later_findings(store, view_of(store, one)) for one in references]
    compared = _compared(store, views, settings)
    writer = _PageWriter(file)
    writer.write(_opening(views, _language(settings.language, views)))
    questions = Questions()
    heads: list[Json] = []
    for number, view in enumerate(views):
        rows, counts = _put_cases(writer, view, number, questions, settings.limit)
        heads.append({**run_head(view, number, counts), "rows": rows})
    for block in questions.blocks.rest():
        writer.write(block)
    count = sum(len(head["rows"]) for head in heads)
    _put_heads(writer, heads, compared)
    writer.write(_closing())
    return count


def _compared(store: Store, views: Sequence[RunView], settings: ShareSettings) -> Json:
    """Return every ordered pair of runs, in every language; nothing for a single run."""
    if len(views) < 2:
        return {}
    ids = [view.run.id for view in views]
    tags = shared_tags(views)
    force = settings.force
    ways = [
        (
            compare(store, order, CompareSettings(force=force)),
            # Rows by tag are adjusted for each other, and do not widen the interval of the whole.
            compare(store, order, CompareSettings(force=force, by=tags)) if tags else None,
        )
        for order in (ids, ids[::-1])
    ]
    heads_by_language = {}
    for name in LANGUAGES:
        both = compared_object(ways[0][0], name)
        both["pairs"] = [pair for whole, by_tag in ways for pair in _pairs(whole, by_tag, name)]
        heads_by_language[name] = compare_heads(views, both, name)
    return heads_by_language


def _pairs(whole: Compared, by_tag: Compared | None, language: Language) -> list[Json]:
    """Return the pairs of runs, with their differences by tag."""
    pairs: list[Json] = compared_object(whole, language)["pairs"]
    if by_tag is None:
        return pairs
    tagged = compared_object(by_tag, language)["pairs"]
    return [{**pair, "groups": other["groups"]} for pair, other in zip(pairs, tagged, strict=True)]


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
) -> tuple[list[str], list[int]]:
    """Write the cases of a run; return their table rows, and how many reached each tenth."""
    blocks = Blocks(f"came-{number}")
    rows = []
    counts = [0] * (TENTHS + 1)
    for position, result in enumerate(islice(view.results(), limit)):
        row, question, came = case_parts(view, position, result)
        at, finished = questions.add(written(question))
        for block in (*finished, *blocks.add(written(came))):
            writer.write(block)
        rows.append(f"[{written(row)[1:-1]},{at}]")
        if (value := result.folded.value) is not None and result.case.full_score > 0:
            share = value / result.case.full_score
            counts[0 if share < 0 else min(TENTHS, int(TENTHS * share + 1e-9) + 1)] += 1
    for block in blocks.rest():
        writer.write(block)
    return rows, counts


def _put_heads(writer: _PageWriter, heads: Sequence[Json], compared: Json) -> None:
    """Write the head data: totals, rows, comparison and texts."""
    words = {name: {**_web_words(name), **_own_words()[name]} for name in LANGUAGES}
    more = {"compared": compared, "words": words, "version": __version__}
    runs = []
    for head in heads:
        rows = head.pop("rows")
        runs.append(f'{written(head)[:-1]},"rows":[{",".join(rows)}]}}')
    writer.write(data_block("head", f'{{"runs":[{",".join(runs)}],{written(more)[1:]}'))


def _opening(views: Sequence[RunView], language: str) -> str:
    title = one_line(" · ".join(view.run.name for view in views)) or "Proctor"
    words = _own_words()[language]
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n"
        f"<script>{_theme_script()}</script>\n</head>\n<body>\n"
        '<header class="top full"></header>\n<main id="main" class="full">\n'
        f"<h1>{escape(title)}</h1>\n<noscript><p>{escape(words['no_script'])}</p></noscript>\n"
        f'<p id="old" hidden>{escape(words["old_browser"])}</p>\n'
        "</main>\n"
    )


def _closing() -> str:
    return f'<script type="module">{_script()}</script>\n</body>\n</html>\n'


@cache
def _policy() -> str:
    """Return a policy that allows only this page's own script and style, by their hashes."""
    return (
        f"default-src 'none'; script-src {hash_source(_script())} {hash_source(_theme_script())};"
        f" style-src {hash_source(_style())};"
        " img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


@cache
def _style() -> str:
    return "".join(_styles())


def _styles() -> Iterator[str]:
    web = files("proctor.web")
    for name in _STYLES:
        yield web.joinpath(name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    return "".join(
        files("proctor.web.share").joinpath(name).read_text(encoding="utf-8")
        for name in ("making.js", "lists.js", "attempts.js", "cases.js", "compared.js", "page.js")
    )


@cache
def _theme_script() -> str:
    return files("proctor.web.share").joinpath("theme.js").read_text(encoding="utf-8")


@cache
def _own_words() -> dict[str, dict[str, str]]:
    text = files("proctor.web.share").joinpath("words.json").read_text(encoding="utf-8")
    texts = json.loads(text)
    return {
        language: {f"share.{key}": word for key, word in texts[language].items()}
        | {name: texts[language][name] for name in ("no_script", "old_browser")}
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
