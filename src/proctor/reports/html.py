"""A run as one self-contained page: tables and charts, no script, nothing loaded."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from proctor.contracts.report import Report, RunView
from proctor.core.attempt import TRACEBACK
from proctor.core.cause import cause_of
from proctor.core.names import clusters_text
from proctor.core.prompt import as_asked
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score
from proctor.core.suite import Json, Message, Spec
from proctor.reports.charts import drawing
from proctor.reports.charts.chosen_charts import charts_of
from proctor.reports.charts.parts import Chart
from proctor.reports.reasons import one_line, reasons, shortfall
from proctor.reports.tabular import cases_words, notes_of, rows_of

_UNKNOWN = "–"
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
_STYLE = """
:root { --ink: #22262d; --faint: #6b727d; --line: #e1e5ea; --paper: #fff; --fill: #d6e6f4;
  --accent: #0b6db7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --faint: #9aa2ad; --line: #363c45;
  --paper: #16191d; --fill: #1d3b55; --accent: #6db1ea; } }
body { font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans SC", sans-serif; color: var(--ink);
  background: var(--paper); max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
.about, footer { color: var(--faint); overflow-wrap: anywhere; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; }
.cards div { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .9rem; }
.cards b { display: block; font-size: 1.3rem; }
.cards span { color: var(--faint); font-size: .85rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th { color: var(--faint); font-weight: 500; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; }
td.bar { background-repeat: no-repeat; background-image: linear-gradient(var(--fill), var(--fill));
  padding-left: .5rem; }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; }
details { border-bottom: 1px solid var(--line); padding: .35rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary b { margin-right: .6rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid var(--line);
  padding-left: .8rem; margin: .4rem 0; font: 13px/1.45 ui-monospace, monospace; }
.role { color: var(--faint); font-size: .85rem; margin: .6rem 0 0; }
.why { color: var(--faint); }
.short { font-weight: 600; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class HtmlReport(Report):
    """Report of a run as one page with tables and charts, without a script."""

    charts: bool = True

    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        parts = [
            *_opening(view),
            *_cards(view),
            *_breakdowns(view, by),
            *_measures(view),
            *_scan(view),
            *(_pictures(view, by) if self.charts else ()),
            *(_cases(view.results(), view.run.candidate) if cases else ()),
            *_closing(view),
        ]
        return "\n".join(parts) + "\n"


def _opening(view: RunView) -> Iterator[str]:
    run = view.run
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{_line(run.name)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    yield f"<header>\n<h1>{_line(run.name)}</h1>"
    about = f"suite {run.suite} · candidate {view.candidate} · {view.status}"
    about += f" · regraded from {run.regraded}" if run.regraded else ""
    yield f'<p class="about">{_line(about)}</p>\n</header>'
    if text := shortfall(view):
        yield f'<p class="short">{_line(text)}</p>'


def _cards(view: RunView) -> Iterator[str]:
    totals = view.summary.totals
    ends = totals.interval
    within = "" if ends is None else f" {_percent(ends[0])} to {_percent(ends[1])}"
    within_clusters = ""
    if totals.clusters is not None:
        named = clusters_text(totals.clusters, view.summary.clustered_by)
        within_clusters = f"in {named}, "
    facts = [("cases", str(totals.cases), f"{within_clusters}{totals.attempts} attempts")]
    if totals.full:
        facts = [
            ("rate", _percent(totals.rate), f"95% interval{within}" if within else ""),
            ("points", f"{totals.score:.2f}", f"of {totals.full:.2f}"),
            *facts,
        ]
    facts += [
        (name, str(count), "attempts")
        for name, count in (
            ("unanswered", totals.unanswered),
            ("unscored", totals.unscored),
            ("errors", totals.errors),
        )
        if count
    ]
    yield '<section class="cards">'
    for name, value, more in facts:
        yield f"<div><span>{_line(name)}</span><b>{_line(value)}</b>"
        yield f"<span>{_line(more)}</span></div>"
    yield "</section>"


def _breakdowns(view: RunView, by: Sequence[str]) -> Iterator[str]:
    sections: dict[str, list[list[str]]] = {}
    overall, *listed = rows_of(view, by)
    for row in listed:
        group = row.group
        ends = group.interval
        within = _UNKNOWN if ends is None else f"{_percent(ends[0])} to {_percent(ends[1])}"
        sections.setdefault(row.section, []).append(
            [
                _cell(row.name),
                _bar(group.rate),
                _cell(within),
                _cell(f"{group.score:.2f}"),
                _cell(f"{group.full:.2f}"),
                _cell(cases_words(group, row.clustered_by)),
                *((_cell(row.noise_text),) if overall.shows_noise else ()),
            ]
        )
    header = ["Rate", "95% interval", "Points", "of", "Cases"]
    header += ["Noise"] if overall.shows_noise else []
    for section, rows in sections.items():
        yield f"<h2>By {_line(section)}</h2>"
        yield from _table((section, *header), rows)


def _measures(view: RunView) -> Iterator[str]:
    rows = []
    measures = view.summary.measures
    noted = any(one.note for one in measures.values() if one.value is not None)
    for name, measured in measures.items():
        if measured.value is None:
            continue
        ends = measured.interval
        within = _UNKNOWN if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"
        value = _bar(measured.value, f"{measured.value:.4f}") if 0 <= measured.value <= 1 else ""
        rows.append(
            [
                _cell(name),
                value or _cell(f"{measured.value:.4f}"),
                _cell(within),
                _cell(str(measured.n)),
                *((_cell(measured.note),) if noted else ()),
            ]
        )
    if rows:
        yield "<h2>Measures</h2>"
        header = ("Measure", "Value", "95% interval", "n", *(("Note",) if noted else ()))
        yield from _table(header, rows)
    yield from _categories(view)


def _scan(view: RunView) -> Iterator[str]:
    """Write what scans of the transcripts marked, and the score that follows."""
    if (findings := view.summary.scan) is None:
        return
    from proctor.reports.scan import HEADER, kind_cells
    from proctor.reports.scan_notes import score_lines

    yield "<h2>Scan of transcripts</h2>"
    yield from _table(
        HEADER, ([_cell(text) for text in kind_cells(kind)] for kind in findings.kinds)
    )
    for line in score_lines(findings):
        yield f"<p>{_line(line)}</p>"
    for kind, mark in findings.marks:
        yield f"<p><b>{_line(kind)}</b> {_line(f'{mark.case}, attempt {mark.attempt}')}</p>"
        yield _pre(f"“{mark.passage}”" + (f"\n{mark.reason}" if mark.reason else ""))


def _categories(view: RunView) -> Iterator[str]:
    """Write measures by category as one table, with a row for each category."""
    by_measure = {
        name: rows
        for name, measured in view.summary.measures.items()
        if isinstance(measured.detail, Mapping)
        and isinstance(rows := measured.detail.get("by"), Mapping)
    }
    categories = list(dict.fromkeys(category for rows in by_measure.values() for category in rows))
    if not categories:
        return
    yield "<h2>Measures by category</h2>"
    shown = [
        [
            _cell(str(category)),
            *(_category_cell(rows.get(category)) for rows in by_measure.values()),
        ]
        for category in categories
    ]
    yield from _table(("Category", *by_measure), shown)


def _category_cell(row: Json) -> str:
    value = row.get("value") if isinstance(row, Mapping) else None
    return _cell("" if value is None else f"{value:.4f}")


def _pictures(view: RunView, by: Sequence[str]) -> Iterator[str]:
    if lacking := drawing.missing():
        yield f'<p class="about">No charts: {_line(lacking)}</p>'
        return
    yield "<h2>Pictures</h2>"
    for chart in charts_of([view], by=by):
        yield _figure(chart)


def _figure(chart: Chart) -> str:
    """Embed a chart as an image, in which nothing can run or load, whatever its labels say."""
    data = b64encode(drawing.svg(chart).encode()).decode()
    words = _line(chart.title)
    return f'<figure><img alt="{words}" src="data:image/svg+xml;base64,{data}"></figure>'


def _cases(results: Iterable[CaseResult], candidate: Spec) -> Iterator[str]:
    yield "<h2>Cases</h2>"
    for result in results:
        case, value = result.case, result.folded.value
        worth = (
            result.folded.status.value if value is None else f"{value:.4g} of {case.full_score:g}"
        )
        why = next(iter(reasons(result)), "")
        tags = ", ".join(f"{tag}: {'; '.join(values)}" for tag, values in case.tags.items())
        yield f"<details><summary><b>{_line(case.id)}</b>{_line(worth)}"
        yield f' <span class="why">{_line(why[:200])}</span></summary>'
        if tags:
            yield f'<p class="role">{_line(tags)}</p>'
        for message in as_asked(case, candidate).messages:
            yield _message(message.role, message)
        for reference in case.references:
            yield f'<p class="role">reference</p>\n{_pre(reference)}'
        for attempt in result.attempts:
            yield from _attempt(attempt)
        yield "</details>"


def _attempt(result: AttemptResult) -> Iterator[str]:
    value = result.value.value
    worth = result.value.status.value if value is None else f"{value:.4g}"
    yield f"<h3>attempt {result.attempt.index}: {_line(worth)}</h3>"
    if result.attempt.error:
        cause = cause_of(result.attempt)
        whose = f" ({cause})" if cause is not None else ""
        yield f'<p class="why">{_line(result.attempt.error + whose)}</p>'
    if where := result.attempt.notes.get(TRACEBACK):
        yield _pre(str(where))
    for message in result.attempt.messages:
        yield _message("answer" if message.role == "assistant" else message.role, message)
    for name, score in result.scores.items():
        yield f"<p><b>{_line(name)}</b> {_line(_points(score))}"
        yield f' <span class="why">{_line(score.reason)}</span></p>'


def _points(score: Score) -> str:
    if score.points is None:
        return score.status.value.replace("_", " ")
    return f"{score.points:g}" + ("" if score.out_of is None else f" of {score.out_of:g}")


def _closing(view: RunView) -> Iterator[str]:
    yield "<footer>"
    measures = view.summary.measures.items()
    measured = tuple(f"{one_line(name)}:" for name, result in measures if result.value is not None)
    for note in notes_of(view):
        if not (measured and note.startswith(measured)):
            yield f"<p>{_line(note)}</p>"
    yield f"<p>Signature: <code>{_line(view.run.signature) or _UNKNOWN}</code></p>"
    yield "</footer>\n</body>\n</html>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Write a table from cells that are already HTML."""
    yield '<div class="wide"><table>'
    yield f"<thead><tr>{''.join(f'<th>{_line(name)}</th>' for name in header)}</tr></thead>"
    yield "<tbody>"
    for row in rows:
        yield f"<tr>{''.join(row)}</tr>"
    yield "</tbody></table></div>"


def _cell(text: str) -> str:
    return f"<td>{_line(text)}</td>"


def _bar(rate: float | None, shown: str = "") -> str:
    """Write a share as a cell with a bar."""
    if rate is None:
        return f"<td>{_UNKNOWN}</td>"
    far = min(100.0, max(0.0, rate * 100))
    style = f"background-size: {far:.1f}% 100%"
    return f'<td class="bar" style="{style}">{_line(shown or _percent(rate))}</td>'


def _message(role: str, message: Message) -> str:
    pictures = f" (with {len(message.images)} images)" if message.images else ""
    return f'<p class="role">{_line(role + pictures)}</p>\n{_pre(message.content)}'


def _pre(text: str) -> str:
    return f"<pre>{escape(_CONTROL.sub('�', text))}</pre>"


def _line(text: str) -> str:
    return escape(one_line(text))


def _percent(rate: float | None) -> str:
    return _UNKNOWN if rate is None else f"{rate * 100:.1f}%"
