"""Runs as a Markdown summary for a pull request: verdicts, gates, what got worse, links."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from proctor.contracts.report import RunView
from proctor.core.grid import RunGrid
from proctor.core.suite import Json
from proctor.reports.grid import rate_rows, verdict_lines
from proctor.reports.reasons import full_marks, one_line, reasons, shortfall
from proctor.reports.tabular import md_table, notes_of

MOST_CASES = 20
"""How many cases of a run are listed."""
LONGEST = 200
"""How many characters of a reason are shown."""
_MARKDOWN = re.compile(r"([\\|`*<>\[\]_~#])")
_COMMAND = re.compile(r"\\`(proctor [A-Za-z ]+)\\`")
"""A command of ours in a sentence, escaped: letters alone, which may stand in a code span."""
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_ADDRESS = re.compile(r"(?<=[A-Za-z])://|(?<=\bwww)\.")
_NOTHING = "\u200b"
"""A character without width, which ends what a site would read as a mention or an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCase:
    """A case that is worth another value than before."""

    id: str
    before: float
    after: float
    full: float
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The comparison of a run with an earlier one, in words."""

    sentence: str
    worse: Sequence[ChangedCase] = ()
    worse_count: int = 0
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizedRun:
    """A run with what became of its gates, and how it compares."""

    view: RunView
    gates: Sequence[Mapping[str, Json]] = ()
    verdict: Verdict | None = None

    @property
    def state(self) -> str:
        """Say in a word whether the run passes."""
        if self.view.run.status != "complete" or self.view.summary.totals.errors:
            return "incomplete"
        if any(not row["held"] for row in self.gates):
            return "gate missed"
        return "passed" if self.gates else "complete"


def pull_request_summary(
    runs: Sequence[SummarizedRun],
    links: Sequence[tuple[str, str]] = (),
    grid: RunGrid | None = None,
) -> str:
    """Return the Markdown of some runs; texts of models and suites stand in code spans.

    With a grid, it shows the rates by prompt and model, too.
    """
    lines = ["## Proctor", ""]
    lines += md_table(
        ("Run", "Result", "Rate", "Interval 95%", "Cases", "Unscored", "Errors", "Cost"),
        map(_cells, runs),
    )
    if grid is not None:
        lines += ["", *_grid_lines(grid)]
    for run in runs:
        lines += ["", *_run_lines(run, titled=len(runs) > 1)]
    if links:
        lines += ["", " · ".join(f"[{prose(title)}](<{address}>)" for title, address in links)]
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """Return text that names people's things, so that Markdown shows it and nothing more."""
    shown = _MARKDOWN.sub(r"\\\1", one_line(text))
    shown = _COMMAND.sub(r"`\1`", shown)
    shown = _MENTION.sub(f"@{_NOTHING}", shown)
    return _ADDRESS.sub(lambda match: _NOTHING + match[0], shown)


def code(text: str) -> str:
    """Return a stranger's text as a code span: no link, no mention, no picture."""
    shown = one_line(text).replace("`", "'").replace("|", "\u00a6").replace("\\", "\u29f5")
    cut = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
    return f"`{cut}`" if cut else ""


def _grid_lines(grid: RunGrid) -> Iterator[str]:
    """Yield the rates by prompt and model, and what can be said of them."""
    header, rows = rate_rows(grid)
    yield from md_table(
        [prose(name) for name in header], (tuple(map(one_line, row)) for row in rows)
    )
    if grid.note:
        yield from ("", prose(f"* {grid.note}" if grid.best else grid.note))
    for line in verdict_lines(grid.prompt_verdicts):
        yield from ("", f"**{prose(line)}**")


def _cells(run: SummarizedRun) -> tuple[str, ...]:
    totals, usage = run.view.summary.totals, run.view.summary.usage
    ends, cost = totals.interval, usage.get("cost")
    return (
        _name(run.view),
        run.state,
        "–" if totals.rate is None else f"{totals.rate * 100:.2f}%",
        "–" if ends is None else f"{ends[0] * 100:.1f}–{ends[1] * 100:.1f}%",
        str(totals.cases),
        str(totals.cases_unscored),
        str(totals.errors),
        "–" if cost is None else f"${cost:,.4f}",
    )


def _name(view: RunView) -> str:
    return one_line(view.run.name).replace("`", "'")


def _run_lines(run: SummarizedRun, *, titled: bool) -> Iterator[str]:
    view = run.view
    if titled:
        yield from (f"### {prose(view.run.name)}", "")
    if lack := shortfall(view):
        yield from (f"**{prose(lack)}**", "")
    if run.verdict is not None:
        yield from (f"**{prose(run.verdict.sentence)}**", "")
        yield from (f"- {prose(warning)}" for warning in run.verdict.warnings)
    for row in run.gates:
        note = f" ({prose(str(row['note']))})" if row["note"] else ""
        yield f"- gate {'held' if row['held'] else '**missed**'}: {code(str(row['gate']))}{note}"
    yield from (f"- {prose(note)}" for note in notes_of(view))
    if run.verdict is not None and run.verdict.worse:
        yield from _worse(run.verdict)
    elif run.verdict is None:
        yield from _short(view)
    yield from ("", f"Signature: {_signature(view)}")


def _worse(verdict: Verdict) -> Iterator[str]:
    count = verdict.worse_count
    yield from ("", f"Worse: {count} case{'' if count == 1 else 's'}", "")
    yield "| Case | Before | After | Full | Why |"
    yield "| --- | ---: | ---: | ---: | --- |"
    for case in verdict.worse:
        cells = (f"{case.before:.4g}", f"{case.after:.4g}", f"{case.full:g}", code(case.why))
        yield f"| {code(case.id)} | {' | '.join(cells)} |"
    if (more := count - len(verdict.worse)) > 0:
        yield from ("", f"… and {more} more")


def _short(view: RunView) -> Iterator[str]:
    """Yield the first cases without full marks."""
    results = (result for result in view.results() if not full_marks(result))
    listed = list(islice(results, MOST_CASES + 1))
    if not listed:
        return
    yield from ("", "Short of full marks:", "")
    yield "| Case | Value | Full | Why |"
    yield "| --- | ---: | ---: | --- |"
    for result in listed[:MOST_CASES]:
        value, why = result.folded.value, reasons(result)
        shown = "–" if value is None else f"{value:.4g}"
        reason = code(why[0]) if why else ""
        yield f"| {code(result.case.id)} | {shown} | {result.case.full_score:g} | {reason} |"
    if len(listed) > MOST_CASES:
        yield from ("", "… and more")


def _signature(view: RunView) -> str:
    text = one_line(view.run.signature).replace("`", "'")
    return f"`{text}`" if text else "–"
