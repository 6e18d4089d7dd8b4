"""Runs side by side as text, Markdown, CSV, HTML and JSON."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from proctor.core.grid import GridEntry, GridRow, GridRun, PromptVerdict, RunGrid
from proctor.core.suite import Json
from proctor.reports.reasons import one_line
from proctor.reports.tabular import csv_text, escaped, md_table, printed

if TYPE_CHECKING:
    from rich.console import RenderableType

_UNKNOWN = "–"
MOST_VERDICTS = 10
"""How many pairs of prompts a text says something about."""
SHOWN = 60
"""How many characters of an output a table shows."""
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem}table{border-collapse:collapse}"
    "th,td{border:1px solid #ccc;padding:.4rem .6rem;text-align:left;vertical-align:top;"
    "white-space:pre-wrap;overflow-wrap:anywhere;max-width:28rem}"
    ".full{background:#e3f3e3}.none{background:#f9e1e1}.note{color:#666}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"


def grid_table(grid: RunGrid, *, width: int | None = None, color: bool = False) -> str:
    """Return rates with their intervals by prompt and model."""
    header, rows = rate_rows(grid)
    parts: list[RenderableType] = [_table(header, rows)]
    if grid.note:
        parts += ["", f"* {grid.note}" if grid.best else grid.note]
    parts += verdict_lines(grid.prompt_verdicts)
    return printed(parts, width=width, color=color)


def verdict_lines(verdicts: Sequence[PromptVerdict], most: int = MOST_VERDICTS) -> list[str]:
    """Return what can be said of prompts, what is certain first where there are many."""
    shown = list(verdicts)
    if len(shown) > most:
        open_verdicts = ("unclear", "nothing", "refused")
        shown.sort(key=lambda one: one.numbers.get("verdict") in open_verdicts)
    lines = [one_line(verdict.sentence) for verdict in shown[:most]]
    if (more := len(shown) - most) > 0:
        lines.append(f"… and {more} more pairs of prompts (--json has them all)")
    return lines


def rate_rows(grid: RunGrid) -> tuple[list[str], list[list[str]]]:
    """Return a header and rows of rates: by prompt and model, or by candidate."""
    cells = grid.cells
    if grid.prompts == [""]:
        rows = [
            [one_line(model), *(_rate(run, grid) for run in cells[("", model)])]
            for model in grid.models
        ]
        most = max(len(row) for row in rows)
        return ["Candidate", *["Rate"] * (most - 1)], rows
    header = ["Prompt", *map(one_line, grid.models)]
    return header, [
        [
            one_line(prompt) or _UNKNOWN,
            *(
                ", ".join(_rate(run, grid) for run in cells.get((prompt, model), ())) or _UNKNOWN
                for model in grid.models
            ),
        ]
        for prompt in grid.prompts
    ]


def _rate(run: GridRun, grid: RunGrid) -> str:
    totals = run.totals
    if totals.rate is None:
        return _UNKNOWN
    shown = f"{100 * totals.rate:.1f}%"
    if totals.interval is not None:
        low, high = totals.interval
        shown += f" ({100 * low:.1f}–{100 * high:.1f})"
    mark = " *" if run.id == grid.best else ""
    unfinished = "" if run.status in ("complete", "") else f" {run.status}"
    early = " stopped early" if run.stopped_early else ""
    return f"{shown}{mark}{unfinished}{early}"


def cases_table(
    runs: Sequence[GridRun],
    rows: Iterable[GridRow],
    *,
    width: int | None = None,
    color: bool = False,
    length: int = SHOWN,
) -> str:
    """Return cases with the marks and the outputs of all candidates."""
    header = ["Case", *(one_line(name) for name in names_of(runs))]
    cells = [[one_line(row.case), *(_cell(entry, length) for entry in row.entries)] for row in rows]
    if not cells:
        return "no case is left\n"
    return printed([_table(header, cells)], width=width, color=color)


def names_of(runs: Sequence[GridRun]) -> list[str]:
    """Return the candidates' names, or the runs' where candidates are the same."""
    candidates = [run.candidate for run in runs]
    if len(set(candidates)) == len(candidates):
        return candidates
    names = [run.name for run in runs]
    return names if len(set(names)) == len(names) else [f"{run.name} ({run.id})" for run in runs]


def _cell(entry: GridEntry | None, length: int) -> str:
    if entry is None:
        return _UNKNOWN
    output = one_line(entry.output or "(no answer)")
    cut = output if len(output) <= length else f"{output[: length - 1]}…"
    return f"{_marks(entry)}  {cut}"


def _marks(entry: GridEntry) -> str:
    return entry.status if entry.value is None else f"{entry.value:.3g}"


def markdown_grid(grid: RunGrid, rows: Iterable[GridRow]) -> str:
    """Return both grids as Markdown."""
    lines = [*markdown_rates(grid), ""]
    cells = [
        [one_line(row.case), one_line(row.question), *(_cell(e, 500) for e in row.entries)]
        for row in rows
    ]
    lines += _markdown(["Case", "Question", *names_of(grid.runs)], cells)
    return "\n".join(lines) + "\n"


def markdown_rates(grid: RunGrid) -> Iterator[str]:
    """Yield rates by prompt and model as Markdown, and what can be said of candidates."""
    header, summary = rate_rows(grid)
    yield from _markdown(header, summary)
    if grid.note:
        yield from ("", escaped(f"* {grid.note}" if grid.best else grid.note))
    for line in verdict_lines(grid.prompt_verdicts):
        yield from ("", escaped(line))


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = (tuple(one_line(cell) for cell in row) for row in rows)
    return md_table([escaped(one_line(name)) for name in header], lines)


def csv_grid(runs: Sequence[GridRun], rows: Iterable[GridRow]) -> str:
    """Return cases with outputs and marks as CSV, a pair of columns for each candidate."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = names_of(runs)
    columns = [part for name in names for part in (name, f"{name} value")]
    writer.writerow(["case", "question", "reference", *map(csv_text, columns)])
    for row in rows:
        cells: list[Json] = []
        for entry in row.entries:
            cells += ["", ""] if entry is None else [csv_text(entry.output or ""), entry.value]
        reference = row.references[0] if row.references else ""
        writer.writerow([*map(csv_text, (row.case, row.question, reference)), *cells])
    return file.getvalue()


def html_grid(grid: RunGrid, rows: Iterable[GridRow]) -> str:
    """Return both grids as one page without scripts."""
    header, summary = rate_rows(grid)
    pieces = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Grid</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<style>{_STYLE}</style></head><body><h1>Candidates side by side</h1>",
        _html(header, ([("", cell) for cell in row] for row in summary)),
        f'<p class="note">{escape(grid.note)}</p>',
        *(f'<p class="note">{escape(_safe(one.sentence))}</p>' for one in grid.prompt_verdicts),
    ]
    cells = (
        [("", row.case), ("", row.question), *(_html_cell(entry) for entry in row.entries)]
        for row in rows
    )
    pieces.append(_html(["Case", "Question", *names_of(grid.runs)], cells))
    return "\n".join([*pieces, "</body></html>", ""])


def _html_cell(entry: GridEntry | None) -> tuple[str, str]:
    if entry is None:
        return "", _UNKNOWN
    share = entry.share
    kind = "full" if share == 1 else "none" if share == 0 else ""
    return kind, f"{_marks(entry)}\n{entry.output or '(no answer)'}"


def _html(header: Sequence[str], rows: Iterable[Iterable[tuple[str, str]]]) -> str:
    head = "".join(f"<th>{escape(one_line(cell))}</th>" for cell in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td class="{kind}">{escape(_safe(cell))}</td>' for kind, cell in row)
        + "</tr>\n"
        for row in rows
    )
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _safe(text: str) -> str:
    return "\n".join(one_line(line) for line in text.split("\n"))


def grid_object(
    grid: RunGrid, rows: Iterable[GridRow] | None = None, *, texts: bool = True
) -> dict[str, Json]:
    """Make the object that ``grid --json`` prints; without rows, the summary alone.

    Without ``texts``, what suites asked and models answered is left out; all keys stay.
    """
    data: dict[str, Json] = {
        "prompts": grid.prompts,
        "models": grid.models,
        "best": grid.best or None,
        "note": grid.note,
        "prompt_verdicts": [verdict.to_json() for verdict in grid.prompt_verdicts],
        "runs": [
            {
                "id": run.id,
                "name": run.name,
                "prompt": run.prompt or None,
                "model": run.model,
                "candidate": run.candidate,
                "status": run.status,
                "stopped_early": run.stopped_early,
                "rate": run.totals.rate,
                "interval": list(run.totals.interval) if run.totals.interval else None,
                "cases": run.totals.cases,
            }
            for run in grid.runs
        ],
    }
    if rows is not None:
        data["cases"] = [
            {
                "id": row.case,
                "question": row.question if texts else None,
                "references": list(row.references) if texts else [],
                "differs": row.differs,
                "outputs": [_entry_object(entry, texts=texts) for entry in row.entries],
            }
            for row in rows
        ]
    return data


def _entry_object(entry: GridEntry | None, *, texts: bool) -> Json:
    if entry is None:
        return None
    return {
        "value": entry.value,
        "full": entry.full,
        "status": entry.status,
        "output": entry.output if texts else None,
        "attempts": entry.attempts,
    }


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> "RenderableType":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in header:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row), *[""] * (len(header) - len(row)))
    return table
